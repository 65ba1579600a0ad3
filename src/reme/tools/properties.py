"""Frontmatter: one property read, set or removed, with every other byte of the note left alone.

Owns the three tools. How YAML is cut and quoted is the markdown room's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

from annotated_types import Len

from reme.errors import InvalidInput, NotFound
from reme.markdown import Note, delete_property, parse, set_property
from reme.paths import VaultPath, is_markdown
from reme.revision import Revision
from reme.tools.changes import DryRun, Written, read_expected, submit, written
from reme.tools.texts import parsed_part
from reme.tools.workspace import Workspace
from reme.vault import Edit, Put

__all__ = [
    "Properties",
    "frontmatter_delete",
    "frontmatter_read",
    "frontmatter_update",
    "properties_text",
    "value_of_word",
]

_Path = Annotated[str, "The note; .md may be left out"]
_Key = Annotated[str, "Name of the property", Len(1)]
_Expected = Annotated[str | None, "The revision that reading the note returned"]


@dataclass(frozen=True, slots=True)
class Properties:
    """A note's frontmatter.

    Attributes:
        revision: Of the whole note: what to give as ``expected_revision``.
        properties: Every property, or the one asked for.
        problems: What is wrong with the frontmatter, one sentence each.
    """

    path: VaultPath
    revision: Revision
    properties: dict[str, Any]
    problems: tuple[str, ...] = ()


def frontmatter_read(
    workspace: Workspace, path: _Path, key: Annotated[str | None, "Only this property"] = None
) -> Properties:
    """Read a note's frontmatter.

    Raises:
        NotFound: If there is no such note, or it has no such property.
        InvalidInput: If the file is no Markdown note.
    """
    found = _note_path(workspace, path)
    file = parsed_part(workspace.vault, found)
    if file is None:
        raise NotFound(f"there is no file {found}", details={"path": found})
    note = parse(file.data)
    problems = tuple(f"line {p.line}: {p.message}" for p in note.problems if p.rule.startswith("frontmatter"))
    properties = dict(note.properties)
    if key is not None:
        if key not in properties:
            raise _no_property(found, key, properties)
        properties = {key: properties[key]}
    return Properties(found, file.revision, properties, problems)


def frontmatter_update(
    workspace: Workspace,
    path: _Path,
    key: _Key,
    value: Annotated[Any, "The new value: a text, number, truth value, list or mapping; a text stays a text"],
    yaml: Annotated[bool, "Read a text as YAML, so that 3 is a number and [a, b] a list"] = False,
    expected_revision: _Expected = None,
    dry_run: DryRun = False,
) -> Written:
    """Set one property in a note's frontmatter; only its own lines change.

    Raises:
        NotFound: If there is no such note.
        Conflict: If it is not at the expected revision.
        InvalidInput: If its YAML is invalid, or the value is.
        Refused: If it is not in UTF-8.
    """
    wanted = _yaml_value(value) if yaml and isinstance(value, str) else value
    return _change(
        workspace,
        path,
        expected_revision,
        f"set {key}",
        lambda _, note: set_property(note, key, wanted),
        dry_run=dry_run,
    )


def frontmatter_delete(
    workspace: Workspace, path: _Path, key: _Key, expected_revision: _Expected = None, dry_run: DryRun = False
) -> Written:
    """Remove one property from a note's frontmatter; only its own lines change.

    Raises:
        NotFound: If there is no such note, or it has no such property.
        Conflict: If it is not at the expected revision.
        InvalidInput: If its YAML is invalid.
        Refused: If it is not in UTF-8.
    """

    def remove(found: VaultPath, note: Note) -> bytes:
        if (note.frontmatter is None or note.frontmatter.valid) and key not in note.properties:
            raise _no_property(found, key, note.properties)
        return delete_property(note, key)

    return _change(workspace, path, expected_revision, f"delete {key}", remove, dry_run=dry_run)


def value_of_word(word: str) -> Any:
    """The value that a word of a command line stands for: what YAML makes of it where that is no text, or in quotes.

    ``3`` is a number, ``true`` a truth value, ``null`` none, ``[a, b]`` a list; ``"3"`` is a text, as all else is.
    """
    typed = word.strip()
    if typed.casefold() in ("null", "~"):
        return None
    try:
        value = _yaml_value(typed)
    except InvalidInput:
        return word
    marked = typed[:1] in tuple("[{\"'") and not typed.startswith("[[")
    return value if marked or isinstance(value, bool | int | float) else word


def properties_text(result: Properties) -> str:
    """The properties as YAML under one line that says whose they are."""
    import yaml

    shown: str = cast("Any", yaml).safe_dump(result.properties, allow_unicode=True, sort_keys=False, width=10_000)
    body = shown.rstrip("\n") if result.properties else "no properties"
    return "\n".join([f"[{result.path}, revision {result.revision}]", body, *result.problems])


def _change(
    workspace: Workspace,
    path: str,
    expected: str | None,
    what: str,
    rewrite: Callable[[VaultPath, Note], bytes],
    *,
    dry_run: bool,
) -> Written:
    target = _note_path(workspace, path)

    def gather() -> list[Edit]:
        file = read_expected(workspace, target, expected)
        return [Put(target, rewrite(target, parse(file.data)), file.revision)]

    outcome = submit(workspace, gather, reason=f"{what} in {target}", dry_run=dry_run)
    return written(workspace, target, outcome, existed=True, dry_run=dry_run)


def _note_path(workspace: Workspace, path: str) -> VaultPath:
    found = workspace.vault.find(path)
    if not is_markdown(found):
        raise InvalidInput(f"{found} is no Markdown note and has no frontmatter", details={"path": found})
    return found


def _yaml_value(text: str) -> Any:
    note = parse(f"---\nvalue: {text}\n---\n".encode())
    if note.frontmatter is None or not note.frontmatter.valid or set(note.properties) != {"value"}:
        raise InvalidInput(f"{text!r} is no YAML value", hint="Quote it, or leave the YAML reading off.")
    return note.properties["value"]


def _no_property(path: VaultPath, key: str, properties: dict[str, Any]) -> NotFound:
    return NotFound(
        f"{path} has no property {key!r}",
        hint=f"It has: {', '.join(map(str, properties))}" if properties else "It has none.",
        details={"path": path, "key": key},
    )
