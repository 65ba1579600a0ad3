"""Writing whole notes: a new one, or another text in place of an old one.

Owns the rule that nothing is overwritten by accident.
"""

from typing import Annotated, Final

from reme.errors import Conflict, InvalidInput
from reme.markdown import parse, set_property
from reme.paths import VaultPath, is_markdown
from reme.revision import revision_of
from reme.tools.changes import DryRun, Written, revision_conflict, submit, written
from reme.tools.daily import with_promotion
from reme.tools.day_indexes import with_day_indexes
from reme.tools.places import check_new
from reme.tools.workspace import Workspace
from reme.vault import Edit, Put, revision_of_content

__all__ = ["write"]

_BOM: Final = b"\xef\xbb\xbf"


def write(
    workspace: Workspace,
    path: Annotated[str, "The note's path; .md may be left out"],
    content: Annotated[str, "The whole text"],
    name: Annotated[str | None, "Title for people and search, put into the frontmatter"] = None,
    description: Annotated[str | None, "One line on what it is about, put into the frontmatter"] = None,
    overwrite: Annotated[bool, "Replace a file that exists; needs expected_revision or force"] = False,
    expected_revision: Annotated[str | None, "The revision that reading it returned"] = None,
    force: Annotated[bool, "Overwrite whatever is there"] = False,
    dry_run: DryRun = False,
) -> Written:
    """Create a note or other text file; an existing one is replaced only when asked.

    A byte-order mark stays, as no reader is shown it.

    Raises:
        Conflict: If it exists and ``overwrite`` is not given, or if it is not at the expected revision.
        InvalidInput: If ``overwrite`` comes without ``expected_revision`` or ``force``, or frontmatter is asked for in
            something that is no Markdown note.
    """
    if overwrite and expected_revision is None and not force:
        raise InvalidInput(
            "overwriting needs the revision that you have read",
            hint="Read the file and give its revision as `expected_revision`, or give `force`.",
        )
    vault = workspace.vault
    target = vault.name_for(path)
    text = _with_frontmatter(target, content.encode("utf-8"), name, description)
    existed = False

    def gather() -> list[Edit]:
        nonlocal existed
        before = vault.content_of(target)
        present, existed = revision_of_content(before), before is not None
        marked = isinstance(before, bytes) and before.startswith(_BOM) and not text.startswith(_BOM)
        data = _BOM + text if marked else text
        if expected_revision is not None and present != expected_revision:
            raise revision_conflict(target, expected_revision, present)
        if existed and not overwrite and present != revision_of(data):
            raise _exists(target, present)
        if not existed:
            check_new(workspace, target)
        edit = Put(target, data, present)
        return [edit] if existed else with_day_indexes(workspace, [edit])

    outcome = submit(workspace, gather, reason=f"write {target}", dry_run=dry_run)
    return with_promotion(workspace, written(workspace, target, outcome, existed=existed, dry_run=dry_run))


def _with_frontmatter(path: VaultPath, data: bytes, name: str | None, description: str | None) -> bytes:
    asked = {key: value for key, value in (("name", name), ("description", description)) if value is not None}
    if asked and not is_markdown(path):
        message = f"{path} is no Markdown note and has no frontmatter"
        raise InvalidInput(message, hint="Leave `name` and `description` out.")
    for key, value in asked.items():
        data = set_property(parse(data), key, value)
    return data


def _exists(path: VaultPath, revision: str) -> Conflict:
    return Conflict(
        f"{path} exists already",
        hint="Change it with append or edit, or give `overwrite` with the `expected_revision` that a read returned.",
        details={"path": path, "actual_revision": revision},
    )
