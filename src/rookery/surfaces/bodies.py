"""Reading the body of a request: whole, within bounds, in time."""

import asyncio

from starlette.types import Message, Receive

from rookery.domain.errors import InvalidRequest, TooLarge

_PATIENCE = 30.0


async def read_body(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(_PATIENCE):
            while more:
                message = await _part(receive)
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                more = message.get("more_body", False)
                if size > limit:
                    raise TooLarge("The body", limit)
    except TimeoutError as exc:
        raise InvalidRequest(f"The body did not arrive within {_PATIENCE:.0f} seconds.") from exc
    return b"".join(chunks)


async def _part(receive: Receive) -> Message:
    """A part of the body. One whose sender left before its end is not acted on, whatever it seems to say."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise InvalidRequest("The connection ended before the body did.")
    return message
