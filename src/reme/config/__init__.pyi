from reme.config.loading import load_settings
from reme.config.options import (
    DigestSettings,
    DreamOptions,
    EndpointOptions,
    GitSettings,
    HttpSettings,
    LinkSettings,
    LLMOptions,
    MemoryOptions,
    Settings,
    VaultSettings,
)
from reme.config.vaults import create_vault, enclosing_vault, find_root

__all__ = [
    "DigestSettings",
    "DreamOptions",
    "EndpointOptions",
    "GitSettings",
    "HttpSettings",
    "LLMOptions",
    "LinkSettings",
    "MemoryOptions",
    "Settings",
    "VaultSettings",
    "create_vault",
    "enclosing_vault",
    "find_root",
    "load_settings",
]
