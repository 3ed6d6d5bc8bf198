"""A network that loses answers after the hub has done the work: nothing doubles and nothing is lost."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rookery import Client
from rookery.domain.errors import HubUnreachable
from tests.support.hub_process import HubProcess
from tests.support.lossy_proxy import LossyProxy


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[LossyProxy]:
    with LossyProxy() as proxy, HubProcess(tmp_path / "hub", env={"ROOKERY_ALLOWED_HOSTS": proxy.host}) as hub:
        proxy.target = hub.url
        proxy.token = hub.token
        yield proxy


@pytest.fixture
def operator(proxy: LossyProxy) -> Iterator[Client]:
    with Client(proxy.url, token=proxy.token) as client:
        yield client


def test_a_send_whose_answer_is_lost_is_one_message(proxy: LossyProxy, operator: Client) -> None:
    one, two = operator.register(), operator.register()
    proxy.lose = 2
    sent = one.send(two.id, "exactly once")
    assert proxy.passed.count("POST /v1/agents/messages/send") == 3
    assert [message.message_id for message in two.inbox().messages] == [sent.message_id]


def test_an_inbox_whose_answer_is_lost_comes_again_whole(proxy: LossyProxy, operator: Client) -> None:
    one, two = operator.register(), operator.register()
    one.send(two.id, "do not lose me")
    for losses in (1, 2):
        proxy.lose = losses
        assert two.inbox(unread_only=losses == 1).messages[0].content == "do not lose me"
    assert two.unread() == 0


def test_a_completion_whose_answer_is_lost_is_said_again(proxy: LossyProxy, operator: Client) -> None:
    one, two = operator.register(), operator.register()
    message_id = one.send(two.id, "work").message_id
    proxy.lose = 1
    two.claim(message_id)
    proxy.lose = 1
    assert two.complete(message_id, result="done it").message.folder == "done"


def test_a_registration_whose_answer_is_lost_is_not_made_twice(proxy: LossyProxy, operator: Client) -> None:
    proxy.lose = 1
    with pytest.raises(HubUnreachable):
        operator.register(model_name="only")
    assert [agent.name for agent in operator.agents().agents] == ["only"]


def test_claiming_the_next_is_not_tried_again_when_it_may_have_happened(
    proxy: LossyProxy, operator: Client
) -> None:
    one, two = operator.register(), operator.register()
    for text in ("first", "second"):
        one.send(two.id, text)
    proxy.lose = 1
    with pytest.raises(HubUnreachable):
        two.claim()
    assert two.stats().stats.cur == 1


def test_a_change_of_a_channel_whose_answer_is_lost_is_made_once(proxy: LossyProxy, operator: Client) -> None:
    one, start = operator.register(), operator.status().position
    operator.create_channel("build")
    for change in (one.join_channel, one.leave_channel, operator.archive_channel):
        proxy.lose = 1
        assert change("build").channel.channel == "#build"
    assert proxy.passed.count("POST /v1/channels/build/join") == 2
    kinds = [event["type"] for event in operator.events(after=start).events]
    assert kinds == ["channel_created", "channel_joined", "channel_left", "channel_archived"]


def test_a_creation_of_a_channel_whose_answer_is_lost_is_not_tried_again(
    proxy: LossyProxy, operator: Client
) -> None:
    proxy.lose = 1
    with pytest.raises(HubUnreachable):
        operator.create_channel("build")
    assert [channel.channel for channel in operator.channels().channels] == ["#build"]


def test_a_question_whose_answer_is_lost_is_asked_once(proxy: LossyProxy, operator: Client) -> None:
    two = operator.register()
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(operator.ask, two.id, "how many?")
        while not (found := two.inbox().messages):
            pass
        proxy.lose = 1
        two.reply(found[0], "42")
        answer = asked.result(30)
    assert answer.answer is not None
    assert answer.answer.content == "42"
    assert two.inbox(unread_only=False).count == 1


@pytest.mark.parametrize("action", ["delegate", "notify"])
def test_contact_whose_answer_is_lost_is_made_once(proxy: LossyProxy, operator: Client, action: str) -> None:
    two = operator.register()
    proxy.lose = 2
    getattr(operator, action)(two.id, "exactly once")
    assert proxy.passed.count("POST /v1/contact") == 3
    assert two.inbox().count == 1
    assert operator.tasks().count == (1 if action == "delegate" else 0)


def test_an_answer_to_an_approval_that_may_have_arrived_is_not_given_twice(
    proxy: LossyProxy, operator: Client
) -> None:
    one, two = operator.register(mode="strict"), operator.register()
    held = one.notify(two.id, "psst").approval
    assert held is not None
    proxy.lose = 1
    with pytest.raises(HubUnreachable):
        operator.answer(held, "approve")
    assert operator.approval(held).approval.status == "approved"
