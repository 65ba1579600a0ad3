"""Markdown notes as data: reading, cutting, comparing and editing them by span. Pure functions over bytes.

Owns the format of a note. Knows nothing of files, vaults or indexes.
"""

from reme.surface import offer

offer(__name__)
