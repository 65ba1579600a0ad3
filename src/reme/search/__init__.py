"""Search: ranking, grouping, neighbours and traversal over an index.

Owns every formula of ranking. Read-only. Must not know stores, models or faces.
"""

from reme.surface import offer

offer(__name__)
