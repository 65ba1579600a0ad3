"""Random operations on vaults that people wrote: each changes its own spans alone, and undoing all restores all."""

import random
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reme.errors import Conflict, InvalidInput
from reme.markdown import Span, parse, splice
from reme.tools import append, copy, delete, edit, frontmatter_delete, frontmatter_update, lint, move, undo, write
from tests.tools.house import House

NAMES = ["dataview", "dendron-site", "foam-docs", "kepano-obsidian", "logseq-docs"]
FEW, MANY = 10, 1_000


class Scene:
    """A vault that is changed at random, held against what each change may touch."""

    def __init__(self, root: Path, seed: int) -> None:
        self.house = House(root)
        self.random = random.Random(seed)
        self.tree = self.house.tree()
        self.stamps = self._stamps()
        self.runs: list[str] = []

    def _stamps(self) -> dict[str, tuple[int, int, int]]:
        return {file.path: (file.size, file.mtime_ns, file.inode) for file in self.house.vault.scan().files}

    def changed(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """What has changed since the last look: path → bytes before and after."""
        stamps = self._stamps()
        paths = {path for path in stamps.keys() | self.stamps.keys() if stamps.get(path) != self.stamps.get(path)}
        before = {path: self.tree.get(path) for path in paths}
        self.stamps = stamps
        for path in paths:
            if path in stamps:
                self.tree[path] = self.house.data(path)
            else:
                del self.tree[path]
        return {path: (before[path], self.tree.get(path)) for path in paths if before[path] != self.tree.get(path)}

    def note(self) -> str:
        """Some note, links preferred: they are what can go wrong."""
        notes = sorted(path for path in self.stamps if path.endswith(".md"))
        linked = [path for path in self.random.sample(notes, min(8, len(notes))) if b"[[" in self.tree[path]]
        return self.random.choice(linked or notes)

    def fresh(self) -> str:
        folders = ["", "neu/", "笔记/", f"{self.note().rpartition('/')[0]}/".lstrip("/")]
        folder = self.random.choice(folders)
        return f"{folder}{self.random.choice(['plan', '会议', 'a b', 'v1.2'])} {self.random.randrange(10**6)}.md"

    def take(self, run: str) -> None:
        if run:
            self.runs.append(run)


def appends(scene: Scene) -> None:
    path = scene.note()
    scene.take(append(scene.house.ask(), path, "加一行 [[x]]\n\n- more").run)
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    assert before is not None
    assert after is not None
    assert after.startswith(before)


def edits(scene: Scene) -> None:
    path = scene.note()
    body = parse(scene.tree[path]).body
    text = scene.tree[path][body.start :].decode()
    at = scene.random.randrange(max(1, len(text) - 12))
    find = text[at : at + scene.random.randrange(1, 12)]
    if not find or text.count(find) != 1 or "\r" in find:
        return
    whole = scene.tree[path].decode()
    if whole.count(find) != 1:
        return
    scene.take(edit(scene.house.ask(), path, find, "替换 $1 \\g<0>").run)
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    assert before is not None
    assert after == before.replace(find.encode(), "替换 $1 \\g<0>".encode())


def sets_a_property(scene: Scene) -> None:
    path = scene.note()
    note = parse(scene.tree[path])
    key = scene.random.choice([*map(str, note.properties), "neu", "状态"])
    try:
        scene.take(frontmatter_update(scene.house.ask(), path, key, f"v: {scene.random.random()}").run)
    except InvalidInput:
        assert not scene.changed()
        return
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    _only_properties_differ(before, after, key)


def deletes_a_property(scene: Scene) -> None:
    path = scene.note()
    keys = sorted(map(str, parse(scene.tree[path]).properties))
    if not keys:
        return
    key = scene.random.choice(keys)
    try:
        scene.take(frontmatter_delete(scene.house.ask(), path, key).run)
    except InvalidInput:
        assert not scene.changed()
        return
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    _only_properties_differ(before, after, key)


def _only_properties_differ(before: bytes | None, after: bytes | None, key: str) -> None:
    assert before is not None
    assert after is not None
    old, new = parse(before), parse(after)
    assert before[old.body.start :] == after[new.body.start :]
    without = [{k: v for k, v in note.properties.items() if str(k) != key} for note in (old, new)]
    assert without[0] == without[1]
    lines = [note.source[: note.body.start].splitlines(keepends=True) for note in (old, new)]
    shared = _shared(*lines)
    behind = _shared(*(part[shared:][::-1] for part in lines))
    replaced = b"".join(lines[0][shared : len(lines[0]) - behind])
    assert {str(k) for k in parse(b"---\n" + replaced + b"---\n").properties} <= {key}


def _shared(first: list[bytes], second: list[bytes]) -> int:
    """How many lines two texts have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(first), len(second)))


def moves(scene: Scene) -> None:
    source, target = scene.note(), scene.fresh()
    if scene.random.random() < 0.2 and "/" in source:
        source, target = source.rpartition("/")[0] + "/", target.removesuffix(".md")
    try:
        result = move(scene.house.ask(), source, target)
    except (Conflict, InvalidInput):
        assert not scene.changed()
        return
    scene.take(result.run)
    changed = scene.changed()
    moved = {str(file.target): str(file.source) for file in result.files}
    retargeted = {str(entry.path) for entry in result.retargeted}
    assert set(changed) <= set(moved) | set(moved.values()) | retargeted
    for path in retargeted | set(moved):
        if path in changed:
            before = changed[moved.get(path, path)][0]
            _only_targets_differ(before, changed[path][1])


def spells_links_literally(scene: Scene) -> None:
    path = scene.note()
    report = lint(scene.house.ask(), [path.replace("[", "?")], ["links"], fix=True)
    scene.take(report.run)
    changed = scene.changed()
    assert set(changed) == {str(entry.path) for entry in report.fixed}
    for before, after in changed.values():
        _only_targets_differ(before, after)


def _only_targets_differ(before: bytes | None, after: bytes | None) -> None:
    assert before is not None
    assert after is not None
    around = []
    for data in (before, after):
        note = parse(data)
        start = note.body.start
        spans = [link.target_span for link in note.links if link.origin == "body"]
        around.append(splice(data[start:], [(Span(s.start - start, s.end - start), b"") for s in spans]))
    assert around[0] == around[1]
    assert len(parse(before).links) == len(parse(after).links)
    assert parse(before).properties.keys() == parse(after).properties.keys()


def makes_and_removes(scene: Scene) -> None:
    path = scene.fresh()
    match scene.random.randrange(3):
        case 0:
            scene.take(write(scene.house.ask(), path, "# 新\r\n\r\n[[x]]").run)
            assert scene.changed() == {path: (None, "# 新\r\n\r\n[[x]]".encode())}
        case 1:
            source = scene.note()
            scene.take(copy(scene.house.ask(), source, path).run)
            assert scene.changed() == {path: (None, scene.tree[source])}
        case _:
            source = scene.note()
            data = scene.tree[source]
            scene.take(delete(scene.house.ask(), source).run)
            assert scene.changed() == {source: (data, None)}


KINDS: list[Callable[[Scene], None]] = [
    appends,
    edits,
    sets_a_property,
    deletes_a_property,
    moves,
    moves,
    spells_links_literally,
    makes_and_removes,
]


@pytest.fixture
def scene(request: pytest.FixtureRequest, shared: Path, tmp_path: Path) -> Iterator[Scene]:
    with tarfile.open(shared / "data" / "vaults" / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path / "vault", filter="data")
    made = Scene(tmp_path / "vault", seed=7)
    yield made
    made.house.close()


def play(scene: Scene, count: int) -> None:
    original = scene.house.tree()
    for _ in range(count):
        scene.random.choice(KINDS)(scene)
    assert len(scene.runs) > count // 3
    for run in reversed(scene.runs):
        undo(scene.house.ask(), run)
    assert scene.house.tree() == original


@pytest.mark.parametrize("scene", NAMES, indirect=True)
def test_a_few(scene: Scene) -> None:
    play(scene, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("scene", NAMES, indirect=True)
def test_a_thousand(scene: Scene) -> None:
    play(scene, MANY)
