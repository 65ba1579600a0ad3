"""What ReMe does by itself: each action gathers, lets a reasoner decide, and commits.

Owns the actions, their settings, the format of what they write (dialogues, event notes, nodes, ledger, reports). Must
not know faces, configuration files or how a reasoner decides.
"""

from reme.surface import offer

offer(__name__)
