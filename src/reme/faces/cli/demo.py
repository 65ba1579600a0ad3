"""``reme demo``: the example conversations, remembered and digested in a vault of their own, and a short tour of it.

Owns the order of the tour and how it looks. Goes in by the same door as everybody else: every step is an operation of
the catalogue, called with the rights of a person.
"""

import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import click

import reme
from reme.app import App, open_vault
from reme.config import create_vault
from reme.errors import Conflict, NotFound
from reme.faces.cli.bar import Bar
from reme.wording import counted

__all__ = ["run"]

_DEFAULT: Final = "reme-demo"
_ZONE: Final = "Asia/Shanghai"
_RESOURCE_DAY: Final = "2026-05-11"
_MOVED_DAY: Final = "2026-05-14"
_NOTE_LINES: Final = 18
_TOLD_LINES: Final = 2
_REACHED_LINES: Final = 9

_BRIEFLY: Final = {"top_chunks_per_path": 1, "max_links_per_direction": 1}
"""What of each hit the tour has room for."""

_SEARCHES: Final = (
    ("in Chinese", "青禾的预算", 2, ("daily", "digest")),
    ("for an exact name", "jwks_cache_ttl", 2, ()),
    ("for something that changed from one day to another", "when do we deploy the key rotation", 3, ("digest",)),
)


def run(folder: str | None = None) -> None:
    """Make a vault from the examples and show what is in it.

    Args:
        folder: Where; ``reme-demo`` in the present folder, or the next free name like it, if not given.

    Raises:
        Conflict: If the folder is not empty.
        NotFound: If the examples are not installed.
    """
    examples = _examples()
    root = _fresh(folder)
    started = time.monotonic()
    create_vault(root, {"TZ": _ZONE})
    with open_vault(root) as app:
        tour = _Tour(app, root)
        tour.learn(examples)
        tour.show_what_came_of_it(time.monotonic() - started)
        tour.ask()
        tour.change_and_take_back()
        tour.look_back()
    _say(_farewell(root, tour.node))


def _examples() -> Path:
    """Inside an installed package, or beside the source."""
    package = Path(reme.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "conversations").is_dir():
            return folder
    raise NotFound("the examples are not installed", hint="Install ReMe from its wheel or run it from its repository.")


def _fresh(folder: str | None) -> Path:
    """The folder for the new vault: the one that was named, if it is empty, else the first free one."""
    if folder is not None:
        root = Path(folder).expanduser()
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise Conflict(f"{folder} is not an empty folder", hint="Name one that is empty or does not exist yet.")
        return root
    number, root = 1, Path(_DEFAULT)
    while root.exists():
        number += 1
        root = Path(f"{_DEFAULT}-{number}")
    return root


class _Tour:
    """The tour through one vault.

    Attributes:
        node: The digest node that is shown; empty before there is one.
    """

    def __init__(self, app: App, root: Path) -> None:
        self._app = app
        self._root = root
        self.node = ""

    def _call(self, operation: str, **arguments: object) -> Any:
        return self._app.call(operation, arguments, role="person", actor="demo")

    def _text(self, operation: str, **arguments: object) -> str:
        return self._app.catalog[operation].text(self._call(operation, **arguments))

    def learn(self, examples: Path) -> None:
        """Documents become resources, conversations daily notes, and each day's notes knowledge."""
        steps: list[tuple[str, Callable[[], object]]] = []
        for path in sorted((examples / "documents").iterdir()):
            name, text = f"resource/{_RESOURCE_DAY}/{path.name}", path.read_text("utf-8")
            steps.append((path.name, lambda name=name, text=text: self._call("write", path=name, content=text)))
        conversations = sorted((examples / "conversations").glob("*.jsonl"))
        for day in sorted({path.stem[:10] for path in conversations}):
            steps += [(path.stem, self._remembering(path)) for path in conversations if path.stem.startswith(day)]
            steps.append((f"dreaming of {day}", lambda day=day: self._call("auto_dream", date=day, scan_days=1)))
        _say(f"Remembering {len(conversations)} conversations in English and Chinese in {self._root}/ ...")
        with Bar(shown=sys.stderr.isatty()) as progress:
            for number, (name, step) in enumerate(steps):
                progress(name, number, len(steps))
                step()

    def _remembering(self, path: Path) -> Callable[[], object]:
        text = path.read_text("utf-8")
        return lambda: self._call("auto_memory", messages=text, session_id=path.stem)

    def show_what_came_of_it(self, seconds: float) -> None:
        """The tree of notes with their links, then one note of each kind."""
        notes = [f.path for f in self._call("list", layers=["daily"], limit=1000).files if f.path.count("/") == 2]
        nodes = [f for f in self._call("list", layers=["digest"], limit=1000).files if f.path.count("/") == 2]
        edges = self._call("traverse", seeds=[f.path for f in nodes], limit=1000).edges
        sources: dict[str, set[str]] = {f.path: set() for f in nodes}
        related: dict[str, set[str]] = {f.path: set() for f in nodes}
        for edge in edges:
            if edge.predicate == "derived_from" and edge.source in sources:
                sources[edge.source].add(edge.target)
            elif edge.target in sources and edge.source in related:
                related[edge.source].add(edge.target)
        _title(f"What came of it, in {seconds:.1f} seconds: {len(notes)} daily notes, {len(nodes)} digest nodes")
        _say(*_days(notes))
        _say(*_tree((f.path, f.name, sources[f.path], related[f.path]) for f in nodes))
        self.node = max(nodes, key=lambda f: (len(sources[f.path]), len(related[f.path]), f.path)).path
        self._show_note("A daily note: what happened, and where it was said", min(sources[self.node]))
        self._show_note("A digest node: what is known, and from which notes", self.node)

    def _show_note(self, title: str, path: str) -> None:
        text = self._call("read", path=path).text
        _title(title, f"reme read {path}")
        _say(*_cut(text.splitlines(), _NOTE_LINES))

    def ask(self) -> None:
        """Searches with their evidence, then what is connected to a node."""
        for title, query, limit, layers in _SEARCHES:
            command = f'reme search "{query}" --full --limit {limit}'
            _title(f"Search, {title}", " ".join((command, *(f"--layers {layer}" for layer in layers))))
            found = self._text("search", query=query, full=True, limit=limit, layers=layers or None, **_BRIEFLY)
            _say(*(_clip(line) for hit in _hits(found) for line in _telling(hit, query)))
        relations = ["derived_from", "source"]
        command = f"reme traverse {self.node} --depth 2 --predicates {' --predicates '.join(relations)}"
        _title("Traverse: from what is known to what was said", command)
        text = self._text("traverse", seeds=[self.node], depth=2, predicates=relations)
        _say(*(_clip(line) for line in _cut(text.splitlines(), _REACHED_LINES)))

    def change_and_take_back(self) -> None:
        """Move a note that others link to, look at the links, undo it."""
        listed = self._call("list", path=f"daily/{_MOVED_DAY}", limit=1000).files
        source = max(listed, key=lambda f: len(self._call("stat", path=f.path).backlinks)).path
        target = f"daily/{_MOVED_DAY}/renamed-by-the-demo.md"
        _title("Move a note: every link to it follows", f"reme move {source} {target}")
        moved = self._call("move", source=source, target=target)
        diff = self._call("show", run=moved.run).diff.splitlines()
        for note in moved.retargeted:
            _say(f"{note.path}: {note.links} link{'s' * (note.links != 1)}")
        for sign, name, colour in (("-", source, "red"), ("+", target, "green")):
            lines = [line for line in diff if line.startswith(sign) and f"[[{name}" in line]
            _say(click.style(_clip(min(lines, key=len)), fg=colour))
        _title("Undo it: everything is as it was", f"reme undo {moved.run}")
        _say(self._text("undo", run=moved.run))

    def look_back(self) -> None:
        """What happened, run by run."""
        _title("What happened, newest first", "reme log --limit 4")
        _say(*map(_clip, self._text("log", limit=4).splitlines()))


