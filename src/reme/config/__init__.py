"""Settings: defaults, then the vault's ``reme.yaml``, then the environment; and which vault is meant.

Owns the file's format and is the only room that reads the environment. Knows no operation and no face.
"""

from reme.surface import offer

offer(__name__)
