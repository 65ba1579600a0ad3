"""The table of routes, and the application that answers by it.

Owns which address and method leads where, and the border at which errors become problem documents. The table is what
the description of the interface and its page of documentation are made of, too. Addresses are taken as they were sent,
not decoded as a whole, so that no spelling of a path gets past what notes make of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from reme.app import App
from reme.catalog import nearest
from reme.errors import InvalidInput, ReMeError, Unavailable
from reme.faces.http.answers import Desk, EventStream, Gone
from reme.faces.http.bodies import json_object
from reme.faces.http.guard import ALIVE
from reme.faces.http.metrics import METRICS_TYPE
from reme.faces.http.notes import get_note, note_path, patch_note, put_note, remove_note
from reme.faces.http.problems import Busy, NotAllowed, NotAnswering, encoded, problem_response, unforeseen

__all__ = ["ROUTES", "Endpoint", "Route", "answering"]

Endpoint = Callable[[Desk, Request, str], Awaitable[Response]]
"""Answers a request; is given what of the address stands in place of the route's variable."""

_READY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of address, and what can be asked there.

    Attributes:
        address: As it is written; a variable at its end is in braces.
        methods: What answers each method, and what it does in one line.
    """

    address: str
    methods: Mapping[str, tuple[Endpoint, str]]

    @property
    def beginning(self) -> str:
        """The part before the variable."""
        return self.address.partition("{")[0]

    def endpoint(self, method: str) -> Endpoint:
        """What answers a method; ``HEAD`` is answered as ``GET``, and the body left out.

        Raises:
            NotAllowed: If nothing does.
        """
        found = self.methods.get("GET" if method == "HEAD" else method)
        if found is None:
            allowed = [*self.methods, *(["HEAD"] if "GET" in self.methods else [])]
            raise NotAllowed(
                f"{method} is not what {self.address} is for",
                hint=f"There is {', '.join(allowed)}.",
                details={"allowed": allowed},
            )
        return found[0]


async def _call(desk: Desk, request: Request, name: str) -> Response:
    if (operation := desk.catalog.get(name)) is None:
        names = [operation.name for operation in desk.catalog]
        raise NotAnswering(f"there is no operation {name!r}", hint=nearest(name, names))
    if request.query_params:
        raise InvalidInput("arguments stand in the body", hint="Send them as a JSON object.")
    return await desk.answer(request, operation, await json_object(request, desk.most))


async def _alive(_desk: Desk, _request: Request, _rest: str) -> Response:
    return Response(encoded({"service": "reme", "status": "ok"}), media_type="application/json")


async def _ready(desk: Desk, request: Request, _rest: str) -> Response:
    def look(app: App) -> dict[str, object]:
        if not app.vault.root.is_dir():
            raise Unavailable("the vault's folder is not there")
        return {"status": "ready", "position": app.index.position()}

    async with asyncio.timeout(_READY_S):
        return Response(encoded(await desk.done(request, "read", look)), media_type="application/json")


async def _measured(desk: Desk, request: Request, _rest: str) -> Response:
    def look(app: App) -> dict[str, tuple[str, Mapping[str, float]]]:
        keeper = app.keeper()
        kept = keeper.status if keeper else None
        gauges: dict[str, tuple[str, Mapping[str, float]]] = {
            "reme_index_position": ("Grows with every batch that the index takes in.", {"": app.index.position()}),
            "reme_index_kept": ("Whether a runtime keeps the index.", {"": float(keeper is not None)}),
        }
        if kept is not None:
            gauges["reme_index_pending"] = ("Changed files that the runtime has not taken in.", {"": kept.pending})
        return gauges

    gauges = await desk.done(request, "read", look)
    waiting = {f'{{lane="{lane}"}}': float(many) for lane, many in desk.lanes.waiting().items()}
    gauges["reme_waiting"] = ("Calls that wait for a thread.", waiting)
    return Response(desk.metrics.text(gauges), headers={"Content-Type": METRICS_TYPE})


async def _told(desk: Desk, request: Request, _rest: str) -> Response:
    events = await desk.feed.listen(request.headers.get("last-event-id", ""))
    return EventStream(events) if request.method == "GET" else Response(media_type="text/event-stream")


async def _described(desk: Desk, _request: Request, _rest: str) -> Response:
    from reme.faces.http.openapi import description

    return Response(encoded(description(desk.catalog, ROUTES)), media_type="application/json")


ROUTES: Final = (
    Route(
        "/api/{operation}",
        {"POST": (_call, "Call an operation of the catalogue with the arguments in the JSON object of the body.")},
    ),
    Route(
        "/notes/{path}",
        {
            "GET": (get_note, "The bytes of a file; with arguments of `read` in the query, that part of it as JSON."),
            "PUT": (put_note, "Make a note of the body, or replace the one whose revision `If-Match` has."),
            "PATCH": (patch_note, "Change a file in its place by the `operation` that the body names."),
            "DELETE": (remove_note, "Delete a file, of the revision that `If-Match` has if it is given."),
        },
    ),
    Route("/events", {"GET": (_told, "What happens, as it happens: runs that end, and where the index stands.")}),
    Route("/openapi.json", {"GET": (_described, "This interface, described by OpenAPI 3.1.")}),
    Route(ALIVE, {"GET": (_alive, "Whether the process lives; needs no token.")}),
    Route("/readyz", {"GET": (_ready, "Whether the vault can be opened and its index read.")}),
    Route("/metrics", {"GET": (_measured, "Calls, times and the index's state for Prometheus.")}),
)


def answering(desk: Desk) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The application that answers by the table, with a problem document where something is wrong."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await _routed(desk, request)
        except ReMeError as error:
            response = problem_response(error, desk.places)
        except (Gone, ClientDisconnect):
            return
        except TimeoutError:
            response = problem_response(Busy("the vault does not answer", hint="Try again in a moment."))
        except asyncio.CancelledError:
            response = problem_response(Busy("the server is stopping", hint="Try again in a moment."))
        except Exception as error:
            response = problem_response(unforeseen(error), desk.places)
        response.headers.setdefault("Cache-Control", "no-store")
        await response(scope, receive, send)

    return answer


async def _routed(desk: Desk, request: Request) -> Response:
    raw: bytes = request.scope["raw_path"]
    address = raw.decode("latin-1")
    for route in ROUTES:
        if address == route.address or (route.address != route.beginning and address.startswith(route.beginning)):
            endpoint = route.endpoint(request.method)
            return await endpoint(desk, request, note_path(raw[len(route.beginning) :]))
    raise NotAnswering(f"nothing is at {address}", hint=f"There is {', '.join(route.address for route in ROUTES)}.")
