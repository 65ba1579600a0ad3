"""Bytes in and out: resources brought in once each, files handed out whole, pictures for models to look at.

Owns the size limits and what a picture is. Bytes travel in base64, as JSON can carry them, or from and to a file of
the caller's, in pieces.
"""

import base64
import binascii
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Ge, Le

from reme.errors import InvalidInput
from reme.index import Filter
from reme.paths import VaultPath, basename, check_portable, parse_path, portable_name
from reme.revision import ABSENT, Revision, digest, revision_of
from reme.search import Origin, lowest
from reme.tools.changes import DryRun, conflict_lines, submit
from reme.tools.freshness import look
from reme.tools.local import LocalFile
from reme.tools.places import check_new
from reme.tools.sidecars import SIDECAR_SUFFIX, Sighting, sidecar_of, sighting_entry
from reme.tools.workspace import Workspace
from reme.vault import Append, Committed, Edit, Large, Put, Role, revision_of_content
from reme.wording import counted

__all__ = [
    "Download",
    "Picture",
    "Uploaded",
    "download",
    "download_text",
    "picture_text",
    "read_image",
    "upload",
    "uploaded_text",
]

_LARGEST: Final = 32_000_000
_LARGEST_PICTURE: Final = 5_000_000
_UNKNOWN: Final = "application/octet-stream"
_BROUGHT_BY: Final[dict[Role, Origin]] = {"person": "person", "agent": "agent", "curator": "agent", "system": "tool"}


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of an upload.

    Attributes:
        path: Where the content lies; of content that was there already, where it lies since then.
        outcome: ``added``, or ``known`` where only the sighting was recorded.
        size: In bytes.
        origin: How far its words are to be trusted, as this sighting says.
        sidecar: The file that records where it came from.
        run: The run to show or undo; empty where nothing was written.
    """

    path: VaultPath
    revision: Revision
    outcome: Literal["added", "known"]
    size: int
    media_type: str
    origin: Origin
    sidecar: VaultPath
    run: str
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """A file's bytes: ``data`` in base64, ``size`` in bytes before that.

    Attributes:
        saved_as: The caller's file that they were written to instead; ``data`` is then empty.
    """

    path: VaultPath
    revision: Revision
    media_type: str
    size: int
    data: str
    saved_as: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: ``data`` in base64, ``size`` in bytes before that."""

    path: VaultPath
    revision: Revision
    media_type: str
    size: int
    data: str


def upload(
    workspace: Workspace,
    data: Annotated[str | LocalFile, "The content, in base64"],
    name: Annotated[str | None, "What the file is called, with its extension"] = None,
    source: Annotated[str, "Where it comes from, such as a URL"] = "",
    origin: Annotated[Origin | None, "Whose words it holds, if they are to be trusted less than the caller's"] = None,
    dry_run: DryRun = False,
) -> Uploaded:
    """Bring in a resource: it is filed under today and never changed; content that is there already is not kept twice.

    Raises:
        InvalidInput: If the data is no base64, too large for it, or the name is missing or no file name.
        Conflict: If today has another file of that name.
        Refused: If the name is hidden or unsafe, or the role may not.
    """
    content = data.content() if isinstance(data, LocalFile) else _decoded(data)
    filed = _filed(workspace, name)
    revision = revision_of_content(content)
    media_type = mimetypes.guess_type(filed)[0] or _UNKNOWN
    caller, now = workspace.caller, workspace.clock.now()
    own = _BROUGHT_BY[caller.role]
    trusted = lowest((own, origin or own))
    entry = sighting_entry(Sighting(now, revision, str(name), caller.actor, trusted, source, media_type))
    path, known = filed, None

    def gather() -> list[Edit]:
        nonlocal path, known
        known = _known(workspace, revision)
        path = known or filed
        record = Append(sidecar_of(path), entry)
        if known:
            return [record]
        check_new(workspace, filed)
        return [Put(filed, content, ABSENT), record]

    outcome = submit(workspace, gather, reason=f"upload {filed}", dry_run=dry_run)
    copies = outcome.conflict_copies if isinstance(outcome, Committed) else ()
    run = "" if dry_run else caller.run
    size = content.size if isinstance(content, Large) else len(content)
    added = "known" if known else "added"
    return Uploaded(path, revision, added, size, media_type, trusted, sidecar_of(path), run, copies, dry_run)


def download(
    workspace: Workspace,
    path: Annotated[str, "The file; .md may be left out"],
    max_bytes: Annotated[int, "Refuse larger files", Ge(1), Le(_LARGEST)] = _LARGEST,
    into: Annotated[LocalFile | None, "Write it, however large, to this new file, or into this folder"] = None,
) -> Download:
    """Hand out a file whole, whatever is in it.

    Raises:
        NotFound: If there is no such file.
        InvalidInput: If it is too large, or ``into`` is inside the vault.
        Conflict: If the file that it is to be written to exists.
    """
    if into is not None:
        return _saved(workspace, workspace.vault.find(path), into)
    found, content = _content(workspace, path, max_bytes)
    kind = mimetypes.guess_type(found)[0] or _UNKNOWN
    return Download(found, revision_of(content), kind, len(content), base64.b64encode(content).decode())


