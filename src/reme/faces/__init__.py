"""Where people and agents come in. Each face is a package of its own and knows no operation by name."""

__all__ = ()
