"""The tools: one function for each thing that can be asked of a vault without thinking, with its result in words.

Every tool takes a ``Workspace`` and plain parameters and returns a frozen result. Owns what is asked and answered; how
files are kept, indexed and searched is the business of the rooms below. No model is ever asked here.
"""

from reme.surface import offer

offer(__name__)
