"""Models: embedders, which turn texts into vectors.

Owns which there are and how each is run. Must not know the index, notes or the vault: texts come in, numbers go out.
"""

from reme.models.choose import EMBEDDERS, is_installed, open_embedder
from reme.models.embedder import Calibration, Embedder, Vectors
from reme.models.settings import EndpointSettings

__all__ = [
    "EMBEDDERS",
    "Calibration",
    "Embedder",
    "EndpointSettings",
    "Vectors",
    "is_installed",
    "open_embedder",
]
