"""The index: one disposable projection of a vault's files: keywords, links, tags, properties.

Owns the way from files to rows and every question about them. Must not know ranking, models or faces, and never writes
the vault.
"""

from reme.surface import offer

offer(__name__)
