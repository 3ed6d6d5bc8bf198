"""One test body for both kinds of client."""

import inspect
from typing import Any


async def done(result: Any) -> Any:
    """What a call gives, whether it returned it or has to be awaited."""
    return await result if inspect.isawaitable(result) else result


async def everything(records: Any) -> list[Any]:
    return [record async for record in records] if inspect.isasyncgen(records) else list(records)


async def pair(operator: Any) -> tuple[Any, Any]:
    return await done(operator.register(model_name="one")), await done(operator.register(model_name="two"))
