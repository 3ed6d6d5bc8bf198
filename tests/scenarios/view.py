"""What a reader of the journal knows of the hub, from its events alone."""

from dataclasses import dataclass, field
from typing import Any

from tests.scenarios.switchboard import Json

AGENT_FIELDS = ("name", "kind", "role", "mode", "manager", "project", "model_name", "status")


@dataclass
class Item:
    """A message as it lies in one inbox."""

    message_id: str
    content: str
    folder: str = "new"
    read: bool = False
    claimed_by: str | None = None
    result: str | None = None
    error: str | None = None
    note: str | None = None
    replied: bool = False


@dataclass
class View:
    """With `reader`, from that agent's own share of the journal: then only its own inbox is known."""

    reader: str | None = None
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    inboxes: dict[str, dict[str, Item]] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)

    def apply(self, event: Json) -> None:
        """Types that change nothing here are passed over."""
        change = getattr(self, f"_on_{event['type']}", None)
        if change is not None:
            change(event)

    # -- agents --------------------------------------------------------------------------------------

    def _on_agent_registered(self, event: Json) -> None:
        self.agents[event["agent_id"]] = {name: event[name] for name in AGENT_FIELDS}

    def _on_agent_renamed(self, event: Json) -> None:
        if event["agent_id"] in self.agents or self.reader is None:
            self.agents[event["agent_id"]]["name"] = event["name"]

    def _on_agent_updated(self, event: Json) -> None:
        if event["agent_id"] in self.agents or self.reader is None:
            changed = {name: event[name] for name in AGENT_FIELDS if name in event}
            self.agents[event["agent_id"]].update(changed)

    def _on_agent_status_changed(self, event: Json) -> None:
        if event["agent_id"] in self.agents or self.reader is None:
            self.agents[event["agent_id"]]["status"] = event["status"]

    def _on_agent_deleted(self, event: Json) -> None:
        if event["agent_id"] in self.agents or self.reader is None:
            del self.agents[event["agent_id"]]

    # -- messages ------------------------------------------------------------------------------------

    def _on_agent_message(self, event: Json) -> None:
        self.contents[event["message_id"]] = event["content"]

    _on_agent_broadcast = _on_agent_message

    def _on_inbox_message_sent(self, event: Json) -> None:
        message_id = event["message_id"]
        for recipient in self._recipients(event):
            item = Item(message_id, self.contents[message_id])
            self.inboxes.setdefault(recipient, {})[message_id] = item

    def _recipients(self, event: Json) -> list[str]:
        if self.reader is not None:
            return [self.reader] if event["from_agent_id"] != self.reader else []
        if event["to_agent_id"] != "broadcast":
            return [event["to_agent_id"]]
        everybody = [agent for agent in self.agents if agent != event["from_agent_id"]]
        return event.get("recipients", everybody)

    def _on_agent_message_read(self, event: Json) -> None:
        self._change(event, read=True)

    def _on_inbox_message_claimed(self, event: Json) -> None:
        self._change(event, folder="cur", claimed_by=event["claimed_by"])

    def _on_inbox_claim_expired(self, event: Json) -> None:
        self._change(event, folder="new", claimed_by=None)

    def _on_inbox_message_completed(self, event: Json) -> None:
        told = {name: event[name] for name in ("folder", "result", "error", "note")}
        self._change(event, **told)

    def _on_agent_message_replied(self, event: Json) -> None:
        self._change(event, replied=True)

    def _on_inbox_messages_cleared(self, event: Json) -> None:
        for message_id in event["message_ids"]:
            self.inboxes[event["agent_id"]].pop(message_id)

    def _change(self, event: Json, **fields: Any) -> None:
        if self.reader not in (None, event["agent_id"]):
            return  # a sender hears what becomes of its messages in other inboxes
        item = self.inboxes[event["agent_id"]].get(event["message_id"])
        if item is None:
            return  # cleared
        for name, value in fields.items():
            setattr(item, name, value)
