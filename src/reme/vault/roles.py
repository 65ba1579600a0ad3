"""Who may write: the rights that a change set is made with. What each may do is the policy's business."""

from typing import Literal

__all__ = ["Role"]

Role = Literal["agent", "curator", "person", "system"]
