"""Tokens, principals and the plain rate limit."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.errors import AgentNotFound, Forbidden, RateLimited, Unauthorized
from rookery.domain.events import TokenIssued, TokenRevoked
from rookery.domain.ids import OPERATOR
from rookery.domain.principals import THE_HUB, UNGUARDED_OPERATOR, Principal
from rookery.services.access import Access, RateRules, new_secret
from rookery.services.messaging import Draft
from rookery.stores.sqlite import SqliteStore
from tests.services.house import NOW, SECOND, THE_OPERATOR, FakeClock, House, a_house

AN_AGENT = Principal("swift-fox", "t-fox")


# -- tokens ----------------------------------------------------------------------------------------------


async def test_a_token_is_kept_as_its_digest_and_nowhere_as_itself(house: House, tmp_path: Path) -> None:
    member = await house.member("builder")
    (token,) = await house.store.read(lambda tx: tx.tokens.held_by(member.id))
    assert token.digest == hashlib.sha256(member.token.encode()).digest()
    await house.hub.stop()
    for file in (tmp_path / "data").rglob("*"):
        if file.is_file():
            assert member.token.encode() not in file.read_bytes(), file


@pytest.mark.parametrize(("holder", "prefix"), [(OPERATOR, "rook_op_"), ("swift-fox", "rook_ag_")])
def test_a_secret_holds_256_random_bits_behind_a_prefix_that_says_whose_it_is(holder: str, prefix: str) -> None:
    first, second = new_secret(holder), new_secret(holder)
    assert first != second
    assert first.startswith(prefix)
    assert len(first) == len(prefix) + 43  # 32 bytes in base64 without padding


async def test_the_principal_is_the_holder_of_the_token(house: House) -> None:
    member = await house.member("builder")
    principal = await house.hub.access.principal(member.token)
    assert principal.id == member.id
    assert principal.is_agent
    assert not principal.is_operator
    (token,) = await house.store.read(lambda tx: tx.tokens.held_by(member.id))
    assert principal.token_id == token.id


@pytest.mark.parametrize("secret", ["", "x", "rook_ag_", "rook_op_" + "A" * 43, "\ud800", "ü"])
async def test_a_wrong_token_is_refused(house: House, secret: str) -> None:
    with pytest.raises(Unauthorized, match="not valid here"):
        await house.hub.access.principal(secret)


async def test_a_guarded_hub_wants_a_token(house: House) -> None:
    with pytest.raises(Unauthorized, match="wants a token"):
        await house.hub.access.principal(None)


async def test_an_unguarded_hub_takes_everybody_without_a_token_for_the_operator(tmp_path: Path) -> None:
    async with a_house(tmp_path / "open", guarded=False) as house:
        assert await house.hub.access.principal(None) == UNGUARDED_OPERATOR
        assert UNGUARDED_OPERATOR.is_operator


async def test_an_unguarded_hub_refuses_a_wrong_token_and_knows_a_right_one(tmp_path: Path) -> None:
    async with a_house(tmp_path / "open", guarded=False) as house:
        member = await house.member("builder")
        assert (await house.hub.access.principal(member.token)).id == member.id
        with pytest.raises(Unauthorized):
            await house.hub.access.principal("mistyped")


async def test_a_revoked_token_is_refused_though_it_was_known_a_moment_ago(house: House) -> None:
    member = await house.member("builder")
    await house.hub.access.principal(member.token)
    assert await house.hub.access.revoke_all(THE_OPERATOR, "builder") == (member.id, 1)
    with pytest.raises(Unauthorized):
        await house.hub.access.principal(member.token)


async def test_a_token_revoked_while_it_was_being_looked_up_is_not_remembered(house: House) -> None:
    member = await house.member("builder")
    house.hub.access.forget_tokens()
    house.store.after_next_read(lambda: house.hub.access.revoke_all(THE_OPERATOR, "builder"))
    await house.hub.access.principal(member.token)  # asked before the end of the token, and so still answered
    with pytest.raises(Unauthorized):
        await house.hub.access.principal(member.token)


async def test_revoking_twice_ends_nothing_more(house: House) -> None:
    member = await house.member("builder")
    await house.hub.access.revoke_all(THE_OPERATOR, member.id)
    assert await house.hub.access.revoke_all(THE_OPERATOR, member.id) == (member.id, 0)


async def test_a_token_revoked_by_another_hub_on_the_same_data_is_forgotten(house: House) -> None:
    member = await house.member("builder")
    await house.hub.access.principal(member.token)
    (token,) = await house.store.read(lambda tx: tx.tokens.held_by(member.id))

    def work(tx):
        tx.tokens.revoke(token.id, NOW)
        tx.journal.record(TokenRevoked(token_id=token.id, holder=member.id), at=NOW, by=THE_HUB, audience=())

    await house.store.write(work)  # past the service: only the journal tells of it
    with pytest.raises(Unauthorized):
        await house.hub.access.principal(member.token)


async def test_a_renewed_token_replaces_the_old_one(house: House) -> None:
    member = await house.member("builder")
    agent, secret = await house.hub.agents.rotate_token(THE_OPERATOR, "builder")
    assert agent.id == member.id
    assert (await house.hub.access.principal(secret)).id == member.id
    with pytest.raises(Unauthorized):
        await house.hub.access.principal(member.token)


async def test_the_end_of_an_agent_is_the_end_of_its_token(house: House) -> None:
    member = await house.member("builder")
    await house.hub.access.principal(member.token)
    await house.hub.agents.delete(THE_OPERATOR, "builder")
    with pytest.raises(Unauthorized):
        await house.hub.access.principal(member.token)


@pytest.mark.parametrize("verb", ["revoke_all", "rotate_token"])
async def test_only_the_operator_may_touch_tokens(house: House, verb: str) -> None:
    member = await house.member("builder")
    touch = house.hub.access.revoke_all if verb == "revoke_all" else house.hub.agents.rotate_token
    with pytest.raises(Forbidden, match="Only the operator may"):
        await touch(member.principal, member.id)
    assert (await house.hub.access.principal(member.token)).id == member.id


async def test_tokens_of_an_unknown_agent_are_not_found(house: House) -> None:
    await house.member("builder")
    with pytest.raises(AgentNotFound) as refused:
        await house.hub.access.revoke_all(THE_OPERATOR, "nobody")
    assert refused.value.data["available"] == ["builder"]


# -- the operator's token --------------------------------------------------------------------------------


async def test_the_adopted_token_makes_the_operator(house: House) -> None:
    await house.hub.access.adopt_operator_token("rook_op_first")
    assert (await house.hub.access.principal("rook_op_first")).is_operator


async def test_adopting_the_same_token_again_issues_nothing(house: House) -> None:
    await house.hub.access.adopt_operator_token("rook_op_first")
    before = await house.position()
    await house.hub.access.adopt_operator_token("rook_op_first")
    assert await house.position() == before


async def test_adopting_another_token_ends_the_one_before(house: House) -> None:
    await house.hub.access.adopt_operator_token("rook_op_first")
    await house.hub.access.principal("rook_op_first")
    await house.hub.access.adopt_operator_token("rook_op_second")
    assert (await house.hub.access.principal("rook_op_second")).is_operator
    with pytest.raises(Unauthorized):
        await house.hub.access.principal("rook_op_first")


# -- the audit trail -------------------------------------------------------------------------------------


async def test_tokens_are_told_to_the_operator_alone_and_by_id(house: House) -> None:
    member = await house.member("builder")
    await house.hub.access.revoke_all(THE_OPERATOR, "builder")
    issued, revoked = await house.journal(TokenIssued, TokenRevoked)
    assert (issued.fact.holder, revoked.fact.holder) == (member.id, member.id)
    assert issued.fact.token_id == revoked.fact.token_id == member.principal.token_id
    assert (revoked.actor, revoked.token_id) == (THE_OPERATOR.id, THE_OPERATOR.token_id)
    assert issued.audience == revoked.audience == ()
    assert await house.journal(TokenIssued, TokenRevoked, audience=member.id) == []


async def test_a_refusal_is_written_down_with_who_by_which_token_and_what(house: House) -> None:
    member = await house.member("builder")
    await house.hub.access.record_refusal(member.principal, "send_message", "not yours")
    entry = (await house.journal())[-1]
    assert (entry.actor, entry.token_id, entry.audience) == (member.id, member.principal.token_id, ())
    assert (entry.fact.action, entry.fact.reason) == ("send_message", "not yours")


async def test_every_entry_names_the_token_that_it_was_done_by(house: House) -> None:
    one, other = await house.members("one", "other")
    before = await house.position()
    receipt = await house.hub.messaging.send(one.principal, Draft(to="other", content="hello"))
    await house.hub.inbox.claim(other.principal, other.id, receipt.message.id)
    told = [entry for entry in await house.journal() if entry.position > before]
    assert {(entry.actor, entry.token_id) for entry in told} == {
        (one.id, one.principal.token_id),
        (other.id, other.principal.token_id),
    }


# -- how fast --------------------------------------------------------------------------------------------


def paced(clock: FakeClock, rate: RateRules, tmp_path: Path = Path("unused")) -> Access:
    """Turns are counted in memory, so the store stays closed."""
    return Access(SqliteStore(tmp_path), clock, guarded=True, rate=rate)


def refused_for(access: Access, principal: Principal = AN_AGENT) -> int:
    """How long the caller is told to wait; 0 when it was let through."""
    try:
        access.take_turn(principal)
    except RateLimited as limited:
        return limited.retry_after_ms
    return 0


def test_the_defaults_are_fifty_a_second_and_bursts_of_five_hundred() -> None:
    assert RateRules() == RateRules(per_second=50, burst=500)


def test_a_burst_passes_at_once_and_the_next_call_waits_for_exactly_one_turn() -> None:
    access = paced(FakeClock(), RateRules(per_second=50, burst=500))
    assert [refused_for(access) for _ in range(500)] == [0] * 500
    assert refused_for(access) == 20


def test_a_call_passes_at_the_told_moment_and_not_a_millisecond_before() -> None:
    clock = FakeClock()
    access = paced(clock, RateRules(per_second=50, burst=1))
    assert refused_for(access) == 0
    clock.move_on(19)
    assert refused_for(access) == 1
    clock.move_on(1)
    assert refused_for(access) == 0


def test_refused_calls_count_for_nothing() -> None:
    clock = FakeClock()
    access = paced(clock, RateRules(per_second=10, burst=2))
    assert [refused_for(access) for _ in range(52)] == [0] * 2 + [100] * 50
    clock.move_on(100)
    assert refused_for(access) == 0


def test_a_long_rest_fills_no_more_than_one_burst() -> None:
    clock = FakeClock()
    access = paced(clock, RateRules(per_second=50, burst=3))
    clock.move_on(3600 * SECOND)
    assert [refused_for(access) for _ in range(4)] == [0, 0, 0, 20]


def test_each_agent_has_a_limit_of_its_own() -> None:
    access = paced(FakeClock(), RateRules(per_second=1, burst=1))
    other = Principal("wise-owl", "t-owl")
    assert [refused_for(access), refused_for(access, other)] == [0, 0]
    assert [refused_for(access), refused_for(access, other)] == [1000, 1000]


def test_two_tokens_of_one_agent_share_its_limit() -> None:
    access = paced(FakeClock(), RateRules(per_second=1, burst=1))
    assert refused_for(access) == 0
    assert refused_for(access, Principal(AN_AGENT.id, "t-another")) == 1000


@pytest.mark.parametrize("principal", [THE_OPERATOR, UNGUARDED_OPERATOR, THE_HUB])
def test_the_operator_is_never_limited(principal: Principal) -> None:
    access = paced(FakeClock(), RateRules(per_second=1, burst=1))
    assert [refused_for(access, principal) for _ in range(100)] == [0] * 100


@given(
    per_second=st.one_of(st.integers(1, 1000), st.floats(0.1, 1000)),
    burst=st.integers(1, 20),
    pauses=st.lists(st.integers(0, 3000), max_size=30),
)
def test_the_told_wait_is_exact_at_any_rate(per_second: float, burst: int, pauses: list[int]) -> None:
    clock = FakeClock()
    access = paced(clock, RateRules(per_second=per_second, burst=burst))
    passed = 0
    for pause in pauses:
        clock.move_on(pause)
        wait = refused_for(access)
        if wait:
            clock.move_on(wait - 1)
            assert refused_for(access) == 1
            clock.move_on(1)
            assert refused_for(access) == 0
        passed += 1
    elapsed = (clock.now() - NOW) / 1000
    assert passed <= burst + elapsed * per_second + 0.01
