"""Files of the caller's own, outside the vault, for callers on this machine: read and written in pieces.

Owns the type by which such a file is given. No JSON can stand for one, so no request from elsewhere names a file here.
"""

import errno
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reme.errors import Conflict, InvalidInput, NotFound, ReMeError, Unavailable
from reme.vault import Content, content_at

__all__ = ["LocalFile"]


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file outside the vault.

    Attributes:
        place: Where it is or is to be.
        name: How messages call it.
    """

    place: Path
    name: str = ""

    def __str__(self) -> str:
        return self.name or str(self.place)

    def content(self) -> Content:
        """What the file holds; a large content is not held.

        Raises:
            NotFound: If there is no such file.
            InvalidInput: If it is a folder.
            Unavailable: If it cannot be read.
        """
        try:
            return content_at(self.place, str(self))
        except OSError as error:
            raise self._failed(error, "read") from error

    def write(self, pieces: Iterable[bytes]) -> int:
        """Make the file, which must not exist yet; after a failure it does not.

        Returns:
            How many bytes it got.

        Raises:
            Conflict: If it exists.
            NotFound: If its folder does not.
            Unavailable: If it cannot be written.
        """
        try:
            stream = self.place.open("xb")
        except OSError as error:
            raise self._failed(error, "written") from error
        try:
            with stream:
                return sum(stream.write(piece) for piece in pieces)
        except BaseException as error:
            with suppress(OSError):
                self.place.unlink()
            if isinstance(error, OSError):
                raise self._failed(error, "written") from error
            raise

    def _failed(self, error: OSError, done: str) -> ReMeError:
        match error.errno:
            case errno.ENOENT | errno.ENOTDIR:
                return NotFound(f"there is no {'file' if done == 'read' else 'folder for'} {self}")
            case errno.EEXIST:
                return Conflict(f"{self} exists already", hint="Choose another name.")
            case errno.EISDIR:
                return InvalidInput(f"{self} is a folder", hint="Name a file.")
            case _:
                return Unavailable(f"{self} cannot be {done}: {error.strerror or error}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Only an instance will do."""
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """There is no JSON for it, so a union's schema goes without."""
        from pydantic_core import PydanticOmit

        raise PydanticOmit
