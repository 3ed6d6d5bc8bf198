"""The contracts between the services and what they stand on. The behaviour is in the docstrings; the suite
in `rookery.testing` holds every implementation to it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval, Held
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery, Folder
from rookery.domain.events import Entry, Fact
from rookery.domain.messages import Message
from rookery.domain.pacing import Pace
from rookery.domain.permissions import Rule
from rookery.domain.principals import Principal, Token
from rookery.domain.tasks import Task
from rookery.domain.traces import Attention, Trace

T = TypeVar("T")


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since the epoch. Never goes back within one process."""
        ...


@dataclass(frozen=True, slots=True)
class InboxItem:
    message: Message
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxQuery:
    """Which deliveries of one recipient. Cleared ones, and those whose ttl passed unread, are never among them.

    Unread ones lie in `new` and were not seen. `order` is `arrival` (oldest first), `latest` (newest first) or
    `urgency` (highest priority first, oldest first within it). `folder` None means all folders. `after` is a
    message id, for paging.
    """

    recipient: str
    unread_only: bool = False
    folder: Folder | None = None
    limit: int = 100
    order: Literal["arrival", "latest", "urgency"] = "arrival"
    now: int = 0
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    """Counts over the whole store. `total_sent` and `broadcast_sent` count what was ever sent; the others what
    is stored: `direct_delivered` are the deliveries of direct messages that were handed off, `queued` those that
    never were, `total_queued_messages` lie in `new`."""

    total_sent: int
    direct_delivered: int
    queued: int
    broadcast_sent: int
    total_queued_messages: int
    total_unread_messages: int
    agents_with_messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxStats:
    """How many deliveries of one recipient lie in each folder; cleared ones count nowhere."""

    new: int
    cur: int
    done: int
    dead: int
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What an idempotency key stands for."""

    message_id: str
    digest: bytes


# A listing of messages, entries, tasks, approvals or held messages may be shorter than what there is: it ends
# early, though never empty, when it holds a few megabytes of text. Only an empty page is the end.


class AgentRecords(Protocol):
    def get(self, agent_id: str) -> Agent | None:
        """By id; deleted agents too."""
        ...

    def find(self, id_or_name: str) -> Agent | None:
        """A living agent by its id, else by its name without regard to case."""
        ...

    def living(self) -> Sequence[Agent]:
        """In order of registration."""
        ...

    def all(self) -> Iterator[Agent]: ...
    def ids_like(self, pair: str) -> frozenset[str]:
        """Every id ever given that is `pair` or `pair-<number>`, deleted agents' included."""
        ...

    def born_at(self, agent_id: str) -> int:
        """The journal position at which the agent was registered: earlier entries are not its own."""
        ...

    def add(self, agent: Agent) -> None: ...
    def update(self, agent: Agent) -> None: ...
    def touch(self, agent_id: str, last_active: int) -> None:
        """A sign of life: changes `last_active` alone, and is no fact of the journal."""
        ...


class MessageRecords(Protocol):
    def get(self, message_id: str) -> Message | None:
        """Raises StorageDamaged when what is stored is not what was written."""
        ...

    def next_seq(self, conversation: str) -> int:
        """The next number of that conversation, from 1. Taken for good once the transaction commits."""
        ...

    def add(self, message: Message, recipients: Sequence[str]) -> None:
        """Store the message and a delivery in `new` for each recipient."""
        ...

    def history(self, conversation: str, *, before: int | None, limit: int) -> Sequence[Message]:
        """The newest `limit` messages with a seq below `before`, in order of seq."""
        ...

    def thread(self, thread: str, *, limit: int) -> Sequence[Message]:
        """A message and the replies that hang on it, oldest first."""
        ...

    def search(self, text: str, *, party: str | None, limit: int) -> Sequence[Message]:
        """Messages whose words start with the given ones, best match first. With `party`, only those that
        this agent sent, received, or can read in a channel that it is in. Finds everything committed before
        the call; never raises for odd text."""
        ...

    def sent_under(self, sender: str, key: str) -> Sent | None: ...
    def remember(self, sender: str, key: str, sent: Sent) -> None:
        """Bind an idempotency key to a message, for as long as the message exists."""
        ...


