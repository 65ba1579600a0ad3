"""The offline reasoner: deterministic and extractive, with no model behind it, in English and Chinese.

Owns how decisions are made by rules and counting. Everything that it states is a sentence of its material, word for
word; contradictions it flags and never resolves; where it is unsure, it makes something new. Knows nothing of files.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from reme.reason.decisions import (
    Bucket,
    Candidate,
    Event,
    Extraction,
    Integration,
    Message,
    OpenEvent,
    SourceLine,
    SourceNote,
    Unit,
)
from reme.reason.offline.contradicting import said_in
from reme.reason.offline.extracting import extract
from reme.reason.offline.integrating import integrate
from reme.reason.offline.segmenting import segment
from reme.reason.offline.terms import Lexicon
from reme.reason.offline.titles import entitled

__all__ = ["OfflineReasoner"]

_REMEMBERED: Final = 8192
"""How many statements are kept as they were read, since candidates are looked at again and again."""


class OfflineReasoner:
    """Answers the decision points of memory and dream by rules.

    Args:
        share: How much of a dialogue to keep, as a share of its sentences that state something, 0 to 1; what is
            dictated is kept whole.
        at_least: How many sentences to keep even if that is more.
    """

    def __init__(self, *, share: float = 0.3, at_least: int = 20) -> None:
        self._lexicon = Lexicon()
        self._read = lru_cache(_REMEMBERED)(partial(said_in, self._lexicon))
        self._share = share
        self._at_least = at_least

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        """Cut a dialogue into events; the hint is not used."""
        return segment(self._lexicon, messages, open_events, self._share, self._at_least)

    async def extract(
        self, sources: Sequence[SourceNote], buckets: Sequence[Bucket], max_units: int, hint: str = ""
    ) -> Extraction:
        """Find units; those that share a word with the hint come first."""
        return extract(self._lexicon, sources, buckets, max_units, hint)

    def entitle(self, statements: Sequence[str]) -> tuple[str, str]:
        """A title and a one-line description of statements, of which there is at least one."""
        head = entitled(self._lexicon, statements)
        return head.title, head.description

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        """Place a unit; asked again, it answers the same."""
        return integrate(self._lexicon, self._read, unit, evidence, candidates)
