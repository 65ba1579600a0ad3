"""The MCP face: a vault's operations as tools, over standard input and output, for clients of both protocol eras.

Owns frames, the two handshakes and the shape of tools. Knows no operation by name.
"""

from reme.faces.mcp.stdio import serve_vault

__all__ = ["serve_vault"]
