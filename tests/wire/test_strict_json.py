"""JSON that means one thing to everybody."""

import json
import math
import sys
import time
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.errors import InvalidRequest
from rookery.wire.strict_json import MOST_NESTING, converted, decoded, parsed, refuse_odd_text

INT64 = st.integers(-(2**63), 2**63 - 1)
PLAIN = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.text(PLAIN, max_size=20)
SCALARS = st.one_of(st.none(), st.booleans(), INT64, st.floats(allow_nan=False, allow_infinity=False), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=15,
)


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    count: int = 0


# -- what is accepted ------------------------------------------------------------------------------------


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_it_reads_what_the_standard_library_reads(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = parsed(text.encode())
    assert found == json.loads(text)
    assert json.dumps(found) == json.dumps(value)


@given(st.text(max_size=60))
def test_of_any_text_it_reads_the_same_as_the_standard_library_or_refuses(text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    try:
        found = parsed(body)
    except InvalidRequest:
        return
    assert found == json.loads(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        found = parsed(body)
    except InvalidRequest:
        return
    assert found == json.loads(body.decode())


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b" \t\r\n{} \n", {}),
        (b'"\\u0041\\ud83d\\ude00"', "A\N{GRINNING FACE}"),
        (b'"\\u2028"', "\u2028"),
        (b"-0", 0),
        (b"-0.0", -0.0),
        (b"1e308", 1e308),
        (b"5e-324", 5e-324),
        (b"1e-999", 0.0),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
        (b'[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}]),
    ],
)
def test_what_is_odd_but_clear_is_accepted(body: bytes, value: Any) -> None:
    found = parsed(body)
    assert found == value
    assert not isinstance(value, float) or math.copysign(1, found) == math.copysign(1, value)


# -- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b" ", "not JSON"),
        (b"nul", "not JSON"),
        (b"{", "not JSON"),
        (b'{"a":1', "not JSON"),
        (b'{"a":1}x', "not JSON"),
        (b"{}{}", "not JSON"),
        (b'{"a":1,}', "not JSON"),
        (b"[1,]", "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b"{a:1}", "not JSON"),
        (b"01", "not JSON"),
        (b"+1", "not JSON"),
        (b".5", "not JSON"),
        (b"1.", "not JSON"),
        (b"0x10", "not JSON"),
        (b"// no\n{}", "not JSON"),
        (b'"a\nb"', "not JSON"),
        (b'"a\tb"', "not JSON"),
        (b'"\x00"', "not JSON"),
        (b'"\\x41"', "not JSON"),
        (b'"\\u12"', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'"\xff"', r"not UTF-8 \(byte 1\)"),
        (b"\xfe\xff\x00{\x00}", "not UTF-8"),
        ('"\ud800"'.encode("utf-8", "surrogatepass"), "not UTF-8"),
        (b'"\xc0\x80"', "not UTF-8"),
        (b"NaN", "NaN is not JSON"),
        (b"Infinity", "Infinity is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"1e999", "too large"),
        (b"-1e999", "too large"),
        (b"1" + b"0" * 400 + b".5", "too large"),
        (b"9223372036854775808", "does not fit into 64 bits"),
        (b"-9223372036854775809", "does not fit into 64 bits"),
        (b"1" * 100_000, "does not fit into 64 bits"),
        (b'{"a":1,"a":1}', "'a' stands twice"),
        (b'{"b":{"a":1,"c":2,"a":3}}', "'a' stands twice"),
        (b'{"a":1,"\\u0061":2}', "'a' stands twice"),
        (b'"\\ud800"', "half of a surrogate pair"),
        (b'"\\udc00\\ud800"', "half of a surrogate pair"),
        (b'{"\\ud800":1}', "half of a surrogate pair"),
        (b'{"a":["\\ud83d"]}', "half of a surrogate pair"),
        (b'"\\u0000"', "NUL"),
        (b'{"a\\u0000":1}', "NUL"),
        (b'[["\\u0000"]]', "NUL"),
    ],
)
def test_what_parsers_disagree_about_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as refused:
        parsed(body)
    assert len(refused.value.message) < 300


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_nesting_is_refused_beyond_its_bound(opening: str) -> None:
    closing = "".join("]" if bracket == "[" else "}" for bracket in reversed(opening) if bracket in "[{")
    levels = MOST_NESTING // len(closing)
    assert parsed((opening * levels + "1" + closing * levels).encode()) is not None
    with pytest.raises(InvalidRequest, match=f"nests deeper than {MOST_NESTING} levels"):
        parsed((opening * (levels + 1) + "1" + closing * (levels + 1)).encode())


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_a_hundred_thousand_levels_are_refused_without_a_crash(body: bytes) -> None:
    with pytest.raises(InvalidRequest, match="nests deeper"):
        parsed(body)


@pytest.mark.parametrize("text", ["[" * 1000, "{" * 1000, '\\"[' * 1000, "\\\\" + "[" * 1000, '"' + "[" * 100])
def test_brackets_inside_of_texts_are_no_nesting(text: str) -> None:
    assert parsed(json.dumps({text: [text]}).encode()) == {text: [text]}


@pytest.mark.parametrize(
    "body",
    [
        b'"' + b"\\" * 1_000_000 + b"[" * 100,
        b'"' + b'\\"' * 500_000 + b"[" * 100,
        b'"[' * 400_000,
        b"[]" * 400_000,
        b'["' + b"{" * 900_000 + b'"]',
    ],
    ids=["backslashes", "escaped quotes", "open quotes", "pairs", "one text"],
)
def test_a_megabyte_is_judged_in_a_fraction_of_a_second(body: bytes) -> None:
    """A body keeps the whole hub busy while it is judged."""
    began = time.thread_time()
    with suppress(InvalidRequest):
        parsed(body)
    assert time.thread_time() - began < 0.5


def test_a_refusal_does_not_repeat_a_megabyte() -> None:
    key = "k" * 1_000_000
    with pytest.raises(InvalidRequest) as refused:
        parsed(f'{{"{key}":1,"{key}":2}}'.encode())
    assert len(refused.value.message) < 200


def test_a_refused_name_is_not_repeated_at_length() -> None:
    with pytest.raises(InvalidRequest, match="unknown field") as refused:
        decoded(f'{{"name":"x","{"k" * 1_000_000}":1}}'.encode(), Shape)
    assert len(refused.value.message) < 300


def test_the_depth_of_the_stack_does_not_matter() -> None:
    """A handler may itself sit deep in the stack."""

    def deeper(levels: int) -> Any:
        return parsed(b"[" * MOST_NESTING + b"]" * MOST_NESTING) if levels == 0 else deeper(levels - 1)

    depth = 0
    frame: Any = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    assert deeper(sys.getrecursionlimit() - depth - 200) is not None


# -- shapes ----------------------------------------------------------------------------------------------


def test_a_body_becomes_the_shape_that_was_asked_for() -> None:
    assert decoded(b'{"name":"x","count":3}', Shape) == Shape("x", 3)
    assert decoded(b'{"name":"x"}', Shape) == Shape("x")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{}", "missing required field `name`"),
        (b'{"name":1}', r"Expected `str`, got `int` - at `\$.name`"),
        (b'{"name":null}', r"Expected `str`, got `null`"),
        (b'{"name":"x","count":"3"}', r"Expected `int`, got `str`"),
        (b'{"name":"x","count":true}', r"Expected `int`, got `bool`"),
        (b'{"name":"x","count":1.5}', r"Expected `int`, got `float`"),
        (b'{"name":"x","extra":1}', "unknown field `extra`"),
        (b"[]", "Expected `object`, got `array`"),
        (b'"x"', "Expected `object`, got `str`"),
        (b"null", "Expected `object`, got `null`"),
        (b"1", "Expected `object`, got `int`"),
    ],
)
def test_another_shape_is_refused_with_the_place_and_the_reason(body: bytes, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        decoded(body, Shape)


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    limit: int = 1
    flag: bool = False
    wait: float = 0.0


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"limit": "5"}, Asked(limit=5)),
        ({"flag": "true"}, Asked(flag=True)),
        ({"flag": "False"}, Asked(flag=False)),
        ({"flag": "1"}, Asked(flag=True)),
        ({"wait": "0.5"}, Asked(wait=0.5)),
        ({"wait": "2"}, Asked(wait=2.0)),
    ],
)
def test_numbers_and_truth_are_read_out_of_text_where_it_was_asked_for(said: dict[str, str], meant: Asked) -> None:
    assert converted(said, Asked, from_text=True) == meant
    with pytest.raises(InvalidRequest):
        converted(said, Asked)


# -- odd characters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "plain", "日本", "\N{GRINNING FACE}", "\x01\x7f\x9f", "\ufffd", "\u202e", "\ufeff"]
)
def test_whole_characters_pass(text: str) -> None:
    refuse_odd_text(text)


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "a\udfffb", "日\udc00"])
def test_nul_and_half_characters_do_not(text: str) -> None:
    with pytest.raises(InvalidRequest):
        refuse_odd_text(text)
