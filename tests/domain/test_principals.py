"""Authority comes from the token alone."""

from rookery.domain.agents import STATUSES, Agent
from rookery.domain.names import reads_as_reserved
from rookery.domain.principals import THE_HUB, UNGUARDED_OPERATOR, Principal


def test_only_the_operator_is_the_operator() -> None:
    assert Principal("operator", "t1").is_operator
    assert UNGUARDED_OPERATOR.is_operator
    assert not THE_HUB.is_operator
    assert not Principal("swift-fox", "t2").is_operator


def test_neither_the_operator_nor_the_hub_is_an_agent() -> None:
    assert Principal("swift-fox", "t2").is_agent
    assert not UNGUARDED_OPERATOR.is_agent
    assert not THE_HUB.is_agent


def test_no_agent_can_be_named_after_a_principal_of_the_hub() -> None:
    assert all(reads_as_reserved(principal.id) for principal in (THE_HUB, UNGUARDED_OPERATOR))


def test_an_agent_of_any_status_but_offline_is_online() -> None:
    online = [status for status in STATUSES if Agent(id="a", name="a", status=status).online]  # pyright: ignore[reportArgumentType]
    assert online == [status for status in STATUSES if status != "offline"]


def test_an_agent_lives_until_it_is_deleted() -> None:
    assert Agent(id="a", name="a").living
    assert not Agent(id="a", name="a", deleted_at=1).living
