"""How agents work together, from end to end: real processes that speak MCP, and a real hub between them."""

import re
import time
from collections.abc import Callable, Iterator

import pytest

from rookery import Client
from rookery.domain.conversations import direct_conversation
from tests.support.agents import (
    AgentProcess,
    Stage,
    Told,
    answering,
    asking,
    completing,
    failing,
    giving_up,
)
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess

REVENUE = """Based on the financial data:

**Q4 2025 Total Revenue: $2.4M** (up 18% YoY from $2.03M in Q4 2024)

Breakdown by product line:
- Platform subscriptions: $1.5M (63%) — up 22% YoY
- Professional services: $620K (26%) — up 12% YoY
- Marketplace fees: $280K (11%) — up 15% YoY"""
HAND_OVER = "Draft a 500-word blog post about our Q4 achievements."


@pytest.fixture
def operator(hub: HubProcess) -> Iterator[Client]:
    with Client(hub.url, token=hub.token) as client:
        yield client


def contents(operator: Client, one: AgentProcess, other: AgentProcess) -> list[tuple[str, str]]:
    """What the two of them said, by whom."""
    names = {agent.agent_id: agent.name for agent in operator.agents().agents}
    said = operator.conversation(other.name, agent=one.name, limit=1000).messages
    return [(names.get(message.from_agent_id, message.from_agent_id), message.content) for message in said]


def status(operator: Client, agent: AgentProcess) -> str:
    return operator.agent(agent.name).agent.status


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_an_ask_returns_with_the_answer(hub: HubProcess, stage: Stage, operator: Client, transport: str) -> None:
    data = stage("DataBot", answering("revenue", REVENUE), transport=transport)
    coordinator = stage("CoordinatorBot", transport=transport)
    question = "What was our total Q4 2025 revenue, and how does it break down by product line?"
    context = "I'm preparing the monthly investor update for the CEO. They want YoY comparisons included."

    told = coordinator.contact("ask", "DataBot", question, context=context)

    assert not told.error
    assert told.text == f"Response from DataBot: {REVENUE}"
    assert contents(operator, coordinator, data) == [
        (
            "CoordinatorBot",
            f"[Agent Request from CoordinatorBot | Pattern: ask]\n\nContext: {context}\n\n{question}",
        ),
        ("DataBot", REVENUE),
    ]
    assert coordinator.call("inbox", action="list").json == {"messages": [], "unread": 0}  # it has the answer


def test_what_was_delegated_comes_back_by_itself(hub: HubProcess, stage: Stage, operator: Client) -> None:
    post = 'Blog post draft completed. Saved as "Q4 Blog Post Draft" in content folder.'
    update = "Prepare investor update"
    writer = stage("WriterBot")
    coordinator = stage(
        "CoordinatorBot",
        {
            "on": "delegate",
            "says": update,
            "do": [
                {
                    "tool": "contact_agent",
                    "arguments": {
                        "action": "delegate",
                        "agent": "WriterBot",
                        "message": HAND_OVER,
                        "context": "This is for the company website.",
                        "priority": "high",
                    },
                }
            ],
        },
        {
            "on": "result",
            "do": [{"tool": "complete_task", "arguments": {"result": "Update is ready: $last"}}],
        },
    )
    operator.delegate("CoordinatorBot", update)
    (receipt,) = coordinator.has_done("contact_agent")
    assert receipt["text"] == (
        "Delegated to WriterBot (subtask task-2). You'll receive the result automatically when WriterBot finishes."
    )
    (work,) = writer.hears("[Agent Request from CoordinatorBot")
    assert work["text"] == (
        "[Agent Request from CoordinatorBot | Pattern: delegate | Priority: high | Task: task-2]\n\n"
        f"Context: This is for the company website.\n\n{HAND_OVER}"
    )
    assert status(operator, coordinator) == "awaiting_delegation"
    parent, part = operator.tasks().tasks
    assert (parent.task_id, parent.status, part.parent, part.status) == ("task-1", "active", "task-1", "active")

    assert writer.call("complete_task", task_id="task-2", result=post).json["status"] == "completed"

    (result,) = coordinator.hears("[Delegation Result")
    assert result["text"] == f"[Delegation Result from WriterBot | task-2]\n{post}"
    (done,) = coordinator.has_done("complete_task")  # it ran again, in the same task
    assert not done["error"], done
    with operator.listen(after=0) as stream:
        arrived = next(e for e in stream if str(e.get("content", "")).startswith("[Delegation Result"))
    assert arrived["task"] == "task-1"
    assert arrived["conversation"] == direct_conversation("operator", coordinator.id)
    assert [task.status for task in operator.tasks().tasks] == ["completed", "completed"]
    assert status(operator, coordinator) == "idle"
    assert ("WriterBot", post) in contents(operator, coordinator, writer)


