"""Links that a new name would take from another file: lengthened in the change set that brings it, to lead on.

Owns which links these are, as far as the index knows them, and what is told of those that cannot be respelled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reme.errors import InvalidInput, Unavailable
from reme.index import own_names
from reme.markdown import parse, retarget
from reme.paths import VaultPath, basename
from reme.revision import ABSENT
from reme.tools.freshness import look
from reme.tools.retargeting import respell, taken, why_left
from reme.tools.texts import parsed_part
from reme.tools.workspace import Workspace
from reme.vault import Content, Edit, File, Move, Put, Remove, Vault, pieces_of, revision_of_content

__all__ = ["with_links_kept"]


def with_links_kept(workspace: Workspace, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, and the respelling of links that would lead to what these name, or be ambiguous for it.

    A name comes with a file, or with an alias, title or name that a note gives itself. What cannot be respelled is told
    as a notice. The index is brought up to the files only where it knows of a link with such a name: a new name costs
    one look.

    Args:
        workspace: Its vault's lock is held.
        edits: What is to be done; the links that files follow when they move are the move's own business.
    """
    made, given = _new_names(workspace.vault, edits)
    named = [*made, *given]
    try:
        if not _naming(workspace, made, given):
            return list(edits)
        look(workspace)
        sources = _naming(workspace, made, given)
    except Unavailable as error:
        _tell(workspace, f"whether links lead to {', '.join(named)} instead now is not known: {error.message}")
        return list(edits)
    relocation = taken(workspace.index.names, made, given)
    known = {path: edit for edit in edits for path in _paths(edit)}
    kept: dict[VaultPath, Put] = {}
    for source in sources:
        planned = known.get(source)
        file = parsed_part(workspace.vault, source) if planned is None else _as_planned(planned)
        if file is None:
            continue
        note = parse(file.data)
        found = respell(note, source, relocation)
        reason = why_left(workspace.vault, file, source, note) if found else ""
        if found and not reason:
            try:
                data = retarget(note, {respelling.link: respelling.target for respelling in found}.get)
            except InvalidInput as error:
                reason = error.message
            else:
                anew = Put(source, data, file.revision, retarget=True, note=note)
                kept[source] = replace(planned, data=data) if isinstance(planned, Put) else anew
        for respelling in found:
            link = f"{source}:{respelling.link.line} {respelling.link.target}: another file has this name now, too"
            left = f"it does not lead to {respelling.path} any more, as {reason}"
            _tell(workspace, f"{link}; {left if reason else f'spelled {respelling.target} to lead on'}")
    return [*(kept.pop(_paths(edit)[0], edit) for edit in edits), *kept.values()]


def _new_names(vault: Vault, edits: Sequence[Edit]) -> tuple[list[VaultPath], dict[VaultPath, frozenset[str]]]:
    """The files that these edits make, and what names they bring for which file."""
    made: list[VaultPath] = []
    given: dict[VaultPath, frozenset[str]] = {}
    for edit in edits:
        if isinstance(edit, Move | Remove) or (isinstance(edit, Put) and edit.retarget):
            continue
        path = edit.path
        is_new = edit.expects == ABSENT if isinstance(edit, Put) else vault.stat(path) is None
        if is_new:
            made.append(path)
        if isinstance(edit, Put) and (names := _own(path, edit.data)):
            before = None if is_new else vault.content_of(path)
            if names := names - (_own(path, before) if before is not None else frozenset()):
                given[path] = names
    return made, given


def _paths(edit: Edit) -> tuple[VaultPath, ...]:
    return (edit.source, edit.target) if isinstance(edit, Move) else (edit.path,)


def _own(path: VaultPath, content: Content) -> frozenset[str]:
    return own_names(path, next(iter(pieces_of(content)), b""))


def _as_planned(edit: Edit) -> File | None:
    """A file as an edit will leave it, where links in it can be respelled on top of that."""
    if not isinstance(edit, Put) or not isinstance(edit.data, bytes) or edit.expects == ABSENT:
        return None
    return File(edit.path, edit.data, revision_of_content(edit.data))


def _naming(
    workspace: Workspace, made: Sequence[VaultPath], given: Mapping[VaultPath, frozenset[str]]
) -> list[VaultPath]:
    names = {basename(path) for path in made}.union(*given.values())
    return sorted({source for name in names for source in workspace.index.sources_naming(name)})


def _tell(workspace: Workspace, notice: str) -> None:
    if notice not in workspace.vault.notices:
        workspace.vault.notices.append(notice)
