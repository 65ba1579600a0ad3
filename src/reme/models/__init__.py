"""Models: embedders, which turn texts into vectors, and chat models, which answer a text.

Owns which there are and how each is run. Must not know the index, notes, decisions or the vault: texts come in, numbers
or texts go out.
"""

from reme.surface import offer

offer(__name__)