def test_a_notification_is_stored_and_asks_for_nothing(hub: HubProcess, stage: Stage, operator: Client) -> None:
    coordinator = stage("CoordinatorBot")
    analyst = stage("AnalystBot")
    news = "The Q4 competitor analysis is complete."

    told = analyst.contact("notify", "CoordinatorBot", news)

    assert (told.text, told.error) == ("Notification sent to CoordinatorBot.", False)
    assert contents(operator, analyst, coordinator) == [
        ("AnalystBot", f"[Agent Notification from AnalystBot]\n\n{news}")
    ]
    (heard,) = coordinator.hears(news)
    assert not {"answer_with", "finish_with"} & set(heard)
    assert operator.tasks().tasks == []


def test_a_mention_calls_upon_each_of_those_named(hub: HubProcess, stage: Stage, operator: Client) -> None:
    says = "what are you working on today?"
    answers = {
        "WriterBot": "Working on the Q4 blog post draft.",
        "AnalystBot": "Finishing up the competitor analysis.",
        "DataBot": "Idle at the moment.",
    }
    team = [
        stage(
            name,
            {
                "on": "plain",
                "says": says,
                "do": [
                    {
                        "tool": "send_channel_message",
                        "arguments": {"channelId": "#daily-standup", "content": words},
                    }
                ],
            },
        )
        for name, words in answers.items()
    ]
    coordinator = stage("CoordinatorBot")
    silent = stage("SilentBot")
    operator.create_channel("daily-standup", members=["CoordinatorBot", "SilentBot", *answers])
    morning = f"Good morning team! @WriterBot @AnalystBot @DataBot — {says}"

    told = coordinator.call("send_channel_message", channelId="#daily-standup", content=morning)

    assert told.json["mentioned"] == ["WriterBot", "AnalystBot", "DataBot"]
    for agent in team:
        agent.has_done("send_channel_message")
    said = [message.content for message in operator.history("daily-standup").messages]
    assert said[0] == morning
    assert sorted(said[1:]) == sorted(answers.values())
    assert silent.call("inbox", action="stats").json["new"] == 0
    told = coordinator.call("send_channel_message", channelId="#daily-standup", content="The report is out.")
    assert told.json["mentioned"] == []


