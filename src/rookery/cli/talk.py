"""One conversation of one's own: its past, what arrives in it, and what one says in it."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rookery.cli.approvals import matter, wish
from rookery.cli.desk import Names, as_json
from rookery.cli.display import Cell, say, say_pieces, show_words
from rookery.cli.messages import refuse_what_is_no_text
from rookery.cli.telling import learn
from rookery.cli.text import one_line
from rookery.cli.times import clock, left
from rookery.domain.colours import colour_of
from rookery.domain.errors import RookeryError
from rookery.domain.ids import OPERATOR
from rookery.domain.mentions import mentions_in

if TYPE_CHECKING:
    from rookery.client import AsyncClient
    from rookery.wire.contact import ApprovalView
    from rookery.wire.responses import MessageView

Event = dict[str, Any]

_OWN_ECHO = 5.0
"""Seconds that one's own last words may take to come back."""
_QUESTION_STAYS_OPEN = 120.0
"""Seconds after which nobody waits for an answer any more."""


class Talk:
    """With an agent, or in a `#channel`. `peer` is the agent's id, or the channel's address."""

    def __init__(self, hub: "AsyncClient", me: str, peer: str, names: Names, *, as_json: bool) -> None:
        self._hub = hub
        self._me = me
        self.peer = peer
        self.names = names
        self._as_json = as_json
        self._conversation = ""
        self._questions: list[str] = []
        self._seen: set[str] = set()
        self._last: str | None = None
        self._echoes: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._unsure: dict[tuple[str, str | None], str] = {}

    @classmethod
    async def with_(cls, hub: "AsyncClient", whom: str, *, as_json: bool) -> "Talk":
        """Raises AgentNotFound, ChannelNotFound."""
        names = Names()
        if whom.startswith("#"):
            peer = (await hub.channel(whom)).channel.channel
        elif whom == OPERATOR:
            peer = OPERATOR
        else:
            found = (await hub.agent(whom)).agent
            peer = found.agent_id
            if not found.online and not as_json:
                say(f"{found.name} is offline; what you write waits in its inbox.", "yellow")
        for agent in (await hub.agents()).agents:
            names.learn(agent.agent_id, agent.name)
        return cls(hub, await hub.me(), peer, names, as_json=as_json)

    @property
    def in_channel(self) -> bool:
        return self.peer.startswith("#")

    # -- listening -----------------------------------------------------------------------------------

    @asynccontextmanager
    async def begun(self, history: int) -> AsyncGenerator[Awaitable[None]]:
        """The past is shown. What is given goes on showing what arrives, and ends only with an error: nothing is
        missed in between, nor across restarts of the hub."""
        async with self._hub.listen(on_gap=self._tell_of_gap) as events:
            await self._show_past(history)

            async def arrivals() -> None:
                async for event in events:
                    learn(event, self.names)
                    if self._belongs(event):
                        await self._arrived(event)
                        sys.stdout.flush()

            yield arrivals()

    async def _show_past(self, limit: int) -> None:
        wanted = max(1, limit)
        if self.in_channel:
            messages = (await self._hub.history(self.peer, limit=wanted)).messages
        else:
            page = await self._hub.conversation(self.peer, limit=wanted)
            messages, self._conversation = page.messages, page.conversation
        self._seen = {message.message_id for message in messages}
        if self._as_json:
            return
        for message in messages if limit else ():
            self._show(message.from_agent_id, message.timestamp, message.content)
        if limit:
            await self._mark_past_read(messages)
        self._notice_question_in(messages)
        if not self.in_channel:
            for approval in (await self._hub.approvals()).approvals:
                if approval.agent_id == self.peer:
                    self._show_pending(approval)

    async def _mark_past_read(self, messages: "list[MessageView]") -> None:
        unread = (await self._hub.inbox(mark_read=False, limit=1000, latest=True)).messages
        shown = {message.message_id for message in messages}
        await self._mark_read([each.message_id for each in unread if each.message_id in shown])

    async def _mark_read(self, message_ids: list[str]) -> None:
        """What a person was shown. That it was is no reason to fail."""
        if message_ids:
            with suppress(RookeryError):
                await self._hub.mark_read(message_ids)

    def _notice_question_in(self, messages: "list[MessageView]") -> None:
        """Only the last words can be a question that is still open, and not for ever."""
        last = messages[-1] if messages else None
        if last is not None and last.pattern == "ask" and last.from_agent_id == self.peer:
            age = datetime.now(UTC) - datetime.fromisoformat(last.timestamp)
            if age.total_seconds() < _QUESTION_STAYS_OPEN:
                self._open_question(last.message_id)

    async def _arrived(self, event: Event) -> None:
        message = str(event.get("message_id"))
        match event["type"]:
            case "agent_message" if message in self._seen:
                self._seen.discard(message)
                return
            case "ask_opened":
                self._open_question(message)
            case "ask_ended" if message in self._questions:
                self._questions.remove(message)
            case _:
                pass
        if self._as_json:
            print(as_json(event))
        else:
            self._show_event(event)
            if event["type"] == "agent_message" and event["to_agent_id"] == self._me:
                await self._mark_read([message])
        if event.get("from_agent_id") == self._me:
            self._echoes[message].set()

    def _belongs(self, event: Event) -> bool:
        match event.get("type"):
            case "agent_message":
                place = event.get("to_agent_id") if self.in_channel else event.get("conversation")
                return place == (self.peer if self.in_channel else self._conversation)
            case "channel_joined" | "channel_left" | "channel_archived":
                return event.get("channel") == self.peer
            case "ask_opened" | "ask_ended":
                return (event.get("asker"), event.get("target")) == (self.peer, self._me)
            case "approval_requested" | "approval_answered" | "agent_deleted":
                return event.get("agent_id") == self.peer
            case _:
                return False

    def _show_event(self, event: Event) -> None:
        who = self.names.of(str(event.get("agent_id")))
        match event["type"]:
            case "agent_message":
                self._show(event["from_agent_id"], event["timestamp"], event["content"])
            case "ask_opened" | "ask_ended":
                pass  # the question, and its answer, are messages
            case "approval_requested":
                told = wish(event["kind"], who, event["tool"], event["arguments"])
                self._show_wish(event["approval_id"], told, matter(event["kind"], event["arguments"]))
            case "approval_answered":
                say(f"Approval {event['approval_id']} is {event['status']}.", "dim")
            case "agent_deleted":
                say(f"{one_line(str(event['name']))} was deleted.", "yellow")
            case "channel_archived":
                say(f"{self.peer} was archived.", "yellow")
            case kind:
                say(f"{one_line(who)} {kind.removeprefix('channel_')}.", "dim")

    def _show(self, sender: str, timestamp: str, content: str) -> None:
        name = "you" if sender == self._me else self.names.of(sender)
        dress = "bold" if sender == self._me else f"bold {colour_of(name).text}"
        say_pieces(Cell(name, dress), Cell(f"  {clock(timestamp)}", "dim"))
        show_words(content)

    def _open_question(self, message_id: str) -> None:
        if message_id in self._questions:
            return
        self._questions.append(message_id)
        if not self._as_json:
            say(
                f"{one_line(self.names.of(self.peer))} waits for it: the next that you send is the answer.",
                "yellow",
            )

    def _show_pending(self, approval: "ApprovalView") -> None:
        told = wish(approval.kind, self.names.of(approval.agent_id), approval.tool, approval.arguments)
        about = matter(approval.kind, approval.arguments)
        self._show_wish(approval.approval_id, f"{told}  ({left(approval.expires_at)})", about)

    def _show_wish(self, approval: str, told: str, about: list[tuple[str, str]]) -> None:
        say(told, "yellow")
        for name, value in about:
            say(f"{one_line(name)}:", "dim")
            show_words(value)
        say(f"In another terminal: rook approve {approval}, or rook deny {approval}", "yellow")

    def _tell_of_gap(self, why: str | None) -> None:
        if not self._as_json:
            told = "The hub is back." if why is None else f"The hub is away ({one_line(why)}); waiting for it ..."
            say(told, "dim")

    # -- speaking ------------------------------------------------------------------------------------

    async def say(self, text: str) -> None:
        """Raises whatever kept it from being sent. Said again after that, it is still one message."""
        refuse_what_is_no_text(text)
        question = self._questions[-1] if self._questions else None
        key = self._unsure.setdefault((text, question), uuid4().hex)
        sent = await self._hub.send(self.peer, text, reply_to=question, key=key)
        del self._unsure[text, question]
        if question in self._questions:
            self._questions.remove(question)
        self._last = None if sent.held else sent.message_id
        if self._as_json:
            return
        if sent.held:
            say(f"It waits for the operator: approval {sent.held}.", "yellow")
        elif self.in_channel and not sent.queued and mentions_in(text, {}).unknown:
            say(f"The mention reached nobody; `rook channel show '{self.peer}'` says who is here.", "yellow")

    async def heard_own(self, lingering: float = 0.0) -> None:
        """Until one's own last words were shown, and so much longer."""
        if self._last is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_OWN_ECHO):
                    await self._echoes[self._last].wait()
        await asyncio.sleep(lingering)