class DeliveryRecords(Protocol):
    def get(self, message_id: str, recipient: str) -> Delivery | None: ...
    def of_message(self, message_id: str) -> Sequence[Delivery]:
        """In the order the recipients were given."""
        ...

    def inbox(self, query: InboxQuery) -> Sequence[InboxItem]:
        """Raises StorageDamaged rather than serve a message that was altered."""
        ...

    def unread_count(self, recipient: str, now: int) -> int: ...
    def stats(self, recipient: str) -> InboxStats: ...
    def queue_stats(self) -> QueueStats: ...
    def save(self, delivery: Delivery) -> None:
        """Replace the stored state of that delivery."""
        ...

    def save_many(self, deliveries: Sequence[Delivery]) -> None: ...
    def next_open(self, recipient: str, now: int) -> Delivery | None:
        """The delivery to claim next: in `new`, most urgent first, oldest within. Stores that serve several
        hubs lock it, so that two claimers never get the same one."""
        ...

    def claims_without_life_since(self, moment: int, limit: int) -> Sequence[Delivery]:
        """Deliveries in `cur` that were claimed before `moment` by an agent silent since before it."""
        ...

    def expired(self, now: int, limit: int) -> Sequence[Delivery]:
        """Unread deliveries whose message had a ttl that has passed. What was read in time does not expire."""
        ...

    def uncleared(self, recipient: str, message_ids: Sequence[str] | None) -> Sequence[Delivery]:
        """Those of the recipient that clearing would take out; None means all."""
        ...


class JournalRecords(Protocol):
    def record(
        self,
        fact: Fact,
        *,
        at: int,
        by: Principal,
        audience: Sequence[str] | None,
        message: Message | None = None,
    ) -> None:
        """Append a fact. It becomes visible together with the change it tells of, or not at all."""
        ...

    def after(
        self,
        position: int,
        *,
        limit: int,
        audience: str | None = None,
        through: int | None = None,
        most_text: int | None = None,
    ) -> Sequence[Entry]:
        """Entries with a greater position (and not above `through`), in order. With `audience`, only those
        that concern that agent and were written since it exists. The page ends early, with at least one entry,
        once its messages hold `most_text` characters."""
        ...

    def end(self) -> int:
        """The position of the newest entry; 0 when there is none."""
        ...


class TokenRecords(Protocol):
    def by_digest(self, digest: bytes) -> Token | None:
        """Revoked ones too."""
        ...

    def held_by(self, holder: str) -> Sequence[Token]: ...
    def add(self, token: Token) -> None: ...
    def revoke(self, token_id: str, at: int) -> None: ...


class ChannelRecords(Protocol):
    def get(self, name: str) -> Channel | None:
        """By its name in lower case, without `#`; archived ones too."""
        ...

    def all(self) -> Sequence[Channel]:
        """In order of creation."""
        ...

    def put(self, channel: Channel) -> None:
        """Add the channel, or replace its stored state."""
        ...


class PacingRecords(Protocol):
    def get(self, sender: str, target: str) -> Pace: ...
    def put(self, sender: str, target: str, pace: Pace) -> None: ...


class AskRecords(Protocol):
    """An ask goes when its message is pruned."""

    def get(self, message_id: str) -> Ask | None: ...
    def put(self, ask: Ask) -> None:
        """Add the ask, or replace its stored state."""
        ...

    def open_to(self, target: str) -> Sequence[Ask]:
        """Those that wait for this party's answer, oldest first."""
        ...

    def open_by(self, asker: str) -> Sequence[Ask]: ...
    def overdue(self, now: int, limit: int) -> Sequence[Ask]:
        """Open ones whose deadline is not after `now`, earliest first."""
        ...

    def all(self) -> Sequence[Ask]:
        """In the order they were asked."""
        ...


class TaskRecords(Protocol):
    def get(self, task_id: str) -> Task | None: ...
    def next_number(self) -> int:
        """One more than the number of tasks there ever were. Taken for good once a task is put under it."""
        ...

    def put(self, task: Task) -> None:
        """Add the task, or replace its stored state."""
        ...

    def children(self, parent: str) -> Sequence[Task]:
        """In order of creation, as all of these."""
        ...

    def open_requested_by(self, requester: str) -> Sequence[Task]: ...
    def open_assigned_to(self, assignee: str) -> Sequence[Task]: ...
    def due(self, now: int, limit: int) -> Sequence[Task]:
        """Open ones that were put off until a moment that is not after `now`."""
        ...

    def recent(self, *, party: str | None, open_only: bool, limit: int) -> Sequence[Task]:
        """The newest tasks, in order of creation. With `party`, those that it requested or is assigned."""
        ...

    def all(self) -> Sequence[Task]: ...


class RuleRecords(Protocol):
    """At most one rule for each agent and target."""

    def of(self, agent: str) -> Sequence[Rule]: ...
    def all(self) -> Sequence[Rule]:
        """In the order they were first set."""
        ...

    def put(self, rule: Rule) -> None: ...
    def remove(self, agent: str, target: str) -> None: ...


