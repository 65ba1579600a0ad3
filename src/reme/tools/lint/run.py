"""The tool: which rules look where, and the one fix that is mechanical.

Owns the report. The rules are beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from annotated_types import Ge, Le

from reme.errors import InvalidInput
from reme.index import Filter
from reme.markdown import Link, Note, parse, resolve, retarget
from reme.paths import VaultPath, parse_path
from reme.revision import revision_of
from reme.search import filter_of
from reme.tools.changes import conflict_lines, submit
from reme.tools.freshness import catch_up, look
from reme.tools.lint.files import collisions, frontmatter, resources, schema
from reme.tools.lint.finding import Finding, Rule, Survey
from reme.tools.lint.links import dangling, is_short, non_literal, orphans, with_candidates
from reme.tools.lint.provenance import provenance
from reme.tools.sidecars import SIDECAR_SUFFIX
from reme.tools.workspace import Workspace
from reme.vault import Committed, Edit, Put
from reme.wording import counted

__all__ = ["Fixed", "LintReport", "has_findings", "lint", "lint_text", "orphan_paths", "undigested_paths"]

_RULES: Final[Mapping[Rule, Callable[[Survey], Iterator[Finding]]]] = {
    "dangling": dangling,
    "orphans": orphans,
    "collisions": collisions,
    "schema": schema,
    "links": non_literal,
    "provenance": provenance,
    "frontmatter": frontmatter,
    "resources": resources,
}
_UNASKED: Final = frozenset(_RULES) - {"links"}
"""The rules that look where none is named: short links are a matter of taste."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A note whose links were spelled literally, and how many."""

    path: VaultPath
    links: int


@dataclass(frozen=True, slots=True)
class LintReport:
    """What is not as it should be.

    Attributes:
        findings: By path and line, the first of ``total``; what was fixed is not among them.
        total: How many there are.
        by_rule: How many of each rule.
        checked: How many files were looked at.
        truncated: Whether there are more than are shown.
        fixed: The notes that were put right, or with ``dry_run`` would be.
        run: The run to show or undo; empty where nothing was written.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
    """

    findings: tuple[Finding, ...]
    total: int
    by_rule: dict[str, int]
    checked: int
    truncated: bool
    fixed: tuple[Fixed, ...] = ()
    run: str = ""
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


def lint(
    workspace: Workspace,
    paths: Annotated[list[str] | None, "Only these folders, files, or what matches these globs"] = None,
    rules: Annotated[list[Rule] | None, "Only these rules; without, all but links"] = None,
    fix: Annotated[bool, "Spell links literally, with the whole path; without rules, of them all"] = False,
    dry_run: Annotated[bool, "With fix: only say what would be done"] = False,
    limit: Annotated[int, "How many findings to show, at most", Ge(1), Le(10_000)] = 200,
) -> LintReport:
    """Look for what is wrong in the vault: links, names, frontmatter, sources, resources.

    Raises:
        NotFound: If nothing is at a path.
        InvalidInput: If there is nothing to fix by these rules.
        Refused: For a path outside the vault, or if the role may not fix.
    """
    chosen = frozenset(rules) if rules else frozenset(_RULES) if fix else _UNASKED
    if fix and "links" not in chosen:
        raise InvalidInput(f"nothing of {', '.join(sorted(chosen))} can be fixed mechanically", hint="Only links can.")
    fixed, run, copies = _fix(workspace, paths, dry_run=dry_run) if fix else ((), "", ())
    survey = _survey(workspace, paths)
    found = [finding for rule, examine in _RULES.items() if rule in chosen for finding in examine(survey)]
    if "provenance" in chosen:
        cited = {(f.path, f.line, f.target) for f in found if f.rule == "provenance"}
        found = [f for f in found if f.rule != "dangling" or (f.path, f.line, f.target) not in cited]
    found.sort(key=lambda finding: (finding.path, finding.line, finding.rule, finding.message))
    return LintReport(
        tuple(with_candidates(survey, found[:limit])),
        len(found),
        dict(sorted(Counter(finding.rule for finding in found).items())),
        len(survey.scope),
        len(found) > limit,
        fixed,
        run,
        copies,
        dry_run,
    )


def has_findings(report: LintReport) -> bool:
    """Whether anything is left to see to."""
    return report.total > 0


