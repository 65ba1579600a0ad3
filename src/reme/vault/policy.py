"""Who may change what: the table of roles and layers, and the rules that hold for everybody.

Owns the rights. Knows nothing of what a change says; it sees paths and kinds of edits.
"""

from typing import Final, Literal

from reme.errors import Refused
from reme.paths import VaultPath
from reme.vault.changeset import Amend, Append, ChangeSet, Edit, Move, Put, Remove
from reme.vault.layout import SETTINGS_FILE, SIDECAR_SUFFIX, Layer, Layout
from reme.vault.roles import Role

__all__ = ["check_policy"]

Right = Literal["read", "add", "write"]
"""``add`` is creating files; ``write`` is everything, removal included."""

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


def check_policy(change_set: ChangeSet, layout: Layout, created: frozenset[VaultPath]) -> None:
    """Refuse a change set that its role has no right to.

    An undo is exempt: whether it may be asked for is decided by whose run it undoes.

    Args:
        change_set: What is asked.
        layout: Which folder is which layer.
        created: The paths among the edits that have no file now.

    Raises:
        Refused: Naming the rule, the path and what would be allowed.
    """
    if change_set.undoes is not None:
        return
    for edit in change_set.edits:
        for path, adds in _touched(edit, created):
            layer = layout.layer_of(path)
            if path == SETTINGS_FILE and change_set.role != "person":
                raise Refused(
                    f"the role {change_set.role!r} may not change {path}, the vault's settings",
                    hint="A person may: with --role person, or in an editor.",
                    details={"rule": "settings", "path": path, "role": change_set.role},
                )
            if layer == "resource" and not adds:
                _check_resource(path, edit)
            elif (
                layer == "resource"
                and change_set.role == "agent"
                and _is_sidecar(path)
                and not isinstance(edit, Append)
            ):
                raise Refused(
                    f"the role 'agent' may not create {path}, which tells where a resource is from",
                    hint="Bring the resource in with upload, which records it.",
                    details={"rule": "resources", "path": path, "role": change_set.role},
                )
            elif isinstance(edit, Put) and edit.retarget and layer != "session":
                continue
            elif (right := _RIGHTS[change_set.role].get(layer, "read")) != "write" and not (right == "add" and adds):
                raise Refused(
                    f"the role {change_set.role!r} may not {'create' if adds else 'change'} {path}: "
                    f"its right to the {layer} layer is to {right}",
                    hint=_allowed(change_set.role, layer),
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


def _is_sidecar(path: VaultPath) -> bool:
    return path.endswith(SIDECAR_SUFFIX)


def _allowed(role: Role, layer: Layer) -> str:
    writable, addable = (", ".join(n for n, r in _RIGHTS[role].items() if r == right) for right in ("write", "add"))
    able = [name for name, rights in _RIGHTS.items() if rights.get(layer) == "write"]
    adding = f" and add to {addable}" if addable else ""
    return f"{role} may write {writable}{adding}; {layer} may be written as {' or '.join(able) or 'nobody'}."
