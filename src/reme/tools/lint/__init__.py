"""Lint: what in a vault's notes is not as it should be, found without changing anything unless asked to.

Owns the rules. Reads the index, and of the files only those that a finding depends on.
"""

from reme.tools.lint.finding import Finding, Rule
from reme.tools.lint.run import Fixed, LintReport, has_findings, lint, lint_text, orphan_paths, undigested_paths

__all__ = [
    "Finding",
    "Fixed",
    "LintReport",
    "Rule",
    "has_findings",
    "lint",
    "lint_text",
    "orphan_paths",
    "undigested_paths",
]
