"""Decisions: what to remember, what it teaches and where it belongs.

Owns the decision points, their types, the reasoner that needs no model and the one that asks one. Knows nothing of
files, paths, Markdown or change sets: it is given numbered material and answers with texts and numbers.
"""

from reme.surface import offer

offer(__name__)
