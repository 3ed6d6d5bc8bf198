"""The hub as its callers see it, over REST: short words for what the scenarios do again and again."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.support.hub_process import HubProcess

PATIENCE = 20.0
"""Seconds after which a thing that should have happened has not. Nothing waits so long when all is well."""
LOOK_EVERY = 0.02

Json = dict[str, Any]


@dataclass(frozen=True)
class Agent:
    id: str
    name: str
    token: str


class Refused(Exception):
    """The hub answered with an error; `code` and `data` are what it said."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body
        self.code: str = body["error"]["code"]
        self.message: str = body["error"]["message"]
        self.data: Json = body["error"]["data"]


class Switchboard:
    """Calls of the operator, or with `token` of an agent. The address is looked up for each call, so that a
    hub which was restarted is found again."""

    def __init__(self, hub: HubProcess) -> None:
        self.hub = hub
        self._http = httpx.AsyncClient(
            timeout=PATIENCE, trust_env=False, verify=False, limits=httpx.Limits(max_connections=200)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    # -- any call ------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        token: str | None = None,
        key: str | None = None,
        **query: Any,
    ) -> httpx.Response:
        """`key` is the Idempotency-Key."""
        headers = {"Authorization": f"Bearer {token}"} if token else dict(self.hub.headers)
        if key is not None:
            headers["Idempotency-Key"] = key
        return await self._http.request(method, f"{self.hub.url}{path}", json=body, headers=headers, params=query)

    def stream(self, method: str, path: str) -> AbstractAsyncContextManager[httpx.Response]:
        return self._http.stream(method, f"{self.hub.url}{path}", headers=self.hub.headers)

    async def call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        token: str | None = None,
        key: str | None = None,
        **query: Any,
    ) -> Json:
        """What the hub answered. Raises Refused."""
        response = await self.request(method, path, body, token=token, key=key, **query)
        answer = response.json()
        if response.status_code != 200:
            raise Refused(response.status_code, answer)
        return answer

    async def get(self, path: str, *, token: str | None = None, **query: Any) -> Json:
        return await self.call("GET", path, token=token, **query)

    async def post(
        self, path: str, body: Json | None = None, *, token: str | None = None, key: str | None = None
    ) -> Json:
        return await self.call("POST", path, body, token=token, key=key)

    # -- agents and messages -------------------------------------------------------------------------

    async def register(self, name: str, **more: Any) -> Agent:
        answer = await self.post("/v1/agents/register", {"name": name, **more})
        return Agent(answer["agent_id"], answer["name"], answer["token"])

    async def register_many(self, *names: str) -> list[Agent]:
        return [await self.register(name) for name in names]

    async def send(self, sender: Agent, to: Agent | str, content: str, **more: Any) -> Json:
        target = to if isinstance(to, str) else to.id
        body = {"from_agent_id": sender.id, "to_agent_id": target, "content": content, **more}
        return await self.post("/v1/agents/messages/send", body)

    async def inbox(self, agent: Agent | str, **query: Any) -> list[Json]:
        """Every message of an inbox, read or not, page by page, and none of them marked."""
        owner = agent if isinstance(agent, str) else agent.id
        asked = {"unread_only": False, "mark_read": False, "limit": 1000} | query
        found: list[Json] = []
        while page := (await self.get(f"/v1/agents/messages/{owner}", **asked))["messages"]:
            found += page
            asked["after"] = page[-1]["message_id"]
        return found

    async def contact(
        self,
        action: str,
        by: Agent | None,
        target: Agent | str,
        message: str,
        *,
        key: str | None = None,
        **more: Any,
    ) -> Json:
        """As that agent, with its own token, or as the operator."""
        agent = target if isinstance(target, str) else target.id
        body = {"action": action, "agent": agent, "message": message, **more}
        return await self.post("/v1/contact", body, token=by.token if by else None, key=key)

    # -- the journal ---------------------------------------------------------------------------------

    async def events(self, after: int = 0, *, token: str | None = None) -> list[Json]:
        """The journal from a position to its end, page by page."""
        found: list[Json] = []
        while True:
            page = await self.get("/v1/events", after=after, limit=1000, token=token)
            found += page["events"]
            after = page["position"]
            if not page["more"]:
                return found

    async def position(self) -> int:
        return (await self.get("/v1/status"))["position"]

    async def until(self, path: str, meant: Callable[[Json], bool]) -> Json:
        """What a call answers once it answers as meant, for what the journal does not tell."""
        async with asyncio.timeout(PATIENCE):
            while not meant(answer := await self.get(path)):  # noqa: ASYNC110 - the hub is another process
                await asyncio.sleep(LOOK_EVERY)
            return answer

    async def event(self, meant: Callable[[Json], bool], *, after: int = 0) -> Json:
        """The first such event after a position, as soon as it is there."""
        async with asyncio.timeout(PATIENCE):
            while True:
                page = await self.get("/v1/events", after=after, limit=1000, wait=5)
                for event in page["events"]:
                    if meant(event):
                        return event
                after = page["position"]

    async def event_of(self, kind: str, *, after: int = 0, **fields: Any) -> Json:
        return await self.event(
            lambda event: event["type"] == kind and fields.items() <= event.items(), after=after
        )


def contents(messages: Sequence[Json]) -> list[str]:
    return [message["content"] for message in messages]