def lint_text(report: LintReport) -> str:
    """One line a finding, then how many."""
    lines: list[str] = []
    if report.fixed:
        links = sum(note.links for note in report.fixed)
        verb = "would spell" if report.dry_run else "spelled"
        run = f" (run {report.run})" if report.run else ""
        lines.append(f"{verb} {counted(links, 'link')} literally{run}:")
        lines += [f"  {note.path} ({note.links})" for note in report.fixed]
    lines += conflict_lines(report.conflict_copies)
    lines += [_line(finding) for finding in report.findings]
    if report.truncated:
        lines.append(f"{report.total - len(report.findings)} more: raise the limit")
    counts = ", ".join(f"{count} {rule}" for rule, count in report.by_rule.items())
    found = f"{counted(report.total, 'finding')} in {counted(report.checked, 'file')}"
    lines.append(f"{found} ({counts})" if counts else found)
    return "\n".join(lines)


def orphan_paths(workspace: Workspace) -> frozenset[VaultPath]:
    """The notes that nothing refers to and that link nothing, and the resources that nothing refers to."""
    survey = _surveyed(workspace, Filter())
    return _unread(survey) | {finding.path for finding in orphans(survey)}


def undigested_paths(workspace: Workspace) -> frozenset[VaultPath]:
    """The resources that nothing refers to, so that nobody has read them into a note yet."""
    return _unread(_surveyed(workspace, Filter()))


def _unread(survey: Survey) -> frozenset[VaultPath]:
    resource = (note.path for note in survey.notes.values() if note.layer == "resource")
    return frozenset(path for path in resource if path not in survey.inlinks and not path.endswith(SIDECAR_SUFFIX))


def _line(finding: Finding) -> str:
    near = (
        f"; perhaps {', '.join(finding.candidates[:3])}" if finding.rule != "collisions" and finding.candidates else ""
    )
    fix = f" [fix: {finding.fix}]" if finding.fix else ""
    return f"{finding.path}:{finding.line} {finding.rule}: {finding.message}{near}{fix}"


def _survey(workspace: Workspace, paths: Sequence[str] | None) -> Survey:
    look(workspace)
    return _surveyed(workspace, _wanted(workspace, paths))


def _wanted(workspace: Workspace, paths: Sequence[str] | None) -> Filter:
    return filter_of(workspace.index, workspace.clock, paths=[_spelled(workspace, path) for path in paths or ()])


def _spelled(workspace: Workspace, raw: str) -> str:
    """A path as given, or with the ``.md`` that was left out."""
    if any(char in raw for char in "*?["):
        return raw
    path = parse_path(raw, root=True)
    note = VaultPath(path + ".md")
    return note if path and not workspace.vault.is_folder(path) and workspace.index.note(note) else raw


def _surveyed(workspace: Workspace, wanted: Filter) -> Survey:
    notes = {note.path: note for note in workspace.index.notes()}
    scope = tuple(notes) if not wanted.paths else tuple(note.path for note in workspace.index.notes(wanted))
    return Survey(workspace, notes, scope)


def _fix(
    workspace: Workspace, paths: Sequence[str] | None, *, dry_run: bool
) -> tuple[tuple[Fixed, ...], str, tuple[VaultPath, ...]]:
    fixed: list[Fixed] = []

    def gather() -> list[Edit]:
        catch_up(workspace)
        fixed.clear()
        edits: list[Edit] = []
        survey = _surveyed(workspace, _wanted(workspace, paths))
        for path in sorted({finding.path for finding in non_literal(survey) if finding.fix}):
            data = workspace.vault.bytes_of(path)
            if data is None or (note := parse(data)).encoding != "utf-8":
                continue
            spelled, count = _literal(workspace, note, path)
            if count:
                fixed.append(Fixed(path, count))
                edits.append(Put(path, spelled, revision_of(data), retarget=True, note=note))
        return edits

    outcome = submit(workspace, gather, reason="spell links literally", dry_run=dry_run)
    if dry_run:
        return tuple(fixed), "", ()
    if not isinstance(outcome, Committed):
        return (), "", ()
    return tuple(fixed), workspace.caller.run, outcome.conflict_copies


def _literal(workspace: Workspace, note: Note, path: VaultPath) -> tuple[bytes, int]:
    """A note's bytes with its wikilinks spelled literally, and how many changed; those that cannot be stay."""
    names = workspace.index.names
    targets: dict[Link, VaultPath] = {}
    for link in note.links:
        found = resolve(link.target, path, names) if link.kind in ("wiki", "embed") else None
        if found is not None and is_short(link.target, found) and resolve(found, path, names) == found:
            targets[link] = found
    try:
        return retarget(note, targets.get), len(targets)
    except InvalidInput:
        return _literal_one_by_one(note, targets)


def _literal_one_by_one(note: Note, targets: Mapping[Link, VaultPath]) -> tuple[bytes, int]:
    possible: dict[Link, VaultPath] = {}
    for link, target in targets.items():
        try:
            retarget(note, {link: target}.get)
        except InvalidInput:
            continue
        possible[link] = target
    return retarget(note, possible.get), len(possible)
