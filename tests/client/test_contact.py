"""Contact through both kinds of client: asking, handing over, letting know, and what was said."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rookery import AsyncClient, Client
from rookery.client import metadata_of
from rookery.domain.errors import (
    AgentNotFound,
    AgentUnavailable,
    AskTimedOut,
    Forbidden,
    IdempotencyConflict,
    InvalidRequest,
    NotPermitted,
)
from tests.client.answering import answering
from tests.client.both import done, pair
from tests.support.hub_process import HubProcess

DEADLINE = 20.0


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def said(answer: Any) -> list[str]:
    return [message.content for message in answer.messages]


async def test_a_question_comes_back_with_its_answer(operator: Any, shared_hub: HubProcess) -> None:
    one, two = await pair(operator)
    with answering(shared_hub.data, two.token, lambda _: "42") as questions:
        answer = await done(one.ask(two.name, "how many?", context="the tests"))
    assert (answer.status, answer.agent_id) == ("answered", two.id)
    assert (answer.answer.content, answer.answer.reply_to) == ("42", answer.message_id)
    assert answer.text == f"Response from {two.name}: 42"
    assert questions == [f"[Agent Request from {one.name} | Pattern: ask]\n\nContext: the tests\n\nhow many?"]
    assert metadata_of((await done(one.message(answer.message_id))).message)["sender"] == one.name


async def test_the_operator_asks_as_itself_and_as_any_agent(operator: Any, shared_hub: HubProcess) -> None:
    one, two = await pair(operator)
    with answering(shared_hub.data, two.token, lambda question: question.split("|")[0]):
        assert (await done(operator.ask(two.id, "who?"))).answer.content == "[Agent Request from operator "
        as_one = await done(operator.ask(two.id, "who?", sender=one.name))
        assert as_one.answer.content == f"[Agent Request from {one.name} "


async def test_no_answer_in_time_is_an_error_and_the_question_is_closed(operator: Any) -> None:
    one, two = await pair(operator)
    began = time.monotonic()
    with pytest.raises(AskTimedOut, match=f"{two.name} did not respond within 1 second"):
        await done(one.ask(two.id, "anybody?", timeout=1))
    assert time.monotonic() - began < 5
    kinds = [(event["type"], event.get("status")) for event in (await done(one.events(limit=1000))).events]
    assert ("ask_ended", "timed_out") in kinds


async def test_a_question_repeated_under_its_key_is_asked_once(operator: Any, shared_hub: HubProcess) -> None:
    one, two = await pair(operator)
    with answering(shared_hub.data, two.token, lambda _: "42") as questions:
        first = await done(one.ask(two.id, "how many?", key="question-1"))
        again = await done(one.ask(two.id, "how many?", key="question-1"))
        assert (again.message_id, again.answer) == (first.message_id, first.answer)
        assert len(questions) == 1
        with pytest.raises(IdempotencyConflict):
            await done(one.ask(two.id, "how few?", key="question-1"))


async def test_work_that_is_handed_over_is_a_task_at_once(operator: Any) -> None:
    one, two = await pair(operator)
    given = await done(one.delegate(two.name, "make it\nso", context="soon", priority="high"))
    assert (given.status, given.task.status, given.task.title) == ("delegated", "pending", "make it")
    assert (given.task.requester, given.task.assignee) == (one.id, two.id)
    (message,) = (await done(two.inbox())).messages
    assert (message.pattern, message.priority, message.task) == ("delegate", "high", given.task.task_id)
    repeated = await done(one.delegate(two.name, "again", key="work-1"))
    same = await done(one.delegate(two.name, "again", key="work-1"))
    assert same.task == repeated.task


async def test_a_part_is_handed_on_under_the_task_at_hand(operator: Any) -> None:
    one, two = await pair(operator)
    whole = (await done(operator.delegate(one.id, "the whole"))).task.task_id
    await done(one.claim())
    assert (await done(one.delegate(two.id, "a part", task=whole))).task.parent == whole


async def test_word_is_left_even_for_one_that_is_offline(operator: Any) -> None:
    one, two = await pair(operator)
    await done(operator.update(two.id, status="offline"))
    left = await done(one.notify(two.id, "when you are back", context="no hurry"))
    assert (left.status, left.task, left.answer) == ("notified", None, None)
    assert said(await done(operator.inbox(two.id, mark_read=False))) == [
        f"[Agent Notification from {one.name}]\n\nContext: no hurry\n\nwhen you are back"
    ]
    with pytest.raises(AgentUnavailable, match="notify"):
        await done(one.ask(two.id, "are you there?"))
    with pytest.raises(AgentUnavailable):
        await done(one.delegate(two.id, "do it"))


async def test_refusals_are_errors_with_the_way_out(operator: Any) -> None:
    one, two = await pair(operator)
    with pytest.raises(AgentNotFound) as unknown:
        await done(one.ask("nobody-here", "hello?"))
    available: Any = unknown.value.data["available"]
    assert two.name in available
    with pytest.raises(InvalidRequest, match="yourself"):
        await done(one.notify(one.id, "note to self"))
    with pytest.raises(Forbidden):
        await done(one.notify(two.id, "as two", sender=two.id))
    await done(operator.forbid(one.id, two.id))
    with pytest.raises(NotPermitted, match="rook allow"):
        await done(one.ask(two.id, "may I?"))


async def test_a_conversation_comes_in_pages_from_the_newest_back(operator: Any) -> None:
    one, two = await pair(operator)
    for text in "abc":
        await done(one.send(two.id, text))
    await done(two.send(one.id, "d"))
    last = await done(one.conversation(two.name, limit=2))
    assert said(last) == ["c", "d"]
    assert said(await done(two.conversation(one.id, before=last.messages[0].seq))) == ["a", "b"]
    assert said(await done(operator.conversation(two.id, agent=one.id))) == list("abcd")
    assert (await done(operator.conversation(two.id))).messages == []
    with pytest.raises(Forbidden):
        await done(one.conversation(two.id, agent=two.id))


async def test_one_that_sleeps_gets_its_work_when_it_wakes(operator: Any) -> None:
    one, two = await pair(operator)
    asleep = (await done(operator.sleep(two.id, 3600))).agent
    assert (asleep.status, bool(asleep.sleeping_until)) == ("sleeping", True)
    task = (await done(one.delegate(two.id, "later"))).task
    assert (task.message_id, task.not_before) == (None, asleep.sleeping_until)
    assert (await done(operator.unread(two.id))) == 0
    assert (await done(operator.wake(two.id))).agent.status == "idle"
    assert (await done(operator.wake(two.id))).agent.status == "idle"
    assert (await done(operator.unread(two.id))) == 1
    with pytest.raises(Forbidden):
        await done(one.sleep(two.id, 1))


# -- when the hub goes away in the middle ----------------------------------------------------------------


@pytest.mark.parametrize("crash", [False, True], ids=["clean restart", "kill -9"])
def test_a_question_outlasts_a_restart_and_is_asked_once(hub: HubProcess, crash: bool) -> None:
    """The hub stays away for longer than the client is patient with other calls."""
    with Client(data=hub.data, patience=0.5) as operator, ThreadPoolExecutor() as threads:
        two = operator.register(name="two")
        asked = threads.submit(operator.ask, "two", "how many?", timeout=60)
        with Client(data=hub.data, token=two.token) as agent:
            wait_until(lambda: agent.unread() == 1)
            if crash:
                hub.kill9()
            else:
                hub.stop()
            time.sleep(1.5)
            hub.start()
            (question,) = agent.inbox().messages
            agent.reply(question, "42")
            answer = asked.result(30)
            assert answer.answer is not None
            assert (answer.answer.content, answer.message_id) == ("42", question.message_id)
            assert agent.inbox(unread_only=False).count == 1


def test_a_question_to_a_hub_that_is_not_there_is_given_up_soon(hub: HubProcess) -> None:
    with Client(data=hub.data, patience=0.5) as operator:
        operator.register(name="two")
        hub.kill9()
        began = time.monotonic()
        with pytest.raises(Exception, match="rook up"):
            operator.ask("two", "how many?", timeout=60)
        assert time.monotonic() - began < 5


async def test_a_question_that_is_cancelled_is_given_up(hub_factory: Any) -> None:
    hub = hub_factory(env={"ROOKERY_ASK_GRACE": "0.2"})
    async with AsyncClient(data=hub.data) as operator:
        two = await operator.register(name="two")
        async with operator.listen() as events:
            asking = asyncio.ensure_future(operator.ask("two", "still there?"))
            ending = None
            async for event in events:
                if event["type"] == "ask_opened":
                    asking.cancel()
                if event["type"] == "ask_ended":
                    ending = event["status"]
                    break
        assert ending == "abandoned"
        assert (await two.inbox()).count == 1
