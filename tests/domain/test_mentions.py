"""Who is called upon in a text."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.mentions import mentions_in

IDS = {
    "fox": "swift-fox", "swift-fox": "swift-fox", "owl": "wise-owl", "bear": "calm-bear", "v1.2": "old-crow",
    "puppet-dev": "keen-wolf", "snake_case": "mild-asp", "operator": "operator",
}  # fmt: skip
FOX, OWL, BEAR = "swift-fox", "wise-owl", "calm-bear"


def found(text: str) -> list[str]:
    return list(mentions_in(text, IDS).found)


def unknown(text: str) -> list[str]:
    return list(mentions_in(text, IDS).unknown)


# -- who is meant ----------------------------------------------------------------------------------------


def test_each_is_found_once_in_the_order_of_the_first_call() -> None:
    assert found("@owl and @fox, then @owl again, @bear and @fox") == [OWL, FOX, BEAR]


def test_a_name_and_an_id_of_one_agent_are_one_mention() -> None:
    assert found("@fox @swift-fox @FOX") == [FOX]


@pytest.mark.parametrize("text", ["@FOX", "@Fox", "@fOx", "@Swift-Fox"])
def test_case_does_not_matter(text: str) -> None:
    assert found(text) == [FOX]


@pytest.mark.parametrize(
    "text",
    [
        "@fox", "look, @fox", "@fox look", "first\n@fox\nlast", "tab\t@fox", "@fox\r\nnext", "a\u00a0@fox",
        "@fox.", "@fox...", "@fox!", "@fox?", "@fox:", "@fox;", "@fox-", "(@fox)", "[@fox]", "{@fox}", "<@fox>",
        "**@fox**", "*@fox*", "~~@fox~~", '"@fox"', "'@fox'", "„@fox“", "@fox's turn", "@fox/",
        "> @fox", "- @fox", "# @fox", "|@fox|", "@fox\u2014please", "🦊@fox", "@fox🦊", "，@fox，",
    ],
)  # fmt: skip
def test_a_mention_is_found_wherever_a_writer_puts_it(text: str) -> None:
    assert found(text) == [FOX]


def test_punctuation_between_several_is_no_part_of_any() -> None:
    assert found("@fox, @owl: (@bear)") == [FOX, OWL, BEAR]
    assert found("@fox,@owl;@bear") == [FOX, OWL, BEAR]


@pytest.mark.parametrize(
    ("text", "whom"),
    [
        ("@v1.2", "old-crow"),
        ("@v1.2.", "old-crow"),
        ("@puppet-dev-", "keen-wolf"),
        ("@snake_case_", "mild-asp"),
        ("ask @puppet-dev.", "keen-wolf"),
        ("@operator!", "operator"),
    ],
)
def test_names_with_dots_and_dashes_are_taken_whole(text: str, whom: str) -> None:
    assert found(text) == [whom]


def test_a_name_that_ends_in_a_dot_is_preferred_to_the_end_of_a_sentence() -> None:
    ids = {"fox": "swift-fox", "fox.": "sly-fox"}
    assert mentions_in("@fox.", ids).found == ("sly-fox",)
    assert mentions_in("@fox!", ids).found == ("swift-fox",)


# -- who is not ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "me@fox", "me@fox.dev", "me.too@fox", "a+b@fox", "me-@fox", "me_@fox", "é@fox", "7@fox",
        "@@fox", "@fox@example.org", "@fox.owl@example.org", "https://example.org/@fox", "pkg/@fox/core",
        "@foxes", "@foxé", "@ fox", "fox", "@", "@.", "＠fox",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_mention_calls_nobody(text: str) -> None:
    assert found(text) == []


def test_names_that_nobody_has_are_told_once_each_as_they_were_written() -> None:
    assert unknown("@Ghost, @fox, @ghoul. @Ghost!") == ["Ghost", "ghoul"]
    assert found("@Ghost, @fox, @ghoul. @Ghost!") == [FOX]


def test_part_of_a_longer_name_is_not_the_name() -> None:
    assert (found("@fox-2 @fox.dev"), unknown("@fox-2 @fox.dev")) == ([], ["fox-2", "fox.dev"])


@pytest.mark.parametrize("text", ["@.", "@...", "@-_-", "@"])
def test_marks_alone_are_no_name(text: str) -> None:
    assert mentions_in(text, IDS) == mentions_in("", IDS)


def test_no_name_is_longer_than_names_can_be() -> None:
    longest = "x" * 64
    assert mentions_in(f"@{longest}", {longest: "long"}).found == ("long",)
    assert mentions_in(f"@{longest}x", {longest: "long"}).found == ()


# -- code is quoted, not said ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quoted",
    [
        "`@fox`", "`ask @fox now`", "``@fox``", "``a ` @fox``", "```@fox```", "`a\n@fox`", "x`@fox`x",
        "```\n@fox\n```", "```python\n@fox\n```", "~~~\n@fox\n~~~", "~~~ `py`\n@fox\n~~~",
        "````\n```\n@fox\n```\n````", "```\n@fox\n`````", "  ```\n@fox\n  ```", "```\n~~~\n@fox\n```",
        "~~~\n```\n@fox\n~~~", "```\n@fox\n~~~\n```", "```\n\n@fox\n\n```", "```\n@fox\n```  \t",
        "```\r\n@fox\r\n```\r", "``` @fox\ncode\n```",
    ],
)  # fmt: skip
def test_a_name_in_code_calls_nobody_and_what_stands_around_it_does(quoted: str) -> None:
    assert found(f"@owl\n{quoted}\n@bear") == [OWL, BEAR]


@pytest.mark.parametrize(
    "opening", ["```\n", "```python\n", "~~~\n", "~~~~ x\n", "```\n``\n", "```\n~~~\n", "````\n```\n"]
)
def test_a_block_that_never_ends_quotes_all_that_follows(opening: str) -> None:
    assert found(f"@owl\n{opening}code\n\n@fox\n`@bear`") == [OWL]


@pytest.mark.parametrize("opening", ["```", "~~~", "```@fox", "~~~ @fox"])
def test_a_block_may_begin_where_the_text_ends(opening: str) -> None:
    assert found(f"@owl\n{opening}") == [OWL]


def test_blocks_end_so_that_what_follows_is_said() -> None:
    assert found("```\n@fox\n```\n@owl\n~~~\n@fox\n~~~\n@bear") == [OWL, BEAR]


@pytest.mark.parametrize(
    "text",
    [
        "a ` b @fox", "@fox `", "` @fox", "`` @fox `", "` @fox ``", "don`t, @fox", "`@fox", "@fox`s",
        "`a\n\n@fox `", "one ` here\n\n@fox\n\nanother ` there", "`a\n \t\n@fox `", "`a\r\n\r\n@fox `",
        "`a\n```\ncode\n```\n@fox `", "    ```\n@fox", "x ```\n@fox",
    ],
)  # fmt: skip
def test_a_backtick_without_its_partner_swallows_nothing(text: str) -> None:
    assert found(text) == [FOX]


def test_a_span_of_three_backticks_on_one_line_is_no_block() -> None:
    assert found("```@owl``` is quoted\nand @fox is not") == [FOX]


def test_an_unbalanced_run_leaves_the_spans_after_it_alone() -> None:
    assert found("``` or `` and `@fox` then @owl") == [OWL]


# -- any text --------------------------------------------------------------------------------------------

pieces = st.sampled_from(
    ["@", "@fox", "@Owl", "@ghost", "`", "``", "```", "````", "~~~", "\n", "\n\n", "\r\n", " ", "   ", ".", "-",
     "_", "a", "é", "/", "("]
)  # fmt: skip
texts = st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join))


@given(texts)
def test_any_text_can_be_read_and_only_those_who_are_there_are_found(text: str) -> None:
    mentions = mentions_in(text, IDS)
    assert set(mentions.found) <= set(IDS.values())
    assert len(set(mentions.found)) == len(mentions.found)
    assert len(set(mentions.unknown)) == len(mentions.unknown)
    assert all(f"@{name}" in text for name in mentions.unknown)


@given(texts)
def test_without_the_sign_nobody_is_called(text: str) -> None:
    assert mentions_in(text.replace("@", ""), IDS) == mentions_in("", IDS)


@given(texts)
def test_nobody_is_called_in_code_that_never_ends(text: str) -> None:
    fence = "~" * 50
    assert mentions_in(f"{fence}\n{text.replace(fence, '')}", IDS) == mentions_in("", IDS)


@given(texts)
def test_who_is_called_in_a_paragraph_of_its_own_before_all_else_is_found(text: str) -> None:
    assert found(f"@bear\n\n{text}")[0] == BEAR


def rising_runs(size: int) -> str:
    """Runs of backticks of which no two are equally long: none of them has a partner."""
    runs, length = ["x"], 0
    while length < size:
        runs.append("`" * len(runs))
        length += len(runs)
    return " ".join(runs)


HEAVY: dict[str, Callable[[int], str]] = {
    "signs": lambda size: "@" * size,
    "mentions": lambda size: "@fox " * (size // 5),
    "one long name": lambda size: "@" + "a." * (size // 2),
    "names that fail at their end": lambda size: (" @" + "a" * 64 + "é") * (size // 67),
    "backticks in one run": lambda size: "`" * size,
    "backticks apart": lambda size: "` " * (size // 2),
    "an odd backtick": lambda size: "`" + "x`` " * (size // 4),
    "runs without partners": rising_runs,
    "tildes": lambda size: "~" * size,
    "lines of fences": lambda size: "```\n" * (size // 4),
    "a block that never ends": lambda size: "````\n" + "```\n" * (size // 4),
    "fences that fail at their end": lambda size: "```\n" + ("```" + " " * 60 + "x\n") * (size // 65),
    "a closing fence that fails": lambda size: "```\n" + "`" * size + "x",
    "spaces": lambda size: "\n" + " " * size,
    "empty lines": lambda size: "\n" * size,
    "blank lines": lambda size: " \t\n" * (size // 3),
}


@pytest.mark.parametrize("heavy", HEAVY.values(), ids=list(HEAVY))
def test_a_text_of_a_million_characters_is_read_to_its_end(heavy: Callable[[int], str]) -> None:
    """If the time grew with the square of the length, this would not end before the limit of a test."""
    assert found(f"@bear\n\n{heavy(1 << 20)}")[0] == BEAR
