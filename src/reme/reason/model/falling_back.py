"""A reasoner that remembers a conversation without the model where the model does not answer.

Owns the rule: whoever waits for an answer gets one that was made without the model, and is told; what runs in the
background waits for the model instead. Answers that are of no use are no reason to do without it.
"""

from collections.abc import Sequence

from reme.errors import Unavailable
from reme.reason.decisions import Event, Message, OpenEvent
from reme.reason.model.asking import Asking
from reme.reason.model.reasoner import ModelReasoner
from reme.reason.offline import OfflineReasoner
from reme.reason.port import Unusable

__all__ = ["FallingBack"]


class FallingBack(ModelReasoner):
    """A ``ModelReasoner`` whose memory goes on without the model."""

    def __init__(self, asking: Asking) -> None:
        super().__init__(asking)
        self._gone = False
        self._offline = OfflineReasoner()

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        """Cut a dialogue into events; once the model has not answered, it is not asked again."""
        said = ()
        if not self._gone:
            try:
                return await super().segment(messages, open_events, hint)
            except Unusable:
                raise
            except Unavailable as error:
                self._gone = True
                said = (Event(None, "", "", "", (), (f"{error.message}; this was decided without a model",)),)
        return (*await self._offline.segment(messages, open_events, hint), *said)