def test_results_come_back_one_by_one_as_they_are_ready(hub: HubProcess, stage: Stage, operator: Client) -> None:
    """Three parts that end in another order than they began; one of them fails."""
    names = ["DataBot", "AnalystBot", "WriterBot"]
    team = {name: stage(name) for name in names}
    orders = [
        {
            "tool": "contact_agent",
            "arguments": {"action": "delegate", "agent": name, "message": f"Part of {name}", "priority": "high"},
        }
        for name in names
    ]
    report = "Prepare Q4 report"
    coordinator = stage("CoordinatorBot", {"on": "delegate", "says": report, "do": orders})
    operator.delegate("CoordinatorBot", report)
    receipts = [each["text"] for each in coordinator.has_done("contact_agent", times=3)]
    promise = "You'll receive the result automatically when"
    assert receipts == [
        f"Delegated to {name} (subtask task-{number}). {promise} {name} finishes."
        for number, name in enumerate(names, start=2)
    ]
    for name in names:
        team[name].hears("[Agent Request from CoordinatorBot")

    team["DataBot"].call("complete_task", result="revenue data")
    coordinator.hears("[Delegation Result from DataBot | task-2]\nrevenue data")
    assert status(operator, coordinator) == "awaiting_delegation"
    team["WriterBot"].call("complete_task", taskId="task-4", result="a draft")
    coordinator.hears("[Delegation Result from WriterBot | task-4]\na draft")
    assert status(operator, coordinator) == "awaiting_delegation"
    team["AnalystBot"].call("complete_task", status="failed", error="Rate limit exceeded.")
    (failure,) = coordinator.hears("[Delegation Failed")
    assert failure["text"] == (
        "[Delegation Failed | AnalystBot | task-3]\n"
        "Error: AnalystBot failed to complete the task: Rate limit exceeded."
    )
    assert status(operator, coordinator) == "idle"

    coordinator.call("complete_task", task_id="task-1", result="the report")
    parent, *parts = operator.tasks().tasks
    assert (parent.status, parent.result) == ("completed", "the report")
    assert [(part.parent, part.status) for part in parts] == [
        ("task-1", "completed"), ("task-1", "failed"), ("task-1", "completed"),
    ]  # fmt: skip
    results = [message for message in coordinator.heard if message["text"].startswith("[Delegation")]
    assert len(results) == 3  # each once


def test_who_asked_in_vain_delegates_instead(hub_factory: HubFactory, stage: Stage) -> None:
    hub = hub_factory(env={"ROOKERY_ASK_PATIENCE": "1"})
    stage = stage.of(hub)
    data = stage("DataBot", completing("month-by-month", "MRR: up"))
    research = stage("ResearchBot")

    told = research.contact("ask", "DataBot", "What's our MRR trend for the last 6 months?")

    assert told.error
    assert told.text == (
        "Error: DataBot did not respond within 1 second. Consider using 'delegate' for async processing."
    )
    told = research.contact("delegate", "DataBot", "MRR trend, month-by-month figures.", priority="high")
    assert told.text.startswith("Delegated to DataBot (subtask task-1).")
    data.has_done("complete_task")
    research.hears("[Delegation Result from DataBot | task-1]\nMRR: up")


def test_a_failure_to_answer_is_told_in_its_own_words(hub: HubProcess, stage: Stage) -> None:
    why = "Rate limit exceeded. Try again later."
    stage("DataBot", failing("revenue", why))
    coordinator = stage("CoordinatorBot")
    told = coordinator.contact("ask", "DataBot", "What was our revenue?")
    assert (told.text, told.error) == (f"Error: DataBot failed to respond: {why}", True)


def test_a_supervised_agent_waits_for_the_operators_word(hub: HubProcess, stage: Stage, operator: Client) -> None:
    question = "Can you validate my analysis approach?"
    senior = stage("SeniorAnalystBot", answering("validate", "It is sound."))
    intern = stage("InternBot", mode="supervised")

    told = intern.contact("ask", "SeniorAnalystBot", question)
    assert (told.text, told.error) == ("This action requires approval. Waiting for approval...", False)
    assert status(operator, intern) == "awaiting_approval"
    assert contents(operator, intern, senior) == []
    (waiting,) = operator.approvals().approvals
    assert (waiting.agent_id, waiting.tool) == (intern.id, "contact_agent")
    assert waiting.arguments == {"action": "ask", "agent": "SeniorAnalystBot", "message": question}

    operator.answer(waiting, "approve")
    intern.hears("It is sound.")
    assert contents(operator, intern, senior) == [
        ("InternBot", f"[Agent Request from InternBot | Pattern: ask]\n\n{question}"),
        ("SeniorAnalystBot", "It is sound."),
    ]
    assert status(operator, intern) == "idle"

    _eventually(lambda: intern.contact("notify", "SeniorAnalystBot", "thanks"))
    (waiting,) = operator.approvals().approvals
    operator.answer(waiting, "deny")
    intern.hears("Approval denied for contacting SeniorAnalystBot.")
    assert len(contents(operator, intern, senior)) == 2


