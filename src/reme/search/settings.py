"""Every constant of ranking, with where it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from reme.index import Bm25
from reme.vault import Layer

__all__ = ["MAX_DEPTH", "MAX_LIMIT", "MAX_TRAVERSED", "SearchSettings"]

MAX_LIMIT: Final = 100
"""The most nodes that one search returns."""
MAX_DEPTH: Final = 3
"""The most links that a search follows from a hit."""
MAX_TRAVERSED: Final = 1_000
"""The most nodes that one traversal returns."""

_LAYER_WEIGHTS: Final[Mapping[Layer, float]] = MappingProxyType(
    {"digest": 1.0, "daily": 0.9, "other": 0.9, "session": 0.8, "resource": 0.7, "archive": 0.5, "audit": 0.0}
)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How hits are found and ranked.

    Attributes:
        fusion: ``context``: coverage of the query, and what stands around it; ``rrf``: reciprocal ranks.
        vector_weight: Weight of the vector leg in ``rrf``.
        text_weight: Weight of the keyword leg in ``rrf``.
        rrf_k: The constant of ``rrf``.
        k1: Saturation of BM25 (tuned on LoCoMo, cross-validated).
        b: Length normalisation of BM25 (likewise).
        column_weights: How much a word counts in: name, labels, headings, body.
        coverage_cap: Most that BM25 over the sum of the query's idf counts for.
        coverage_power: Exponent of that quotient: half a query is worth less than half.
        scattering: How much less words count, for each further piece of a note that they may be scattered over, than in
            one piece (from known items in notes, without loss on dialogues); None for not at all.
        vector_share: Share of the vector leg in ``context``, between 0 and 1; the rest is the keyword leg's.
        cosine_cap: Most that a calibrated cosine counts for.
        near: Share of a chunk's score that its neighbours in the note get, at distance 1, 2 …
        own_evidence: Share of the mean of a note's best chunks that each of its chunks gets.
        own_evidence_top: How many chunks that mean is of.
        speaker_bonus: For the turns of the one speaker whom the query names.
        common_share: Terms in a larger share of all chunks do not choose candidates where rarer ones are there.
        most_terms: The rarest so many terms choose candidates.
        alpha: Of ``centrality = 1 + alpha · ln(1 + inlinks)``; None for off.
        tau_days: Of ``recency = exp(−days since the last change or use / tau)``; None for off.
        beta: Factor of nodes in the community of one of the best; None for off.
        factor_range: Every factor is clamped to this.
        layer_weights: Factor of each layer; a layer of weight 0 is searched only where it is asked for by name.
        top_chunks_per_path: Most chunks shown of a node.
        surface_node: Whether hits carry the node's name and description.
        expand_depth: How many links away neighbours are listed.
        max_links_per_direction: Most neighbours of one node in one direction.
        expand_path_budget: Most neighbours in one result.
        access_log: Whether it is counted, once a day and file, what was found or read: for ``recency``, and for what is
            archived. Nothing of queries is kept either way.
    """

    fusion: Literal["context", "rrf"] = "context"
    vector_weight: float = 0.7
    text_weight: float = 0.3
    rrf_k: int = 60
    k1: float = 0.9
    b: float = 0.4
    column_weights: tuple[float, float, float, float] = (2.0, 1.5, 1.5, 1.0)
    coverage_cap: float = 1.5
    coverage_power: float = 1.5
    scattering: float | None = 0.05
    vector_share: float = 0.5
    cosine_cap: float = 1.2
    near: tuple[float, ...] = (0.2, 0.1)
    own_evidence: float = 0.4
    own_evidence_top: int = 3
    speaker_bonus: float = 0.2
    common_share: float = 0.1
    most_terms: int = 32
    alpha: float | None = 0.15
    tau_days: float | None = 60.0
    beta: float | None = 1.2
    factor_range: tuple[float, float] = (0.5, 2.0)
    layer_weights: Mapping[Layer, float] = field(default_factory=lambda: _LAYER_WEIGHTS)
    top_chunks_per_path: int = 2
    surface_node: bool = True
    expand_depth: int = 1
    max_links_per_direction: int = 10
    expand_path_budget: int = 30
    access_log: bool = True

    @property
    def bm25(self) -> Bm25:
        """The constants of the keyword leg."""
        return Bm25(self.k1, self.b, self.column_weights)
