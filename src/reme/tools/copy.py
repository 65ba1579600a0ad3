"""Copying a file: the same bytes under another path, links as they are.

Owns nothing else.
"""

from typing import Annotated

from reme.errors import InvalidInput
from reme.revision import ABSENT
from reme.tools.changes import Written, read_expected, submit, written, written_text
from reme.tools.places import check_new, file_target, find_place
from reme.tools.workspace import Workspace
from reme.vault import Edit, Put

__all__ = ["copy", "copy_text"]


def copy(
    workspace: Workspace,
    source: Annotated[str, "The file; .md may be left out"],
    target: Annotated[str, "Its copy's path, which must be free; a folder keeps the file's name"],
    expected_revision: Annotated[str | None, "The revision of the source that reading it returned"] = None,
) -> Written:
    """Copy a file to a path that is free; its links stay as they are.

    Raises:
        NotFound: If there is no such file.
        Conflict: If the target exists, or the source is not at the expected revision.
        InvalidInput: If the source is a folder.
    """
    place = find_place(workspace, source)
    if place.folder:
        raise InvalidInput(f"{place.path} is a folder", hint="Copy its files one by one.")
    to = file_target(workspace, place.path, target)

    def gather() -> list[Edit]:
        file = read_expected(workspace, place.path, expected_revision)
        check_new(workspace, to)
        return [Put(to, file.data, ABSENT)]

    outcome = submit(workspace, gather, reason=f"copy {place.path} to {to}")
    return written(workspace, to, outcome, existed=False)


def copy_text(result: Written) -> str:
    """One line for a copy's result."""
    return written_text(result)