def _title(title: str, command: str = "") -> None:
    click.echo()
    click.secho(f"━━ {title}", bold=True)
    if command:
        click.secho(f"$ {command}", fg="cyan")


def _say(*lines: str) -> None:
    for line in lines:
        click.echo(line)


def _days(paths: Iterable[str]) -> list[str]:
    """A line for each day's folder: the notes in it."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name.removesuffix(".md"))
    return [f"{click.style(folder + '/', fg='green')}  {' · '.join(names)}" for folder, names in folders.items()]


def _tree(entries: Iterable[tuple[str, str, set[str], set[str]]]) -> list[str]:
    """Nodes by folder, each with its title, how many notes it comes from, and the nodes that it links to."""
    lines: list[str] = []
    above = ""
    for path, name, sources, related in entries:
        folder, _, basename = path.rpartition("/")
        if folder != above:
            above = folder
            lines.append(click.style(f"{folder}/", fg="green"))
        remark = f"from {len(sources)} note{'s' * (len(sources) != 1)}"
        if related:
            remark += " → " + ", ".join(sorted(target.rpartition("/")[2] for target in related))
        lines.append(f"  {basename}  {click.style(f'{name}, {remark}', dim=True)}")
    return lines


def _hits(text: str) -> list[list[str]]:
    """The text form of a search, hit by hit."""
    hits: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("==========") and hits[-1]:
            hits.append([])
        hits[-1].append(line)
    return hits


def _telling(hit: Sequence[str], query: str) -> list[str]:
    """A hit with only those lines of its text that have most of the query's words, or pairs of Chinese characters."""
    begin = next(place for place, line in enumerate(hit) if line.startswith("--- @")) + 1
    end = next((place for place, line in enumerate(hit) if line.startswith(("outlinks (", "inlinks ("))), len(hit))
    words = [word for word in query.lower().split() if word.isascii()]
    words += [query[place : place + 2] for place in range(len(query) - 1) if not query[place : place + 2].isascii()]
    told = [line for line in hit[begin:end] if line.strip()]
    best = sorted(told, key=lambda line: -sum(word in line.lower() for word in words))[:_TOLD_LINES]
    left = [click.style(f"… {counted(len(told) - len(best), 'more line')}", dim=True)] if len(told) > len(best) else []
    return [*hit[:begin], *(line for line in told if line in best), *left, *hit[end:]]


def _cut(lines: Sequence[str], most: int) -> list[str]:
    if len(lines) <= most + 1:
        return list(lines)
    return [*lines[:most], click.style(f"… {counted(len(lines) - most, 'more line')}", dim=True)]


def _clip(line: str) -> str:
    """What of a line fits on one of the screen's; Chinese characters take two columns."""
    room = max(80, min(160, shutil.get_terminal_size((120, 24)).columns)) - 1
    for place, char in enumerate(line):
        room -= 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if room < 0:
            return line[:place] + "…"
    return line


def _farewell(root: Path, node: str) -> str:
    return f"""
{click.style("━━ What to try next", bold=True)}
  cd {root}
  reme search "能不能吃辣"
  reme read {node}
  reme traverse {node} --depth 2
  reme list digest
  reme log
  reme status
Open {root}/ in any editor: it is only files. Delete it when you are done."""