def test_questions_within_questions(hub: HubProcess, stage: Stage, operator: Client) -> None:
    context = "CoordinatorBot asked me for a market position assessment."
    question = "What's our revenue compared to the top 3 competitors?"
    data = stage("DataBot", answering("top 3", "We: $2.4M."))
    analyst = stage(
        "AnalystBot", answering("market position", "#2, for: $last", asking("DataBot", question, context=context))
    )
    coordinator = stage("CoordinatorBot")

    told = coordinator.contact("ask", "AnalystBot", "What's our market position relative to competitors?")

    assert told.text == "Response from AnalystBot: #2, for: Response from DataBot: We: $2.4M."
    assert contents(operator, analyst, data) == [
        ("AnalystBot", f"[Agent Request from AnalystBot | Pattern: ask]\n\nContext: {context}\n\n{question}"),
        ("DataBot", "We: $2.4M."),
    ]
    assert contents(operator, coordinator, data) == []


def test_what_two_agents_said_builds_up_between_them(hub_factory: HubFactory, stage: Stage) -> None:
    hub = hub_factory(env={"ROOKERY_PACING_FIRST_GAP": "0.01", "ROOKERY_PACING_LONGEST_GAP": "0.01"})
    stage = stage.of(hub)
    data = stage(
        "DataBot",
        answering("Q3 revenue", "Q3 2025 revenue was $2.1M."),
        completing("compile a dataset", 'Done. Saved as "2025 Monthly Revenue".'),
        answering(
            "Q4 2025", "$last", {"tool": "inbox", "arguments": {"action": "history", "to": "CoordinatorBot"}}
        ),
    )
    coordinator = stage("CoordinatorBot")
    coordinator.contact("ask", "DataBot", "What was Q3 revenue?")
    _eventually(lambda: coordinator.contact("delegate", "DataBot", "Please compile a dataset."))
    coordinator.hears("[Delegation Result from DataBot | task-1]")
    seen = coordinator.contact("ask", "DataBot", "What was Q4 2025 revenue?", context="For the CEO.").text

    history = seen.removeprefix("Response from DataBot: ")
    for words in (
        "[Agent Request from CoordinatorBot | Pattern: ask]\\n\\nWhat was Q3 revenue?",
        "Q3 2025 revenue was $2.1M.",
        "[Agent Request from CoordinatorBot | Pattern: delegate | Priority: normal | Task: task-1]",
        "2025 Monthly Revenue",
        "Context: For the CEO.\\n\\nWhat was Q4 2025 revenue?",
    ):
        assert words in history
    assert len(data.heard) == 3


def _eventually(call: Callable[[], Told]) -> None:
    """A paced call, made again when the refusal says."""
    told = call()
    if told.error:
        wait = re.search(r"try again in (\d+) ms", told.text)
        assert wait, told.text
        time.sleep(int(wait[1]) / 1000)
        told = call()
    assert not told.error, told.text


def test_depth_is_counted_through_every_agent(hub: HubProcess, stage: Stage) -> None:
    """A asks B, who asks C, who asks D, who may not ask in turn."""
    chain = ["BBot", "CBot", "DBot", "EBot"]
    for name, following in zip(chain, [*chain[1:], None], strict=True):
        before = [] if following is None else [asking(following, "deeper")]
        answer = "bottom" if following is None else f"{name}: $last"
        stage(name, answering("deeper", answer, *before))
    first = stage("ABot")
    told = first.contact("ask", "BBot", "deeper")
    assert told.text == (
        "Response from BBot: BBot: Response from CBot: CBot: Response from DBot: DBot: "
        "Error: Maximum agent communication depth (3) reached. Use 'delegate' for async to avoid nesting."
    )


def test_going_round_in_a_circle_counts_too(hub: HubProcess, stage: Stage) -> None:
    one = stage("OneBot", answering("round", "one: $last", asking("TwoBot", "round")))
    stage("TwoBot", answering("round", "two: $last", asking("OneBot", "round")))
    told = one.contact("ask", "TwoBot", "round")
    assert told.text.startswith("Response from TwoBot: two: Response from OneBot: one: ")
    assert told.text.endswith("Use 'delegate' for async to avoid nesting.")
    assert told.text.count("Response from") == 3


