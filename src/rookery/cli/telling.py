"""Events in words."""

from typing import Any

from rookery.cli.approvals import matter, wish
from rookery.cli.desk import Names, as_json
from rookery.cli.display import say, show_words
from rookery.cli.rules import ruling
from rookery.cli.tasks import colour, mark, quoted
from rookery.cli.text import one_line
from rookery.cli.times import clock

Event = dict[str, Any]
Told = tuple[str, str | None, str]
"""A line about an event, the words in it if there are any, and how to dress it."""


def show_event(event: Event, names: Names) -> None:
    learn(event, names)
    head, words, style = _told(event, names)
    say(f"{clock(str(event.get('timestamp', '')))}  {one_line(head)}", style)
    if words:
        show_words(words)


def learn(event: Event, names: Names) -> None:
    if event.get("type") in ("agent_registered", "agent_renamed"):
        names.learn(str(event["agent_id"]), str(event["name"]))


def _told(event: Event, names: Names) -> Told:
    family = str(event.get("type", "?")).partition("_")[0]
    match family:
        case "ask":
            return _of_asks(event, names)
        case "task":
            return _of_tasks(event, names)
        case "approval" | "rule":
            return _of_approvals(event, names)
        case _:
            return _of_messages(event, names)


def _of_messages(event: Event, names: Names) -> Told:
    def who(key: str) -> str:
        return names.of(str(event.get(key)))

    message = event.get("message_id")
    match event.get("type"):
        case "agent_message":
            return f"{who('from_agent_id')} → {who('to_agent_id')}  {message}", str(event["content"]), "bold"
        case "agent_broadcast":
            return f"{who('from_agent_id')} → everyone  {message}", str(event["content"]), "bold"
        case "agent_message_delivered":
            return f"delivered to {who('to_agent_id')}  {message}", None, "dim"
        case "agent_message_read":
            return f"read by {who('agent_id')}  {message}", None, "dim"
        case "agent_message_replied":
            return f"answered by {who('agent_id')}  {message}", None, "dim"
        case "message_held":
            told = f"{who('from_agent_id')} → {who('to_agent_id')} waits for approval {event['approval_id']}"
            return f"{told}  {message}", None, "yellow"
        case "message_dropped":
            told = f"{who('from_agent_id')} → {who('to_agent_id')} was not sent"
            return f"{told}: approval {event['approval_id']}  {message}", None, "red"
        case "inbox_message_claimed":
            return f"claimed by {who('claimed_by')}  {message}", None, "yellow"
        case "inbox_claim_expired":
            return f"claim of {who('claimed_by')} expired  {message}", None, "yellow"
        case "inbox_message_completed":
            words = event.get("result") or event.get("error") or event.get("note")
            told = f"{event.get('status')} by {who('completed_by')}  {message}"
            return told, str(words) if words else None, "green" if event.get("status") == "done" else "red"
        case "inbox_messages_cleared":
            return f"{who('agent_id')} cleared {len(event['message_ids'])} message(s)", None, "dim"
        case _:
            return _of_parties(event, names)


def _of_parties(event: Event, names: Names) -> Told:
    def who(key: str) -> str:
        return names.of(str(event.get(key)))

    kind = str(event.get("type", "?"))
    match kind:
        case "agent_registered":
            return f"{event['name']} registered as {event['agent_id']}", None, "cyan"
        case "agent_renamed":
            return f"{event['previous_name']} is now called {event['name']}", None, "cyan"
        case "agent_status_changed" if event.get("sleeping_until"):
            return f"{who('agent_id')} sleeps until {clock(event['sleeping_until'])}", None, "dim"
        case "agent_status_changed":
            return f"{who('agent_id')} is {str(event['status']).replace('_', ' ')}", None, "dim"
        case "agent_deleted":
            return f"{event['name']} was deleted", None, "cyan"
        case "channel_created":
            return f"{who('created_by')} created {event['channel']}", None, "cyan"
        case "channel_joined" | "channel_left":
            return f"{who('agent_id')} {kind.removeprefix('channel_')} {event['channel']}", None, "cyan"
        case "channel_archived":
            return f"{event['channel']} was archived", None, "cyan"
        case "token_issued" | "token_revoked":
            told = "a token was made for" if kind == "token_issued" else "a token was ended of"
            return f"{told} {who('holder')}", None, "dim"
        case _:
            return f"{kind}  {_rest(event)}", None, "dim"


def _of_asks(event: Event, names: Names) -> Told:
    asker, target = names.of(str(event.get("asker"))), names.of(str(event.get("target")))
    message = event.get("message_id")
    if event.get("type") == "ask_opened":
        return f"{asker} waits for {target}'s answer until {clock(event['deadline'])}  {message}", None, "magenta"
    match event.get("status"):
        case "answered":
            return f"{target} answered {asker}  {message}", None, "green"
        case "timed_out":
            return f"{target} did not answer {asker} in time  {message}", None, "red"
        case "abandoned":
            return f"{asker} no longer waits for {target}'s answer  {message}", None, "dim"
        case _:
            return f"{target} cannot answer {asker}  {message}", event.get("error"), "red"


def _of_tasks(event: Event, names: Names) -> Told:
    task, title = event.get("task_id"), quoted(str(event.get("title", "")))
    assignee = names.of(str(event.get("assignee")))
    match event.get("type"):
        case "task_opened":
            part = f", part of {event['parent']}" if event.get("parent") else ""
            asleep = f", when it wakes at {clock(event['not_before'])}" if event.get("not_before") else ""
            requester = names.of(str(event.get("requester")))
            return f"{requester} handed {assignee} {task}: {title}{part}{asleep}", None, "magenta"
        case "task_posted":
            return f"{assignee} was given {task}", None, "dim"
        case "task_started":
            return f"{assignee} began {task}: {title}", None, "cyan"
        case "task_ended":
            status = str(event.get("status"))
            words = event.get("result") if status == "completed" else event.get("error")
            by = names.of(str(event.get("ended_by")))
            return f"{task}: {title} ({assignee}) — {mark(status)} by {by}", words, colour(status)
        case _:
            return f"{event.get('type')}  {_rest(event)}", None, "dim"


def _of_approvals(event: Event, names: Names) -> Told:
    approval, agent = event.get("approval_id"), str(event.get("agent_id"))
    match event.get("type"):
        case "approval_requested":
            kind, arguments = str(event.get("kind")), event["arguments"]
            told = wish(kind, names.of(agent), str(event.get("tool")), arguments)
            words = "\n".join(f"{name}: {value}" for name, value in matter(kind, arguments))
            return f"{told}  approval {approval}", words, "yellow"
        case "approval_answered":
            status = str(event.get("status"))
            told = (
                f"approval {approval} of {names.of(agent)}: {status} by {names.of(str(event.get('answered_by')))}"
            )
            return told, event.get("note"), "green" if status == "approved" else "red"
        case "approval_used":
            return f"{names.of(agent)} used approval {approval}", None, "dim"
        case "rule_set":
            rule = ruling(agent, str(event["target"]), event["permission"], event["requires_approval"], names)
            return f"rule: {rule}", None, "cyan"
        case "rule_removed":
            whom = "anybody" if event.get("target") == "*" else names.of(str(event.get("target")))
            return f"rule removed: {names.of(agent)} and {whom}", None, "cyan"
        case _:
            return f"{event.get('type')}  {_rest(event)}", None, "dim"


def _rest(event: Event) -> str:
    said = {key: value for key, value in event.items() if key not in ("type", "timestamp", "position")}
    return as_json({key: value for key, value in said.items() if value is not None})
