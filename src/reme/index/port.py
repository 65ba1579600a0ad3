"""The port: what every index answers and takes.

Owns the contract only; knows no store. An index is a projection of the vault's files: it may be thrown away any time.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from reme.index.renames import Renames
from reme.index.rows import (
    ANY,
    Around,
    Bm25,
    ChunkEntry,
    ChunkKey,
    Direction,
    Edge,
    Entry,
    FileProblem,
    Filter,
    IndexedNote,
    IndexSettings,
    KeywordStatistics,
    LinkKey,
    NamedFile,
    Neighbour,
    Stamp,
    Standing,
    Status,
    Step,
    StoredChunk,
    StoredLink,
    Taken,
    Unembedded,
    WaitingDocument,
)
from reme.index.tokens import Tokenizer
from reme.markdown import Names
from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault import Layer, Layout, Stat

__all__ = ["Index", "Writer"]


class Writer(Protocol):
    """One batch of changes, applied as a whole or not at all."""

    def stamps(self, paths: Iterable[VaultPath]) -> dict[VaultPath, Stamp]:
        """What the index has seen of those of these files that it knows, now that nobody else can change it."""
        ...

    def put(self, entry: Entry) -> None:
        """Make the index hold this of a file."""
        ...

    def extend(self, path: VaultPath, chunks: Sequence[ChunkEntry]) -> None:
        """Add further chunks of a file that was put in this batch."""
        ...

    def leave(self) -> int:
        """Leave the file that was put last unfinished, as its stamp then says; returns how many chunks it has."""
        ...

    def resume(self, entry: Entry, chunks: int) -> None:
        """Go on with a file that an earlier batch left unfinished behind so many chunks."""
        ...

    def kept_text(self, revision: Revision, made_by: str) -> Taken | None:
        """The text of a document of this content, if this converter has taken it out."""
        ...

    def keep_text(self, revision: Revision, taken: Taken) -> None:
        """Keep the text of a document of this content; it outlives the file's rows."""
        ...

    def touch(self, path: VaultPath, stamp: Stamp) -> None:
        """Note that a file has new times but the same bytes."""
        ...

    def remove(self, path: VaultPath) -> None:
        """Forget a file."""
        ...

    def skip(self, skipped: Sequence[tuple[str, str]]) -> None:
        """Note what of the vault is not indexed, with reasons."""
        ...


