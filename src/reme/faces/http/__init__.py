"""The HTTP face: a vault's operations as addresses, and its notes as resources.

Owns the server, who is let in, and the forms of requests and answers. Knows no operation but those that notes are read
and written by.
"""

from reme.faces.http.server import serve_vault

__all__ = ["serve_vault"]
