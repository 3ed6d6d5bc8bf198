"""Finding the endpoint of a path: at once where the path has no places in it, else by Starlette's router."""

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send


class Paths:
    def __init__(self, router: Router) -> None:
        self._router = router
        self._fixed = {
            route.path: route.app
            for route in router.routes
            if isinstance(route, Route) and not route.param_convertors
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._fixed.get(scope["path"]) if scope["type"] == "http" else None
        if app is None:
            await self._router(scope, receive, send)
            return
        scope["path_params"] = {}
        await app(scope, receive, send)
