"""What the tools are called, what they take and what they give."""

from typing import Any

import httpx
import msgspec
import pytest

from tests.services.house import FakeClock
from tests.surfaces.mcp.talk import called, done, refused, talking, texts
from tests.surfaces.served import Member, Served
from tests.surfaces.shapes import MESSAGE_ID, refusal

TOOLS = [
    "list_agents", "send_to_agent", "broadcast", "set_name", "set_tab_name", "send_channel_message",
    "contact_agent", "complete_task", "inbox", "permission_prompt",
]  # fmt: skip


async def test_the_hub_says_who_it_is_and_how_it_is_used(hub: Served) -> None:
    async with talking(hub, None) as session:
        assert session.server_info is not None
        assert session.server_info.name == "rookery"
        assert "not from your user" in (session.instructions or "")


async def test_the_tools_are_listed_in_few_words(hub: Served) -> None:
    async with talking(hub, None) as session:
        tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert 10 < len(tool.description or "") < 110


async def test_every_schema_is_a_plain_object_without_references(hub: Served) -> None:
    async with talking(hub, None) as session:
        schemas = {tool.name: tool.input_schema for tool in (await session.list_tools()).tools}
    for schema in schemas.values():
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert b"$ref" not in msgspec.json.encode(schema)
    assert schemas["list_agents"]["properties"] == {}
    assert schemas["send_to_agent"]["required"] == ["target", "message"]
    assert schemas["send_channel_message"]["required"] == ["channel", "content"]
    assert schemas["inbox"]["required"] == []


async def test_all_tools_together_cost_an_agent_little_context(hub: Served) -> None:
    async with talking(hub, None) as session:
        tools = [tool.model_dump(exclude_none=True) for tool in (await session.list_tools()).tools]
    assert len(msgspec.json.encode(tools)) < 5_500


# -- list_agents -----------------------------------------------------------------------------------------


async def test_the_agents_are_listed_with_the_callers_own_name(hub: Served, janus: Member, puppet: Member) -> None:
    async with talking(hub, janus) as session:
        told = await called(session, "list_agents")
    expected = {
        "agents": [
            {"name": "janus-dev", "status": "idle", "project": "/home/karl/janus"},
            {"name": "puppet-dev", "status": "idle", "project": "/home/karl/puppet"},
        ],
        "self": "janus-dev",
    }
    assert told.structured_content == expected
    (text,) = texts(told)
    assert msgspec.json.decode(text) == expected


async def test_the_operator_is_nobody_in_the_list(hub: Served) -> None:
    async with talking(hub, None) as session:
        assert await done(session, "list_agents") == {"agents": [], "self": None}


# -- send_to_agent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", ["target", "agentId", "agent"])
async def test_a_message_is_delivered_to_a_target_by_its_name(
    hub: Served, http: httpx.AsyncClient, janus: Member, puppet: Member, argument: str
) -> None:
    async with talking(hub, janus) as session:
        told = await done(session, "send_to_agent", **{argument: "Puppet-Dev", "message": "hello"})
    assert told == {"delivered": True, "target": "puppet-dev"}
    (message,) = (await http.get(f"/v1/agents/messages/{puppet.id}")).json()["messages"]
    assert (message["from_agent_id"], message["content"]) == (janus.id, "hello")


async def test_an_unknown_target_comes_with_those_that_exist(hub: Served, janus: Member, abra: Member) -> None:
    async with talking(hub, janus) as session:
        for target in ("ghost", "broadcast"):
            assert await done(session, "send_to_agent", target=target, message="hello") == {
                "delivered": False,
                "error": "Agent not found",
                "available": ["janus-dev", "puppet-dev", "abra-dev"],
            }


async def test_a_message_too_soon_is_refused_with_the_exact_wait(
    hub: Served, clock: FakeClock, janus: Member, puppet: Member
) -> None:
    async with talking(hub, janus) as session:
        await done(session, "send_to_agent", target="puppet-dev", message="one")
        clock.move_on(500)
        told = await done(session, "send_to_agent", target="puppet-dev", message="two")
        assert told == {"delivered": False, "error": "Rate limited", "retry_after_ms": 1500}
        clock.move_on(1500)
        assert (await done(session, "send_to_agent", target="puppet-dev", message="two"))["delivered"] is True


async def test_an_agent_writes_to_the_operator(hub: Served, http: httpx.AsyncClient, janus: Member) -> None:
    async with talking(hub, janus) as session:
        told = await done(session, "send_to_agent", target="operator", message="done")
    assert told == {"delivered": True, "target": "operator"}
    assert (await http.get("/v1/agents/messages/operator")).json()["count"] == 1


# -- broadcast -------------------------------------------------------------------------------------------


