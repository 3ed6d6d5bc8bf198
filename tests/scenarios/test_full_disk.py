"""A disk that fills up: sends are refused before anything is lost, and the operator can clean up."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count

import pytest

from tests.scenarios.disks import MEGABYTE, Disk, disk  # noqa: F401 - a fixture
from tests.scenarios.stores import STORES
from tests.scenarios.switchboard import Agent, Refused, Switchboard
from tests.support.fixtures import HubFactory

SIZE = 200_000
"""Characters in each message."""


@dataclass
class Crowded:
    """A hub whose disk is shared with a large file of somebody else's; `kept` is what was acknowledged."""

    board: Switchboard
    disk: Disk
    ann: Agent
    bob: Agent
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def inbox(self) -> str:
        return f"/v1/agents/messages/{self.bob.id}"

    async def send(self, content: str) -> None:
        answer = await self.board.send(self.ann, self.bob, content)
        self.kept[answer["message_id"]] = content

    async def fill(self) -> Refused:
        """Send until the hub takes no more, and return what it said then."""
        for number in count():
            try:
                await self.send(f"number{number:04} " + "x" * SIZE)
            except Refused as refusal:
                return refusal
        raise AssertionError

    async def found(self) -> dict[str, str]:
        return {m["message_id"]: m["content"] for m in await self.board.inbox(self.bob)}

    def make_room(self) -> None:
        (self.disk.place / "somebody-elses.file").unlink()


@pytest.fixture(params=STORES)
async def crowded(
    request: pytest.FixtureRequest,
    hub_factory: HubFactory,
    disk: Disk,  # noqa: F811
) -> AsyncIterator[Crowded]:
    (disk.place / "somebody-elses.file").write_bytes(bytes(24 * MEGABYTE))
    # The directory is the disk itself, so that the hub's log is not on it.
    async with Switchboard(hub_factory(data=disk.place, store=request.param)) as board:
        ann, bob = await board.register_many("ann", "bob")
        crowded = Crowded(board, disk, ann, bob)
        yield crowded


async def test_a_full_disk_refuses_sends_and_keeps_what_was_acknowledged(crowded: Crowded) -> None:
    refusal = await crowded.fill()

    assert (refusal.status, refusal.code) == (507, "storage_full")
    assert refusal.body["ok"] is False
    assert "full; nothing was stored" in refusal.message
    assert refusal.data == {"where": str(crowded.disk.place)}
    assert len(crowded.kept) > 20
    assert await crowded.found() == crowded.kept
    with pytest.raises(Refused, match="storage_full"):
        await crowded.board.get("/healthz")
    assert (await crowded.board.get("/v1/status"))["full"] is True
    told = [event["message_id"] for event in await crowded.board.events() if event["type"] == "agent_message"]
    assert told == list(crowded.kept)


async def test_agents_can_read_and_finish_their_messages_while_the_disk_is_full(crowded: Crowded) -> None:
    await crowded.fill()
    board, ids = crowded.board, list(crowded.kept)

    read = await board.get(crowded.inbox, limit=5, token=crowded.bob.token)  # as the examples do: marks read
    assert [message["message_id"] for message in read["messages"]] == ids[:5]
    assert (await board.get("/v1/search", q="number0017"))["count"] == 1
    for message_id in ids[:10]:
        await board.post(f"{crowded.inbox}/{message_id}/complete", {"result": "fine"}, token=crowded.bob.token)
    cleared = await board.call("DELETE", crowded.inbox, message_ids=",".join(ids[10:12]))

    assert cleared["cleared"] == 2
    assert {m["folder"] for m in await board.inbox(crowded.bob) if m["message_id"] in ids[:10]} == {"done"}


async def test_pruning_makes_room_on_a_full_disk(crowded: Crowded) -> None:
    await crowded.fill()
    board, ids = crowded.board, list(crowded.kept)
    half = ids[: len(ids) // 2]
    for message_id in half:
        await board.post(f"{crowded.inbox}/{message_id}/complete")

    assert (await board.post("/v1/prune", {"older_than_seconds": 0}))["pruned"] == len(half)

    for message_id in half:
        del crowded.kept[message_id]
    for number in range(len(half) // 2):
        await crowded.send(f"again {number} " + "x" * SIZE)
    assert await crowded.found() == crowded.kept
    assert (await board.get("/healthz"))["status"] == "ok"


async def test_sends_work_again_once_somebody_makes_room(crowded: Crowded) -> None:
    await crowded.fill()
    before = len(crowded.kept)

    crowded.make_room()
    await crowded.send("there is room again")

    assert (await crowded.board.get("/healthz"))["status"] == "ok"
    assert (await crowded.fill()).code == "storage_full"
    assert len(crowded.kept) > before + 20
    assert await crowded.found() == crowded.kept


@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "killed"])
async def test_a_hub_comes_back_on_a_full_disk_with_everything(crowded: Crowded, crash: bool) -> None:
    await crowded.fill()

    crowded.board.hub.restart(crash=crash)

    assert await crowded.found() == crowded.kept
    await crowded.board.post(f"{crowded.inbox}/{next(iter(crowded.kept))}/complete")
    crowded.make_room()
    await crowded.send("there is room again")
    assert await crowded.found() == crowded.kept
