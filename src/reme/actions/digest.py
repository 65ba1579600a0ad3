"""The digest's folders: where a new node goes, and the generated view of the buckets.

Owns the names in ``digest/``. Knows nothing of what nodes say.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from reme.actions.notes import with_frontmatter
from reme.markdown import with_region
from reme.paths import VaultPath, basename, fold, is_markdown, parse_path, stem
from reme.reason import Bucket
from reme.vault import Amend, Layout, Vault

__all__ = ["BUCKETS_VIEW", "bucket_of", "buckets_view", "free_node_path", "is_node", "node_paths", "view_edit"]

BUCKETS_VIEW: Final = "_buckets.md"
_REGION: Final = "buckets"


def is_node(layout: Layout, path: VaultPath) -> bool:
    """Whether a path is a digest node: a note in a bucket's folder, no generated view."""
    inside = path.removeprefix(f"{layout.digest}/")
    return inside != path and "/" in inside and is_markdown(path) and not basename(path).startswith("_")


def bucket_of(layout: Layout, path: VaultPath) -> str:
    """The bucket that a node lies in."""
    return path.removeprefix(f"{layout.digest}/").partition("/")[0]


def node_paths(vault: Vault) -> list[VaultPath]:
    """Every node, by path."""
    folder = parse_path(vault.layout.digest)
    files = vault.scan(folder).files if vault.is_folder(folder) else ()
    return [file.path for file in files if is_node(vault.layout, file.path)]


def free_node_path(vault: Vault, bucket: str, slug: str, also: Iterable[VaultPath] = ()) -> VaultPath:
    """The path for a new node: its slug is unique in all of the digest, in any case, ``also`` counted in."""
    taken = {fold(stem(path)) for path in (*node_paths(vault), *also)}
    number = 1
    while fold(name := slug if number == 1 else f"{slug}-{number}") in taken:
        number += 1
    return parse_path(f"{vault.layout.digest}/{bucket}/{name}.md")


def view_edit(vault: Vault, buckets: Sequence[Bucket], fallback: str, extra: Sequence[VaultPath] = ()) -> Amend:
    """The edit that brings ``digest/_buckets.md`` up to date.

    Args:
        extra: Nodes that the same change set makes.
    """
    nodes = [bucket_of(vault.layout, path) for path in dict.fromkeys([*node_paths(vault), *extra])]
    path = parse_path(f"{vault.layout.digest}/{BUCKETS_VIEW}")
    return Amend(path, lambda data: buckets_view(data, buckets, fallback, nodes))


def buckets_view(data: bytes | None, buckets: Sequence[Bucket], fallback: str, nodes: Sequence[str]) -> bytes:
    """``digest/_buckets.md`` with its generated region brought up to date.

    Args:
        data: The file as it is, None if absent.
        nodes: The bucket of every node.
    """
    if data is None:
        data = with_frontmatter({"name": "Buckets", "description": "What the digest is sorted by"}) + b"\n"
    counts = Counter(nodes)
    described = {bucket.name: bucket.description for bucket in buckets}
    if counts[fallback]:
        described[fallback] = "What fits none of the others."
    lines = [f"- **{name}** ({counts[name]}): {description}" for name, description in described.items()]
    return with_region(data, _REGION, "\n".join(lines).encode("utf-8"))