async def test_a_broadcast_says_whom_it_reached_and_whom_not(
    hub: Served, clock: FakeClock, janus: Member, abra: Member
) -> None:
    async with talking(hub, janus) as session:
        await done(session, "send_to_agent", target="puppet-dev", message="first")
        clock.move_on(1)
        assert await done(session, "broadcast", message="to all") == {
            "delivered_to": ["abra-dev"],
            "failed": [{"name": "puppet-dev", "error": "Rate limited", "retry_after_ms": 1999}],
        }


async def test_a_broadcast_that_reaches_nobody_is_no_error(hub: Served, janus: Member) -> None:
    async with talking(hub, janus) as session:
        assert await done(session, "broadcast", message="anybody?") == {"delivered_to": [], "failed": []}


# -- set_name --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["set_name", "set_tab_name"])
async def test_an_agent_names_itself(hub: Served, janus: Member, tool: str) -> None:
    async with talking(hub, janus) as session:
        told = await done(session, tool, name="janus-two")
        assert told == {"success": True, "previous_name": "janus-dev", "new_name": "janus-two"}
        assert (await done(session, "list_agents"))["self"] == "janus-two"


async def test_a_name_that_is_taken_or_reserved_is_refused_readably(
    hub: Served, janus: Member, puppet: Member
) -> None:
    async with talking(hub, janus) as session:
        told = await called(session, "set_name", name="puppet-dev")
        assert told.is_error
        assert "belongs to another agent" in texts(told)[0]
        assert told.structured_content == refusal("name_taken", name="puppet-dev")
        assert "reserved" in await refused(session, "set_name", name="operator")
        assert (await done(session, "list_agents"))["self"] == "janus-dev"


# -- send_channel_message --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"channel": "#build", "content": "@puppet-dev look"},
        {"channelId": "build", "message": "@puppet-dev look"},
    ],
    ids=["its own words", "other words"],
)
async def test_a_channel_message_says_whom_it_mentioned(
    hub: Served, http: httpx.AsyncClient, janus: Member, puppet: Member, said: dict[str, Any]
) -> None:
    await http.post("/v1/channels", json={"name": "build", "members": [janus.id, puppet.id]})
    async with talking(hub, janus) as session:
        told = await done(session, "send_channel_message", **said)
    assert told == {"sent": True, "channel": "#build", "message_id": MESSAGE_ID, "mentioned": ["puppet-dev"]}
    history = (await http.get("/v1/channels/build/messages")).json()["messages"]
    assert [(message["message_id"], message["content"]) for message in history] == [
        (told["message_id"], "@puppet-dev look")
    ]


async def test_a_channel_message_without_a_mention_is_in_no_inbox(
    hub: Served, http: httpx.AsyncClient, janus: Member, puppet: Member
) -> None:
    await http.post("/v1/channels", json={"name": "build", "members": [janus.id, puppet.id]})
    async with talking(hub, janus) as session:
        assert (await done(session, "send_channel_message", channel="build", content="hi"))["mentioned"] == []
    assert (await http.get(f"/v1/agents/messages/{puppet.id}")).json()["count"] == 0


async def test_a_channel_that_is_not_there_or_not_ones_own_is_refused_readably(
    hub: Served, http: httpx.AsyncClient, janus: Member, puppet: Member
) -> None:
    await http.post("/v1/channels", json={"name": "build", "members": [puppet.id]})
    async with talking(hub, janus) as session:
        words = await refused(session, "send_channel_message", channel="nowhere", content="hi")
        assert "There is no channel 'nowhere'" in words
        await refused(session, "send_channel_message", channel="build", content="hi")
    assert (await http.get("/v1/channels/build/messages")).json()["count"] == 0


# -- what a model gets wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("broadcast", {}, "message"),
        ("broadcast", {"message": ""}, "length"),
        ("broadcast", {"message": 7}, "Expected `str`"),
        ("broadcast", {"message": "x", "loudly": True}, "loudly"),
        ("list_agents", {"all": True}, "all"),
        ("send_to_agent", {"target": "x"}, "message"),
        ("inbox", {"action": "burn"}, "burn"),
        ("inbox", {"limit": 0}, "limit"),
        ("inbox", {"action": "read"}, "message_id"),
        ("inbox", {"action": "complete"}, "message_id"),
        ("inbox", {"action": "mark_read"}, "message_id"),
        ("inbox", {"action": "search"}, "query"),
        ("inbox", {"action": "send", "to": "x"}, "content"),
        ("inbox", {"action": "send", "content": "x"}, "to"),
        ("inbox", {"action": "read", "message_id": "nothing"}, "nothing"),
    ],
    ids=str,
)
async def test_wrong_arguments_are_a_result_that_names_them(
    hub: Served, janus: Member, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with talking(hub, janus) as session:
        assert said in await refused(session, tool, **arguments)


async def test_an_unknown_tool_is_a_result_with_those_that_exist(hub: Served, janus: Member) -> None:
    async with talking(hub, janus) as session:
        words = await refused(session, "send_mail", to="x")
    assert words == f"There is no tool 'send_mail'. There are: {', '.join(TOOLS)}."
