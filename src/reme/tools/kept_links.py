"""Links that a new file would take from another: lengthened in the change set that makes it, so that they lead on.

Owns which links these are, as far as the index knows them, and what is told of those that cannot be respelled.
"""

from collections.abc import Sequence

from reme.errors import InvalidInput, Unavailable
from reme.markdown import parse, retarget
from reme.paths import VaultPath, basename
from reme.revision import ABSENT
from reme.tools.freshness import look
from reme.tools.retargeting import respell, taken, why_left
from reme.tools.texts import parsed_part
from reme.tools.workspace import Workspace
from reme.vault import Edit, Put

__all__ = ["with_links_kept"]


def with_links_kept(workspace: Workspace, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, and the respelling of links that would lead to a file that these make, or be ambiguous for it.

    What cannot be respelled is told as a notice. The index is brought up to the files only where it knows of a link
    with such a name: a new name costs one look.

    Args:
        workspace: Its vault's lock is held.
        edits: What is to be done.
    """
    made = [edit.path for edit in edits if isinstance(edit, Put) and edit.expects == ABSENT]
    try:
        if not _naming(workspace, made):
            return list(edits)
        look(workspace)
        sources = _naming(workspace, made)
    except Unavailable as error:
        _tell(workspace, f"whether links lead to {', '.join(made)} instead now is not known: {error.message}")
        return list(edits)
    relocation = taken(workspace.index.names, made)
    named = {edit.path for edit in edits if isinstance(edit, Put)}
    kept: list[Edit] = []
    for source in sources:
        file = None if source in named else parsed_part(workspace.vault, source)
        if file is None:
            continue
        note = parse(file.data)
        found = respell(note, source, relocation)
        reason = why_left(workspace.vault, source, source, note) if found else ""
        if found and not reason:
            try:
                data = retarget(note, {respelling.link: respelling.target for respelling in found}.get)
            except InvalidInput as error:
                reason = error.message
            else:
                kept.append(Put(source, data, file.revision, retarget=True, note=note))
        for respelling in found:
            link = f"{source}:{respelling.link.line} {respelling.link.target}: a new file has this name, too"
            left = f"it does not lead to {respelling.path} any more, as {reason}"
            _tell(workspace, f"{link}; {left if reason else f'spelled {respelling.target} to lead on'}")
    return [*edits, *kept]


def _naming(workspace: Workspace, made: Sequence[VaultPath]) -> list[VaultPath]:
    names = {basename(path) for path in made}
    return sorted({source for name in names for source in workspace.index.sources_naming(name)})


def _tell(workspace: Workspace, notice: str) -> None:
    if notice not in workspace.vault.notices:
        workspace.vault.notices.append(notice)