class ApprovalRecords(Protocol):
    def get(self, approval_id: str) -> Approval | None: ...
    def put(self, approval: Approval) -> None:
        """Add the approval, or replace its stored state."""
        ...

    def pending(self, agent: str | None = None) -> Sequence[Approval]:
        """Oldest first; with `agent`, its own."""
        ...

    def under_key(self, agent: str, key: str) -> Approval | None:
        """The newest of that agent under that key."""
        ...

    def overdue(self, now: int, limit: int) -> Sequence[Approval]:
        """Pending ones that expire not after `now`."""
        ...

    def recent(self, *, agent: str | None, limit: int) -> Sequence[Approval]:
        """The newest, oldest of them first."""
        ...

    def all(self) -> Sequence[Approval]: ...


class HeldRecords(Protocol):
    def get(self, message_id: str) -> Held | None: ...
    def put(self, held: Held) -> None: ...
    def of(self, approval: str) -> Sequence[Held]:
        """In the order they were put."""
        ...

    def remove(self, message_id: str) -> None: ...


class TraceRecords(Protocol):
    def get(self, trace_id: str) -> Trace | None: ...
    def put(self, trace: Trace) -> None: ...


class AttentionRecords(Protocol):
    def of(self, agent: str) -> Attention | None: ...
    def put_many(self, given: Sequence[Attention]) -> None:
        """Each replaces what was noted of its agent."""
        ...


class Transaction(Protocol):
    """All records at one moment. Inside `Store.read`, changing anything raises."""

    @property
    def agents(self) -> AgentRecords: ...
    @property
    def messages(self) -> MessageRecords: ...
    @property
    def deliveries(self) -> DeliveryRecords: ...
    @property
    def journal(self) -> JournalRecords: ...
    @property
    def tokens(self) -> TokenRecords: ...
    @property
    def channels(self) -> ChannelRecords: ...
    @property
    def pacing(self) -> PacingRecords: ...
    @property
    def asks(self) -> AskRecords: ...
    @property
    def tasks(self) -> TaskRecords: ...
    @property
    def rules(self) -> RuleRecords: ...
    @property
    def approvals(self) -> ApprovalRecords: ...
    @property
    def held(self) -> HeldRecords: ...
    @property
    def traces(self) -> TraceRecords: ...
    @property
    def attention(self) -> AttentionRecords: ...
    def prune(self, *, before: int, folders: Sequence[Folder]) -> int:
        """Remove for good the messages older than `before` whose every delivery is cleared or lies in one of
        the folders, with their deliveries, keys, asks and facts. Returns how many messages went."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """For `rook status`, `/healthz` and `/metrics`."""

    kind: str
    place: str
    position: int
    messages: int
    bytes: int
    waiting: int
    commits: int
    grouped: int
    full: bool


class Store(Protocol):
    """Durable state with one writer.

    `write` runs the work in a transaction and returns once it is on disk. Works that arrive together are
    committed together, in order of arrival, each all or nothing: one that raises changes nothing and does
    not disturb its neighbours. **A work may be run more than once** (a neighbour's failure, a database that
    asks for a retry), so it must have no effect but through the transaction, and must not keep it.
    Raises Overloaded when too many works wait, StorageFull when the disk is full (works marked `frees` may
    still pass, on a reserve kept for them), StorageDamaged and StorageUnavailable as they say.

    `read` runs the work on a consistent snapshot, beside the writer, that includes every write answered
    before the call.
    """

    async def open(self) -> None:
        """Lock the data, bring the schema up to date and recover from a crash. Raises StorageUnavailable
        when another hub holds the data, it cannot be written, or a newer version wrote it; StorageDamaged
        when acknowledged writes are missing."""
        ...

    async def close(self) -> None:
        """Finish the works that wait, then release everything. Closing twice is fine."""
        ...

    async def write(self, work: Callable[[Transaction], T], *, frees: bool = False) -> T: ...
    async def read(self, work: Callable[[Transaction], T]) -> T: ...
    def recent(self, after: int) -> Sequence[Entry] | None:
        """The entries after that position if all of them are still in memory, else None: read them then."""
        ...

    def announce_to(self, listener: Callable[[int], None]) -> None:
        """Call the listener, on the event loop, with the newest position after each commit that wrote
        facts, this hub's or another's."""
        ...

    def report(self) -> StoreReport: ...
    async def rebuild(self, progress: Callable[[str], None]) -> "RebuildReport":
        """Make every derived part anew from the truth, and check each message against its digest."""
        ...

    def export(self) -> Iterator[dict[str, object]]:
        """Everything, as JSON-ready records with a `record` key, from one snapshot. Blocks; use a thread."""
        ...

    def load(self, records: Iterable[dict[str, object]]) -> int:
        """Fill an empty store from `export`. All or nothing. Returns the number of records. Blocks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    messages: int
    damaged: Sequence[str]
    notes: Sequence[str]
