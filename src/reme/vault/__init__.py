"""The vault: files, change sets, journal, roles and conservation laws.

Owns every way in which a vault's files are read or written. Must not know indexes, models or faces.
"""

from reme.surface import offer

offer(__name__)
