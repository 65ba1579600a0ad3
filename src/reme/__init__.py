"""ReMe: a memory for people and their agents that lives in Markdown files and looks after itself."""

__all__ = ["__version__"]

__version__ = "0.1.0"
