"""Who may change what: the table of roles and layers, and the rules that hold for everybody.

Owns the rights. Knows nothing of what a change says; it sees paths and kinds of edits.
"""

from collections.abc import Mapping
from typing import Final, Literal

from reme.errors import Refused
from reme.paths import VaultPath, fold
from reme.vault.changeset import Amend, Append, ChangeSet, Edit, Move, Put, Remove
from reme.vault.layout import SETTINGS_FILE, SIDECAR_SUFFIX, Layer, Layout
from reme.vault.roles import Role

__all__ = ["check_policy"]

Right = Literal["read", "add", "write"]
"""``add`` is creating files; ``write`` is everything, removal included."""

_Table = Mapping[Role, Mapping[Layer, Right]]

_RIGHTS: Final[dict[Role, dict[Layer, Right]]] = {
    "agent": {"resource": "add", "daily": "write", "other": "write"},
    "curator": {"digest": "write"},
    "person": {
        "resource": "add",
        "daily": "write",
        "digest": "write",
        "session": "write",
        "archive": "write",
        "audit": "write",
        "other": "write",
    },
    "system": {
        "resource": "add",
        "daily": "write",
        "digest": "write",
        "session": "write",
        "archive": "write",
        "audit": "write",
    },
}

_READING_NOTES: Final[_Table] = {**_RIGHTS, "agent": {**_RIGHTS["agent"], "other": "read"}}


def check_policy(
    change_set: ChangeSet, layout: Layout, created: frozenset[VaultPath], *, agents_write_notes: bool = True
) -> None:
    """Refuse a change set that its role has no right to.

    An undo is exempt: whether it may be asked for is decided by whose run it undoes.

    Args:
        change_set: What is asked.
        layout: Which folder is which layer.
        created: The paths among the edits that have no file now.
        agents_write_notes: Whether agents have the right to write the layer ``other``.

    Raises:
        Refused: Naming the rule, the path and what would be allowed.
    """
    if change_set.undoes is not None:
        return
    table = _RIGHTS if agents_write_notes else _READING_NOTES
    for edit in change_set.edits:
        for path, adds in _touched(edit, created):
            layer = layout.layer_of(path)
            if fold(path) == SETTINGS_FILE and change_set.role != "person":
                raise Refused(
                    f"the role {change_set.role!r} may not change {path}, the vault's settings",
                    hint="A person may: with the role person, or in an editor.",
                    details={"rule": "settings", "path": path, "role": change_set.role},
                )
            if layer == "resource" and not adds:
                _check_resource(path, edit)
            elif layer == "resource" and change_set.role == "agent" and not _is_recorded(path, change_set):
                raise Refused(
                    f"the role 'agent' may not create {path}: what it adds to the resource layer comes by upload, "
                    "which records where it is from",
                    hint="Bring it in with upload, or write a note in another layer: "
                    f"{_with(table['agent'], 'write')}.",
                    details={"rule": "resources", "path": path, "role": change_set.role, "layer": layer},
                )
            elif isinstance(edit, Put) and edit.retarget and layer != "session":
                continue
            elif (right := table[change_set.role].get(layer, "read")) != "write" and not (right == "add" and adds):
                raise Refused(
                    f"the role {change_set.role!r} may not {'create' if adds else 'change'} {path}: "
                    f"its right to the {layer} layer is to {right}",
                    hint=_allowed(table, change_set.role, layer),
                    details={"rule": "roles", "path": path, "role": change_set.role, "layer": layer},
                )


def _touched(edit: Edit, created: frozenset[VaultPath]) -> tuple[tuple[VaultPath, bool], ...]:
    match edit:
        case Move(source, target):
            return (source, False), (target, True)
        case Put(path) | Amend(path) | Append(path) | Remove(path):
            return ((path, path in created),)


def _check_resource(path: VaultPath, edit: Edit) -> None:
    if _is_sidecar(path):
        if isinstance(edit, Append):
            return
        raise Refused(
            f"{path} tells of a resource: it is only ever appended to",
            hint=f"Add another entry: append to {path}.",
            details={"rule": "resources", "path": path},
        )
    raise Refused(
        f"{path} is a resource: once added, its content never changes",
        hint=f"Write about it in a note of its own, or append to {path}{SIDECAR_SUFFIX}.",
        details={"rule": "resources", "path": path},
    )


def _is_recorded(path: VaultPath, change_set: ChangeSet) -> bool:
    """Whether the set that creates a resource also adds to its sidecar where it is from; or is that addition."""
    record = path if _is_sidecar(path) else path + SIDECAR_SUFFIX
    return any(isinstance(edit, Append) and edit.path == record for edit in change_set.edits)


def _is_sidecar(path: VaultPath) -> bool:
    return path.endswith(SIDECAR_SUFFIX)


def _allowed(table: _Table, role: Role, layer: Layer) -> str:
    able = " or ".join(name for name, rights in table.items() if rights.get(layer) == "write")
    adding = f" and add to {addable}" if (addable := _with(table[role], "add")) else ""
    return f"{role} may write {_with(table[role], 'write')}{adding}; {layer} may be written as {able or 'nobody'}."


def _with(rights: Mapping[Layer, Right], right: Right) -> str:
    """The layers to which there is just this right."""
    return ", ".join(layer for layer, granted in rights.items() if granted == right)
