"""Documents (PDF, DOCX, PPTX, XLSX, EPUB): their text is taken out behind the rows, once for each content.

Owns when and how that is tried, and what becomes of failures. The converter runs in a process of its own, with a
time-out and a limit of memory: a document may bring that down, and nothing else.
"""

import json
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Self

from reme.errors import NotFound, ReMeError, Unavailable
from reme.index.extract import converter
from reme.index.port import Index
from reme.index.project import Projector
from reme.index.rows import Taken, WaitingDocument
from reme.paths import suffix
from reme.vault import Vault

__all__ = ["Extracted", "Extractor", "take_texts"]

_TIMEOUT_S: Final = 60.0
_END_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a run over the documents did.

    Attributes:
        done: Documents that were read, ``failed`` ones among them.
        failed: Documents that could not be read: that is kept, too, and not tried again.
        pending: Documents that are still to be read.
        problem: The last failure, or empty.
    """

    done: int = 0
    failed: int = 0
    pending: int = 0
    problem: str = ""


def take_texts(
    index: Index,
    vault: Vault,
    *,
    most: int | None = None,
    timeout: float = _TIMEOUT_S,
    stop: Callable[[], bool] = lambda: False,
) -> Extracted:
    """Take the text out of each document that has not been read yet, the newest first; none without the extra.

    Args:
        index: The index.
        vault: The vault that it is of.
        most: How many documents to read, or None for all.
        timeout: Seconds for one of them.
        stop: Asked between two.

    Raises:
        Unavailable: If the index cannot be written.
    """
    made_by = converter()
    waiting = index.waiting_documents(made_by)
    if not waiting or not made_by:
        return Extracted(pending=len(waiting))
    projector = Projector(index.layout, index.settings, index.tokenizer)
    done = failed = 0
    problem = ""
    with Extractor(timeout) as extractor:
        for document in waiting[:most]:
            if stop():
                break
            try:
                file = vault.read(document.path)
            except NotFound:
                continue  # the next scan sees that it is gone
            except ReMeError as error:
                problem = error.message
                continue
            if file.revision != document.revision:
                continue  # the next scan sees that it has changed
            taken = extractor.take(suffix(document.path), file.data, made_by)
            _keep(index, projector, document, taken)
            done += 1
            if taken.problem:
                failed, problem = failed + 1, f"{document.path}: {taken.problem}"
    return Extracted(done, failed, len(index.waiting_documents(made_by)), problem)


def _keep(index: Index, projector: Projector, document: WaitingDocument, taken: Taken) -> None:
    with index.writing(settle=True) as writer:
        writer.keep_text(document.revision, taken)
        stamp = writer.stamps([document.path]).get(document.path)
        if stamp is not None and stamp.revision == document.revision:
            writer.put(projector.project_document(document.path, stamp, taken))


class Extractor:
    """The process that takes texts out: started when it is needed, and again after a document brought it down."""

    def __init__(self, timeout: float = _TIMEOUT_S) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process. Idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue  # it is gone already
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def take(self, ending: str, data: bytes, made_by: str) -> Taken:
        """The text of one document, or why there is none.

        Raises:
            Unavailable: If no process can be started.
        """
        answer: list[dict[str, Any]] = []
        process = self._running()
        talk = threading.Thread(target=_talk, args=(process, ending, data, answer), daemon=True)
        talk.start()
        talk.join(self._timeout)
        late = talk.is_alive()
        if late or not answer:
            process.kill()
            talk.join()
            self.close()
            problem = f"it took longer than {self._timeout:g} seconds" if late else "the converter broke down"
            return Taken(made_by, b"", problem)
        said = answer[0]
        if problem := str(said.get("problem", "")):
            return Taken(made_by, b"", problem)
        return Taken(made_by, zlib.compress(json.dumps(said["parts"], ensure_ascii=False).encode("utf-8", "replace")))

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self.close()
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "reme.index.convert"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                raise Unavailable(f"no process for documents can be started: {error}") from error
        return self._process


def _talk(process: "subprocess.Popen[bytes]", ending: str, data: bytes, answer: list[dict[str, Any]]) -> None:
    source, sink = process.stdout, process.stdin
    if source is None or sink is None:
        return
    try:
        sink.write(json.dumps({"ending": ending, "size": len(data)}).encode() + b"\n" + data)
        sink.flush()
        if line := source.readline():
            answer.append(json.loads(source.read(json.loads(line)["size"])))
    except (OSError, ValueError):
        return
