"""A method that is written once and works on both kinds of client."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from rookery.client.exchange import Session, Steps

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(ABC):
    """Carries steps out and returns their result."""

    session: Session

    @abstractmethod
    def run(self, steps: Steps[T]) -> T: ...


class Awaiting(ABC):
    """Carries steps out without blocking the event loop."""

    session: Session

    @abstractmethod
    async def run(self, steps: Steps[T]) -> T: ...


class Operation(Generic[P, T]):
    """On a blocking client the method returns its result; on an async one it is awaited."""

    def __init__(self, steps: Callable[Concatenate[Session, P], Steps[T]]) -> None:
        self._steps = steps
        self.__doc__ = steps.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        """For `help` and editors: the client stands where the steps have their session."""
        whole = inspect.signature(self._steps)
        session, *others = whole.parameters.values()
        return whole.replace(parameters=[session.replace(name="self", annotation=session.empty), *others])

    def __call__(self, client: Blocking | Awaiting, *args: P.args, **kwargs: P.kwargs) -> Any:
        return client.run(self._steps(client.session, *args, **kwargs))

    @overload
    def __get__(self, client: Blocking, owner: type[Any]) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type[Any]) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: None, owner: type[Any]) -> "Operation[P, T]": ...
    def __get__(self, client: Blocking | Awaiting | None, owner: type[Any]) -> Any:
        return self if client is None else MethodType(self, client)