def test_two_who_ask_the_same_agent_at_once_are_both_answered(hub: HubProcess, stage: Stage) -> None:
    stage("DataBot", answering("first", "one"), answering("second", "two"))
    askers = [stage(name) for name in ("AskerBot", "OtherBot")]
    asked = [
        asker.begin("contact_agent", action="ask", agent="DataBot", message=words)
        for asker, words in zip(askers, ("first", "second"), strict=True)
    ]
    assert [each.result(30).text for each in asked] == ["Response from DataBot: one", "Response from DataBot: two"]


def test_nobody_contacts_itself_or_who_is_not_there(hub: HubProcess, stage: Stage, operator: Client) -> None:
    lonely = stage("LonelyBot")
    operator.register(name="AwayBot")
    operator.update("AwayBot", status="offline")
    assert lonely.contact("ask", "LonelyBot", "who am I?").text.startswith("Error: You cannot contact yourself")
    assert "Known agents: LonelyBot, AwayBot" in lonely.contact("ask", "GhostBot", "hello?").text
    for action in ("ask", "delegate"):
        told = lonely.contact(action, "AwayBot", "are you there?")
        assert told.error
        assert told.text.startswith("Error: agent unavailable: AwayBot is offline.")
    assert lonely.contact("notify", "AwayBot", "read it later").text == "Notification sent to AwayBot."


def test_one_that_sleeps_is_woken_by_a_question_and_spared_work(
    hub: HubProcess, stage: Stage, operator: Client
) -> None:
    tired = stage("TiredBot", answering("awake", "I am now."))
    boss = stage("BossBot")
    helper = stage("HelperBot")
    operator.sleep("TiredBot", 3600)
    assert boss.contact("delegate", "TiredBot", "Do it later.").text.startswith("Delegated to TiredBot")
    (task,) = operator.tasks().tasks
    assert (task.status, task.message_id) == ("pending", None)
    assert task.not_before is not None
    assert status(operator, tired) == "sleeping"
    told = helper.contact("ask", "TiredBot", "Are you awake?")
    assert told.text == "Response from TiredBot: I am now."
    tired.hears("Do it later.")
    assert status(operator, tired) != "sleeping"


def test_work_that_fails_for_good_is_told_as_failed(hub: HubProcess, stage: Stage, operator: Client) -> None:
    stage("WriterBot", giving_up("blog post", "Rate limit exceeded."))
    boss = stage("BossBot")
    boss.contact("delegate", "WriterBot", HAND_OVER)
    (failure,) = boss.hears("[Delegation Failed")
    assert failure["text"] == (
        "[Delegation Failed | WriterBot | task-1]\n"
        "Error: WriterBot failed to complete the task: Rate limit exceeded."
    )
    operator.register(name="DoomedBot")
    boss.contact("delegate", "DoomedBot", "Never mind.")
    operator.delete("DoomedBot")
    assert "DoomedBot was deleted" in boss.hears("[Delegation Failed | DoomedBot")[0]["text"]


@pytest.mark.parametrize("end", [HubProcess.kill9, HubProcess.stop], ids=["killed", "stopped"])
def test_a_question_over_standard_input_outlives_the_hub(
    hub: HubProcess, stage: Stage, operator: Client, end: Callable[[HubProcess], object]
) -> None:
    """The program that asks does not even notice that the hub was away meanwhile."""
    slow = stage("SlowBot", transport="stdio")
    asker = stage("AskerBot", transport="stdio")
    asking = asker.begin("contact_agent", action="ask", agent="SlowBot", message="take your time")
    (question,) = slow.hears("take your time")
    end(hub)
    hub.start()
    for _ in range(2):  # a model that is told twice to answer answers twice
        slow.call("inbox", action="send", reply_to=question["message_id"], content="done")
    assert asking.result(30).text == "Response from SlowBot: done"
    asked = [said for _, said in contents(operator, asker, slow) if said.startswith("[Agent Request")]
    assert len(asked) == 1
