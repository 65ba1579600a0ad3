"""What nodes have learnt from which source, as the ledger tells it.

Owns what tools read of the ledger: the lines of kind ``derived``, which actions write.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault import Vault

__all__ = ["Learnt", "learnt"]


class Learnt(NamedTuple):
    """A statement that a node took from a source, as it stood there at a revision, and how the node states it."""

    node: VaultPath
    source: VaultPath
    revision: Revision
    text: str
    stated: str


def learnt(vault: Vault, node: VaultPath | None = None) -> Iterator[Learnt]:
    """What nodes have learnt, one of them if it is named, in the order of learning; damaged lines are passed over."""
    named = b'"derived"' if node is None else json.dumps(node, ensure_ascii=False).encode()
    for raw in (vault.bytes_of(vault.layout.ledger) or b"").splitlines():
        if named not in raw or b'"derived"' not in raw:
            continue
        try:
            record: Any = json.loads(raw)
            by, source, revision = VaultPath(record["node"]), VaultPath(record["source"]), Revision(record["revision"])
            texts = [(str(each["text"]), str(each.get("stated") or each["text"])) for each in record["statements"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if node in (None, by):
            yield from (Learnt(by, source, revision, text, stated) for text, stated in texts)
