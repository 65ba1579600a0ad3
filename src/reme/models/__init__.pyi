from reme.models.chat import CHAT_MODELS, ChatModel, Reply, open_chat
from reme.models.choose import EMBEDDERS, is_installed, open_embedder
from reme.models.embedder import Calibration, Embedder, Vectors
from reme.models.settings import ChatSettings, EndpointSettings

__all__ = [
    "CHAT_MODELS",
    "EMBEDDERS",
    "Calibration",
    "ChatModel",
    "ChatSettings",
    "Embedder",
    "EndpointSettings",
    "Reply",
    "Vectors",
    "is_installed",
    "open_chat",
    "open_embedder",
]
