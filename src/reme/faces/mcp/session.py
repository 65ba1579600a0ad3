"""An open vault behind the tools of one client.

Owns which operations are offered and the border at which errors become results.
"""

import sys
import traceback
from collections.abc import Callable
from typing import Any

from reme.app import App, build_catalog
from reme.catalog import Catalog, nearest
from reme.config import load_settings
from reme.errors import InvalidInput, ReMeError
from reme.faces.mcp.conversation import Call, Frame, Tools
from reme.faces.mcp.shapes import definition, failure, success
from reme.vault import Role

__all__ = ["tools_of"]


def tools_of(open_app: Callable[[], App], role: Role, catalog: Catalog | None = None) -> Tools:
    """The tools of a vault.

    Args:
        open_app: Opens the vault; tried at the first call, and again at each one for as long as it fails.
        role: With whose rights calls are made; only what that role may call is offered.
        catalog: Where the operations are described; the built-in ones by default.
    """
    session = _Session(open_app, role, catalog or build_catalog(load_settings(None)))
    return Tools(session.definitions, session.check, session.carry_out, session.close)


class _Session:
    def __init__(self, open_app: Callable[[], App], role: Role, catalog: Catalog) -> None:
        self._open_app = open_app
        self._role: Role = role
        self._app: App | None = None
        self._offered = {
            operation.name: operation for operation in catalog if operation.tool and role in operation.roles
        }

    def definitions(self) -> list[Frame]:
        return [definition(operation) for operation in self._offered.values()]

    def check(self, name: str) -> None:
        if name not in self._offered:
            raise InvalidInput(f"there is no tool {name!r}", hint=nearest(name, self._offered))

    def carry_out(self, call: Call) -> Frame:
        try:
            return success(self._offered[call.tool], self._call(call))
        except ReMeError as error:
            return failure(error)
        except (Exception, SystemExit) as error:
            traceback.print_exc(file=sys.stderr)
            return failure(_Bug(f"something went wrong inside ReMe ({type(error).__name__})"))

    def _call(self, call: Call) -> Any:
        if self._app is None:
            self._app = self._open_app()
        actor = f"mcp:{call.client}" if call.client else "mcp"
        try:
            return self._app.call(call.tool, call.arguments, role=self._role, actor=actor, progress=call.progress)
        finally:
            for notice in self._app.take_notices():
                sys.stderr.write(f"reme: {notice}\n")

    def close(self) -> None:
        if self._app is not None:
            self._app.close()


class _Bug(ReMeError):
    """What nobody foresaw; its trace is on standard error."""

    kind = "bug"