class Index(Protocol):
    """A disposable projection of a vault: files, chunks, keywords, links, tags and properties.

    Every method may raise ``IndexDamaged``, and ``Unavailable`` where the store cannot be reached.
    """

    layout: Layout
    settings: IndexSettings
    tokenizer: Tokenizer
    """For what is written: only to be used while writing, since it cannot be shared."""

    @property
    def names(self) -> Names:
        """The names by which links find files."""
        ...

    def close(self) -> None:
        """Give everything back. Idempotent."""
        ...

    def guarded(self, guard: Callable[[], None]) -> "Index":
        """The same index, which asks the guard in each write transaction when nobody else can write any more.

        Args:
            guard: Raises where this writer may not write; nothing of the transaction is kept then.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Have this thread's reads in the block see one state."""
        ...

    # Files

    def note(self, path: VaultPath) -> IndexedNote | None:
        """One file, or None."""
        ...

    def notes(self, wanted: Filter = ANY) -> list[IndexedNote]:
        """Files, by path."""
        ...

    def files(self, wanted: Filter = ANY) -> list[NamedFile]:
        """What files are called, by path."""
        ...

    def rows_of(self, paths: Sequence[VaultPath]) -> dict[VaultPath, NamedFile]:
        """Those of these files that there are."""
        ...

    def tags(self) -> list[tuple[str, int]]:
        """Tags with the number of files that have them, by tag."""
        ...

    def tags_among(self, tags: Sequence[str]) -> frozenset[str]:
        """Those of these tags, case-folded, that any file has, or one nested below."""
        ...

    def keys(self, among: Sequence[str] = ()) -> frozenset[str]:
        """The keys of properties and fields that any note gives a value, case-folded; of these, if any are named."""
        ...

    def layers(self) -> dict[Layer, int]:
        """How many files it knows of each layer that has any."""
        ...

    def densities(self, folder: str) -> dict[str, int]:
        """How many notes lie directly in each folder at or below this one that holds any, by folder."""
        ...

    def has_folder(self, path: str) -> bool:
        """Whether any indexed file is at or below a path."""
        ...

    def problems(self) -> list[FileProblem]:
        """What is wrong with files, by path."""
        ...

    def skipped(self) -> list[tuple[str, str]]:
        """What of the vault is not indexed, with reasons."""
        ...

    def status(self) -> Status:
        """Counts and state."""
        ...

    def generation(self) -> str:
        """Names what it holds since it was last empty: another name means that all is to be taken in anew."""
        ...

    def position(self) -> int:
        """Grows with every applied batch."""
        ...

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that it holds, in a form that does not depend on how it came to hold it."""
        ...

    # Links

    def links_from(self, path: VaultPath) -> list[Edge]:
        """The links of a file in the order in which they stand there, images included."""
        ...

    def links_to(self, path: VaultPath) -> list[Edge]:
        """The links that lead to a file, images included, by source and line."""
        ...

    def steps(
        self,
        paths: Sequence[VaultPath],
        direction: Direction,
        predicates: Sequence[str] = (),
        among: Sequence[VaultPath] | None = None,
    ) -> list[Step]:
        """The edges of the graph (no images, none from a file to itself) that leave or reach any of these files.

        In the order of the files, then by source and place.

        Args:
            predicates: Only edges with one of these; all where empty.
            among: Only edges whose other end is one of these or no file; all where None.
        """
        ...

    def links(self, keys: Sequence[LinkKey]) -> dict[LinkKey, StoredLink]:
        """How these links are written."""
        ...

    def predicates(self) -> frozenset[str]:
        """The predicates that any edge has."""
        ...

    def unresolved(self) -> list[Edge]:
        """The edges whose target is no file, by source and line."""
        ...

    def referrers(self, path: VaultPath) -> list[VaultPath]:
        """The files that have a link (of any kind) which leads to this one."""
        ...

    def sources_naming(self, name: str) -> list[VaultPath]:
        """The files that have a link whose last component is this name, in any case, with or without ``.md``.

        These are the links that a file of that name, or with that alias, may come to or cease to be the target of.
        """
        ...

    def links_naming(self, name: str) -> list[Edge]:
        """These links themselves, images included, by source and place."""
        ...

    def inlinks(self, paths: Sequence[VaultPath]) -> dict[VaultPath, int]:
        """How many other files refer to each; generated views, reports, dialogues and the archive do not count."""
        ...

    def neighbours(
        self,
        paths: Sequence[VaultPath],
        direction: Direction,
        limit: int,
        without_layers: frozenset[Layer] = frozenset(),
    ) -> list[Neighbour]:
        """At most so many files one link away from each of these: out in the order of the links, in by path."""
        ...

    # Keywords

    def terms(self, query: str) -> tuple[str, ...]:
        """The distinct terms of a query, in order; empty if it has none."""
        ...

    def statistics(self, terms: Sequence[str]) -> KeywordStatistics:
        """How common the terms are."""
        ...

    def matches(self, weights: Mapping[str, float], bm25: Bm25, wanted: Filter, limit: int) -> list[ChunkKey]:
        """The chunks that answer best to some terms, best first.

        Args:
            weights: The terms, each with its inverse document frequency.
            bm25: The constants.
            wanted: Which chunks may be among the best.
            limit: Most of them.
        """
        ...

    def gathered(
        self, weights: Mapping[str, float], bm25: Bm25, wanted: Filter, known: Collection[ChunkKey], limit: int
    ) -> list[ChunkKey]:
        """The best chunks of the files that hold most of several terms, though none of their chunks may hold all.

        Args:
            weights: The terms, each with its inverse document frequency.
            bm25: The constants.
            wanted: Which chunks may be among them.
            known: What matches best, whose files count among the most and are not given again.
            limit: Most files.
        """
        ...

    def held(self, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]) -> list[tuple[float, float]]:
        """Of each chunk, the weights of the terms that it holds, added up; and of those that its file holds."""
        ...

    def relevance(self, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]) -> dict[ChunkKey, float]:
        """BM25 of these chunks."""
        ...

    def standings(self, paths: Sequence[VaultPath]) -> dict[VaultPath, Standing]:
        """What ranking needs of those of these files that there are."""
        ...

    def around(self, keys: Sequence[ChunkKey], distance: int) -> Around:
        """These chunks and those within so many places of them in the same file."""
        ...

    def chunks(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, StoredChunk]:
        """Chunks to show."""
        ...

    # Vectors

    def model(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder that the vectors are of, or None if there are no vectors."""
        ...

    def use_model(self, name: str, dim: int) -> None:
        """Forget all vectors unless they are of this embedder."""
        ...

    def unembedded(self) -> list[ChunkKey]:
        """The chunks that have text and no vector: of the file modified last first, but of huge files last."""
        ...

    def to_embed(self, keys: Sequence[ChunkKey]) -> list[Unembedded]:
        """What of these chunks is to be embedded; what has come to have a vector, or is gone, is left out."""
        ...

    def put_vectors(self, vectors: Sequence[tuple[ChunkKey, str, bytes | None]]) -> None:
        """Give chunks their vectors, which are kept by the hash of what they are of.

        Args:
            vectors: Chunk, hash, and float32 numbers of at most unit length, as many as ``use_model`` has said; None
                for a vector that is known already. A chunk that is gone, or of another hash by now, is passed over.
        """
        ...

    def nearest(self, vector: bytes, wanted: Filter, limit: int) -> list[ChunkKey]:
        """The chunks whose vectors have the greatest cosine with this one (float32), among those wanted, best first."""
        ...

    def cosines(self, vector: bytes, keys: Sequence[ChunkKey]) -> dict[ChunkKey, float]:
        """The exact cosine (but for half precision) of each of these chunks that has a vector."""
        ...

    # Renames

    def keep_renames(self, renamed: Renames) -> None:
        """Remember that files have other paths now, for as long as they are there and nothing is at the old ones."""
        ...

    def renames(self) -> dict[VaultPath, VaultPath]:
        """Old and present path of files that other programs have given another one, where nothing is at the old one."""
        ...

    # Documents

    def waiting_documents(self, made_by: str) -> list[WaitingDocument]:
        """The documents whose text this converter has not taken out, that of the newest file first."""
        ...

    # Changes

    def stamps(self, paths: Iterable[VaultPath] | None = None) -> dict[VaultPath, Stamp]:
        """What it has seen of these files; of every one where none are named."""
        ...

    def unmet(self, files: Mapping[VaultPath, Stat]) -> tuple[list[Stat], dict[VaultPath, Stamp]]:
        """What has changed since it looked: those of the vault's files that it has not met as they are, by path, and
        what it has seen of files that are not among them any more.

        A file that could not be read counts as met, too.
        """
        ...

    def writing(self, *, settle: bool) -> AbstractContextManager[Writer]:
        """A batch of changes, applied when the block is left without an error.

        Args:
            settle: Whether to resolve the links that the batch affects at once; otherwise ``settle`` must follow.
        """
        ...

    def settle(self) -> None:
        """Resolve all links anew if batches have left that to be done."""
        ...

    def tidy(self) -> None:
        """Put together what came in many pieces. Nothing is found otherwise, but quicker: there is a time for it."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...
