"""The reasoner that asks a chat model.

Owns the prompts, what of the material goes into them and how an answer becomes a decision; what a day of it may cost;
what is done where the model does not answer. Everything that a model says is checked at the edge and is a number or a
text from then on. Knows nothing of files.
"""

from reme.reason.model.asking import Asking
from reme.reason.model.budget import Budget, Prices
from reme.reason.model.falling_back import FallingBack
from reme.reason.model.prompts import LANGUAGES, PROMPTS, Prompts, prompt_name
from reme.reason.model.reasoner import ModelReasoner

__all__ = [
    "LANGUAGES",
    "PROMPTS",
    "Asking",
    "Budget",
    "FallingBack",
    "ModelReasoner",
    "Prices",
    "Prompts",
    "prompt_name",
]
