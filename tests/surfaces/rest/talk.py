"""What agents say to one another over REST, and what the journal tells of it."""

import asyncio
from typing import Any

import httpx

from tests.surfaces.served import PATIENCE, Json, Member, register

CONTACT = "/v1/contact"
SEND = "/v1/agents/messages/send"
INBOX = "/v1/agents/messages"


async def three(http: httpx.AsyncClient, **said: Any) -> tuple[Member, Member, Member]:
    """What is said goes for the first of them."""
    return await register(http, "one", **said), await register(http, "other"), await register(http, "third")


def of(by: Member | None) -> dict[str, str] | None:
    """The headers of an agent; the operator's connection has its own."""
    return by.headers if by else None


async def contact(
    http: httpx.AsyncClient, by: Member | None, action: str, agent: str, message: str = "hello", **more: Any
) -> httpx.Response:
    key = more.pop("key", None)
    headers = (of(by) or {}) | ({"Idempotency-Key": key} if key else {})
    body = {"action": action, "agent": agent, "message": message} | more
    return await http.post(CONTACT, json=body, headers=headers)


def asking(
    http: httpx.AsyncClient, by: Member | None, agent: str, message: str = "hello", **more: Any
) -> "asyncio.Task[httpx.Response]":
    """A question that waits while the test goes on."""
    return asyncio.create_task(contact(http, by, "ask", agent, message, **more))


async def told(answer: httpx.Response) -> Json:
    assert answer.status_code == 200, answer.text
    return answer.json()


async def handed_over(
    http: httpx.AsyncClient, by: Member | None, to: str, message: str = "x", **more: Any
) -> Json:
    """The task."""
    return (await told(await contact(http, by, "delegate", to, message, **more)))["task"]


async def send(http: httpx.AsyncClient, by: Member | None, to: str, content: str = "hello", **more: Any) -> Json:
    body = {"to_agent_id": to, "content": content} | more
    return await told(await http.post(SEND, json=body, headers=of(by)))


async def look(http: httpx.AsyncClient, path: str, by: Member | None = None, **query: Any) -> Json:
    return await told(await http.get(path, params=query, headers=of(by)))


async def inbox(http: httpx.AsyncClient, member: Member) -> list[Json]:
    """All that lies there; looking changes nothing."""
    query = {"unread_only": False, "mark_read": False}
    return (await look(http, f"{INBOX}/{member.id}", None, **query))["messages"]


async def events(http: httpx.AsyncClient, *kinds: str, by: Member | None = None, **fields: Any) -> list[Json]:
    """Those of these types that the caller sees, with these fields."""
    found: list[Json] = []
    page: Json = {"position": 0, "more": True}
    while page["more"]:
        page = await look(http, "/v1/events", by, after=page["position"], limit=1000)
        found += page["events"]
    return [each for each in found if each["type"] in kinds and fields.items() <= each.items()]


async def event(http: httpx.AsyncClient, kind: str, by: Member | None = None, **fields: Any) -> Json:
    """The first of that type with these fields, now or soon."""
    position = 0
    async with asyncio.timeout(PATIENCE):
        while True:
            page = await look(http, "/v1/events", by, after=position, limit=1000, wait=5)
            for each in page["events"]:
                if each["type"] == kind and fields.items() <= each.items():
                    return each
            position = page["position"]


async def refusals(http: httpx.AsyncClient, action: str) -> list[Json]:
    """What the audit trail holds of that call."""
    return await events(http, "access_refused", action=action)


async def question(http: httpx.AsyncClient, **fields: Any) -> Json:
    """The question that was asked, once it lies before its target."""
    return await event(http, "ask_opened", **fields)
