"""A model that knows its lines: what agent programs talk to in tests, on a free port of loopback.

with ModelServer([Call("mcp__rookery__list_agents"), Say("Done.")]) as model:
    ...  # a program whose model is at model.url
    assert "builder" in model.results[0]

It speaks the two streaming dialects that such programs ask for: Anthropic's Messages and OpenAI's Responses. Which
line is next is counted from the conversation that each request brings along, so a repeated request gets the same
line again.
"""

import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """`tool` is the name in the program: `mcp__SERVER__TOOL` for one that it has from an MCP server."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Say:
    text: str


Line = Call | Say


@dataclass(frozen=True)
class Asked:
    """One request, for assertions, and for a look at what went wrong."""

    method: str
    path: str
    body: Json


class ModelServer:
    """As a proxy it refuses everything: a program that is told to use it as one reaches nobody else."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = list(lines)
        self.asked: list[Asked] = []
        self.results: list[str] = []
        """What the tools gave, as the model was told, in the order of its calls."""
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, dialect: "_Dialect", body: Json) -> Iterator[Json]:
        """The events of a stream."""
        offered = dialect.offered(body)
        if not offered:
            return dialect.spoken(body, Say("ok"))  # a question on the side, such as for a title
        self.results = dialect.results(body)
        said = dialect.said(body)
        line = self.lines[said] if said < len(self.lines) else Say("I have no more lines.")
        if isinstance(line, Call) and line.tool not in offered:
            unknown = Say(f"I have no tool {line.tool}, only {', '.join(sorted(offered))}.")
            line = dialect.lookup(body, line.tool) or unknown
        return dialect.spoken(body, line)


# -- the dialects -------------------------------------------------------------------------------------------


class _Dialect(Protocol):
    def offered(self, body: Json) -> dict[str, Json]:
        """The tools, by the names that a script uses."""
        ...

    def said(self, body: Json) -> int:
        """How many lines the model has said. A lookup is none."""
        ...

    def results(self, body: Json) -> list[str]: ...

    def lookup(self, body: Json, tool: str) -> Call | None:
        """A program may name its tools only, and describe them to a model that looks them up, once."""
        ...

    def spoken(self, body: Json, line: Line) -> Iterator[Json]: ...


class _Messages:
    """Anthropic's."""

    LOOKUP = "ToolSearch"

    def offered(self, body: Json) -> dict[str, Json]:
        return {tool["name"]: tool for tool in body.get("tools") or []}

    def said(self, body: Json) -> int:
        spoken = sum(message["role"] == "assistant" for message in body["messages"])
        return spoken - len(self._lookups(body))

    def results(self, body: Json) -> list[str]:
        looked_up = {block["id"] for block in self._lookups(body)}
        blocks = [block for block in _blocks(body) if block["type"] == "tool_result"]
        return [_text(block.get("content")) for block in blocks if block["tool_use_id"] not in looked_up]

    def lookup(self, body: Json, tool: str) -> Call | None:
        wanted = {"query": f"select:{tool}", "max_results": 1}
        tried = any(block["input"] == wanted for block in self._lookups(body))
        return Call(self.LOOKUP, wanted) if self.LOOKUP in self.offered(body) and not tried else None

    def _lookups(self, body: Json) -> list[Json]:
        calls = [block for block in _blocks(body) if block["type"] == "tool_use"]
        return [block for block in calls if block["name"] == self.LOOKUP]

    def spoken(self, body: Json, line: Line) -> Iterator[Json]:
        message = {
            "id": _new("msg"), "type": "message", "role": "assistant", "model": body["model"], "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        if isinstance(line, Call):
            block = {"type": "tool_use", "id": _new("toolu"), "name": line.tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(line.arguments)}
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": line.text}
        reason = "tool_use" if isinstance(line, Call) else "end_turn"
        end = {"stop_reason": reason, "stop_sequence": None}
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}


class _Responses:
    """OpenAI's."""

    def offered(self, body: Json) -> dict[str, Json]:
        offered: dict[str, Json] = {}
        for tool in body.get("tools") or []:
            if tool["type"] == "namespace":  # the tools of one MCP server
                space = tool["name"]
                offered |= {f"{space}__{each['name']}": each | {"namespace": space} for each in tool["tools"]}
            else:
                offered[tool.get("name", tool["type"])] = tool
        return offered

    def said(self, body: Json) -> int:
        items = body["input"]
        return sum(item.get("type") == "function_call" or item.get("role") == "assistant" for item in items)

    def results(self, body: Json) -> list[str]:
        return [_text(item["output"]) for item in body["input"] if item.get("type") == "function_call_output"]

    def lookup(self, body: Json, tool: str) -> Call | None:
        return None

    def spoken(self, body: Json, line: Line) -> Iterator[Json]:
        if isinstance(line, Call):
            tool = self.offered(body)[line.tool]
            item = {
                "type": "function_call", "id": _new("fc"), "call_id": _new("call"), "status": "completed",
                "name": tool["name"], "arguments": json.dumps(line.arguments),
            }  # fmt: skip
            if "namespace" in tool:
                item["namespace"] = tool["namespace"]
        else:
            item = {
                "type": "message", "id": _new("msg"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": line.text, "annotations": []}],
            }  # fmt: skip
        response = {"id": _new("resp"), "object": "response", "created_at": 0, "model": body["model"]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        whole = response | {"status": "completed", "output": [item], "usage": usage}
        yield {"type": "response.created", "response": response | {"status": "in_progress", "output": []}}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": whole}


_DIALECTS: dict[str, _Dialect] = {"/v1/messages": _Messages(), "/v1/responses": _Responses()}


def _blocks(body: Json) -> list[Json]:
    contents = [message["content"] for message in body["messages"]]
    return [block for content in contents if isinstance(content, list) for block in content]


def _text(content: object) -> str:
    """Of a text, or of a list of blocks."""
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content)
    return str(content)


def _new(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"


# -- HTTP ---------------------------------------------------------------------------------------------------


class _Http(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, model: ModelServer) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10.0  # for a connection that says nothing: a thread waits for it

    @property
    def model(self) -> ModelServer:
        assert isinstance(self.server, _Http)
        return self.server.model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        self.model.asked.append(Asked("POST", self.path, body))
        dialect = _DIALECTS.get(self.path.partition("?")[0])
        if dialect is None or not body.get("stream"):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        self._begin(HTTPStatus.OK, "text/event-stream")
        for event in self.model.answer(dialect, body):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def do_GET(self) -> None:
        self.model.asked.append(Asked(self.command, self.path, {}))
        self._refuse(HTTPStatus.NOT_FOUND if self.path.startswith("/") else HTTPStatus.FORBIDDEN)

    do_HEAD = do_CONNECT = do_GET  # noqa: N815 - the server looks for these names

    def _refuse(self, status: HTTPStatus) -> None:
        self._begin(status, "application/json")
        if self.command != "HEAD":
            reason = {"type": "error", "error": {"type": "not_found_error", "message": self.path}}
            self.wfile.write(json.dumps(reason).encode())

    def _begin(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")  # so that no thread waits for a next request
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its name