def read_image(
    workspace: Workspace,
    path: Annotated[str, "The picture: PNG, JPEG, GIF or WebP"],
    max_bytes: Annotated[int, "Refuse larger files", Ge(1), Le(_LARGEST)] = _LARGEST_PICTURE,
) -> Picture:
    """Look at a picture.

    Raises:
        NotFound: If there is no such file.
        InvalidInput: If it is no picture of these kinds, whatever its name says, or too large.
    """
    found, content = _content(workspace, path, max_bytes)
    if (kind := _picture_type(content)) is None:
        raise InvalidInput(
            f"{found} is no PNG, JPEG, GIF or WebP",
            hint="Read text with read, others with download.",
            details={"path": found},
        )
    return Picture(found, revision_of(content), kind, len(content), base64.b64encode(content).decode())


def uploaded_text(result: Uploaded) -> str:
    """One line."""
    verb = {"added": "would add" if result.dry_run else "added", "known": "known already:"}[result.outcome]
    run = f", run {result.run}" if result.run else ""
    facts = f"{result.size} bytes, {result.media_type}, origin {result.origin}, revision {result.revision}{run}"
    first = f"{verb} {result.path} ({facts})"
    return "\n".join([first, *conflict_lines(result.conflict_copies)])


def download_text(result: Download) -> str:
    """One line; the bytes are in the data."""
    saved = f", saved as {result.saved_as}" if result.saved_as else ""
    return f"{result.path} ({counted(result.size, 'byte')}, {result.media_type}, revision {result.revision}){saved}"


def picture_text(result: Picture) -> str:
    """One line; the picture is in the data."""
    return f"{result.path} ({counted(result.size, 'byte')}, {result.media_type}, revision {result.revision})"


def _decoded(data: str) -> bytes:
    if len(data) > _LARGEST * 4 // 3 + 4:
        raise InvalidInput(
            f"this is more than {_LARGEST} bytes",
            hint="On the vault's own machine, the command line takes files of any size.",
        )
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"data is no base64: {error}", details={"field": "data"}) from error


def _filed(workspace: Workspace, name: str | None) -> VaultPath:
    if not name:
        raise InvalidInput("name is missing", hint="Say what the file is called.", details={"field": "name"})
    if "/" in (plain := parse_path(name)) or plain.endswith(SIDECAR_SUFFIX):
        raise InvalidInput(f"{name!r} is no name for a resource", hint="Give a name without folders.")
    check_portable(plain)
    if (shorter := portable_name(plain, room=len(SIDECAR_SUFFIX))) != plain:
        raise InvalidInput(f"{plain[:40]}… is too long to have a {SIDECAR_SUFFIX} beside it", hint=f"Call it {shorter}")
    folder = workspace.vault.layout.resource
    return parse_path(f"{folder}/{workspace.clock.today().isoformat()}/{plain}")


def _known(workspace: Workspace, revision: Revision) -> VaultPath | None:
    """The resource that has this content already."""
    look(workspace)
    kept = workspace.index.notes(Filter(layers=frozenset({"resource"})))
    return next((note.path for note in kept if note.revision == revision and not _is_sidecar(note.path)), None)


def _is_sidecar(path: VaultPath) -> bool:
    return path.endswith(SIDECAR_SUFFIX)


def _saved(workspace: Workspace, path: VaultPath, into: LocalFile) -> Download:
    if into.place.is_dir():
        into = LocalFile(into.place / basename(path))
    if into.place.resolve().is_relative_to(workspace.vault.root):
        raise InvalidInput(f"{into} is inside the vault", hint="Copy it there with: `copy`")
    found = digest()

    def passing() -> Iterator[bytes]:
        for piece in workspace.vault.pieces(path):
            found.update(piece)
            yield piece

    size = into.write(passing())
    kind = mimetypes.guess_type(path)[0] or _UNKNOWN
    return Download(path, Revision(found.hexdigest()), kind, size, "", str(into.place))


def _content(workspace: Workspace, path: str, limit: int) -> tuple[VaultPath, bytes]:
    found = workspace.vault.find(path)
    with workspace.vault.open(found) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        facts = workspace.vault.stat(found)
        raise InvalidInput(
            f"{found} has {facts.size if facts else 'more'} bytes, more than {limit}",
            hint="Read text by lines; on the vault's own machine, the command line saves a download of any size.",
            details={"path": found, "limit": limit},
        )
    return found, content


def _picture_type(content: bytes) -> str | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None
