"""MCP over standard input and output: one frame a line, and nothing but frames.

Owns the two descriptors, which are taken away from the rest of the process before anything else happens.
"""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal

from reme.faces.mcp.conversation import Conversation, Frame, Tools
from reme.faces.mcp.worker import Worker

__all__ = ["MAX_FRAME_BYTES", "serve", "serve_vault"]

MAX_FRAME_BYTES: Final = 32 * 1024 * 1024

_LINE_BREAKS: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})
"""What some clients take for the end of a line although JSON does not."""


def serve_vault(root: Path, role: Literal["agent", "curator"]) -> None:
    """Offer a vault to one client, with the rights of a role, until it closes our input."""

    def make_tools() -> Tools:
        from reme.app import open_vault
        from reme.faces.mcp.session import tools_of

        return tools_of(lambda: open_vault(root), role)

    serve(make_tools)


def serve(make_tools: Callable[[], Tools]) -> None:
    """Talk to one client until it closes our input; what it asked for before is still carried out.

    Args:
        make_tools: Makes what stands behind the conversation, in a thread of its own: the first answers need not wait.
    """
    with _private_streams() as (source, sink):
        worker = Worker(make_tools)
        conversation = Conversation(worker.tools, worker.start, _sender(sink))
        with contextlib.suppress(KeyboardInterrupt):
            for line in _lines(source):
                conversation.receive(line)
        worker.finish()


@contextlib.contextmanager
def _private_streams() -> Generator[tuple[BinaryIO, BinaryIO]]:
    """The protocol's own input and output; everybody else finds an empty input, and standard error as output.

    The descriptors 0 and 1 themselves are replaced, so that neither a child process nor a library in C gets in between.
    """
    sys.stdout.flush()
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb", buffering=0) as sink:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        yield source, sink


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines that are not blank. One that is too long comes as its beginning, which is no JSON."""
    while line := source.readline(MAX_FRAME_BYTES):
        rest = line
        while not rest.endswith(b"\n") and len(rest) == MAX_FRAME_BYTES:
            rest = source.readline(MAX_FRAME_BYTES)
        if line.strip():
            yield line


def _sender(sink: BinaryIO) -> Callable[[Frame], None]:
    lock = threading.Lock()

    def send(frame: Frame) -> None:
        text = json.dumps(frame, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_LINE_BREAKS)
        rest = memoryview(text.encode("utf-8", "replace") + b"\n")
        with lock, contextlib.suppress(BrokenPipeError):
            while rest:
                rest = rest[sink.write(rest) :]

    return send
