"""What answers have to look like: one form for each decision, from which its JSON schema is made.

Owns the edge: what a model wrote becomes typed here, or is refused. Of a list, what is in no usable form is refused one
by one, with the reason, and the rest stands. Whether a number was offered is for others to check.
"""

import re
from typing import Annotated, Any, Final, Literal, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.json_schema import GenerateJsonSchema

__all__ = [
    "AbstractForm",
    "CardForm",
    "ChildForm",
    "ClaimForm",
    "ClustersForm",
    "EditForm",
    "EventForm",
    "EventsForm",
    "ExtractionForm",
    "FoldForm",
    "IntegrationForm",
    "MentionForm",
    "MergeForm",
    "RelationForm",
    "SplitForm",
    "StatementForm",
    "TopicForm",
    "TopicsForm",
    "TripleForm",
    "TriplesForm",
    "UnitForm",
    "VoteForm",
    "schema_of",
]

_T = TypeVar("_T")
_REFUSED: Final = object()
_SHOWN: Final = 160
_LINE_ID: Final = re.compile(r"[0-9]{1,9}:[0-9]{1,9}")


def schema_of(form: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a form."""
    return form.model_json_schema(schema_generator=_Plain)


class _Plain(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _or_refused(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    try:
        return handler(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        shown = str(value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        cast("list[str]", info.context).append(f"{shown}: {place + ': ' if place else ''}{first['msg']}")
        return _REFUSED


def _kept(values: list[_T]) -> list[_T]:
    return [value for value in values if value is not _REFUSED]


def _line_id(value: str) -> str:
    if not _LINE_ID.fullmatch(value.strip()):
        raise ValueError(f"{value[:_SHOWN]!r} is no id that was shown")
    return value.strip()


Kept = Annotated[list[Annotated[_T, WrapValidator(_or_refused)]], AfterValidator(_kept)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Number = Annotated[int, Field(ge=0)]
Kind = Literal["fact", "decision", "state", "procedure", "preference"]
LineId = Annotated[str, AfterValidator(_line_id)]


class StatementForm(BaseModel):
    """A statement and the line that says it."""

    line: Number
    text: Text
    kind: Kind
    about: str = ""


class EventForm(BaseModel):
    """A stretch of dialogue with one intent."""

    continues: int | None = None
    name: Text
    description: str = ""
    statements: Kept[StatementForm]


class EventsForm(BaseModel):
    """What a conversation was about."""

    events: Kept[EventForm]


class UnitForm(BaseModel):
    """Something learnt."""

    name: Text
    aliases: list[str] = Field(default_factory=list[str])
    bucket: str = ""
    summary: str = ""
    evidence: Kept[LineId]


class TopicForm(BaseModel):
    """Something worth coming back to."""

    title: Text
    reason: str = ""
    keywords: list[str] = Field(default_factory=list[str])
    evidence: Kept[LineId]


class ExtractionForm(BaseModel):
    """What notes teach."""

    units: Kept[UnitForm]
    topics: Kept[TopicForm] = Field(default_factory=list[TopicForm])
    unfinished: Kept[Number] = Field(default_factory=list[int])


class ClaimForm(BaseModel):
    """A statement for a node, and the evidence that it rests on."""

    text: Text
    evidence: Kept[Number]


class EditForm(BaseModel):
    """A change of one block; for an insertion, the block that it goes behind."""

    op: Literal["insert", "cite", "supersede", "contradict"]
    block: Number
    text: str = ""
    evidence: Kept[Number]


class RelationForm(BaseModel):
    """A link to another candidate."""

    candidate: Number
    predicate: str = ""


class ElsewhereForm(BaseModel):
    """What a unit says about another candidate than its own."""

    candidate: Number
    edits: Kept[EditForm]


class IntegrationForm(BaseModel):
    """Where a unit belongs."""

    decision: Literal["create", "update", "skip"]
    candidate: Number | None = None
    claims: Kept[ClaimForm] = Field(default_factory=list[ClaimForm])
    edits: Kept[EditForm] = Field(default_factory=list[EditForm])
    relations: Kept[RelationForm] = Field(default_factory=list[RelationForm])
    elsewhere: Kept[ElsewhereForm] = Field(default_factory=list[ElsewhereForm])
    reason: str = ""


class CardForm(BaseModel):
    """What a document says."""

    name: Text
    description: str = ""
    facts: Kept[StatementForm]
    actionables: Kept[StatementForm] = Field(default_factory=list[StatementForm])


class ClustersForm(BaseModel):
    """Blocks that would be better apart."""

    clusters: list[list[Number]]


class ChildForm(BaseModel):
    """The node that a cluster becomes."""

    cluster: Number
    name: Text
    description: str = ""


class SplitForm(BaseModel):
    """How a node is divided."""

    overview: Text
    children: list[ChildForm]


class VoteForm(BaseModel):
    """Whether two nodes are one."""

    same: bool
    confidence: Annotated[float, Field(ge=0, le=1)]
    reason: str = ""


class MergeForm(BaseModel):
    """How two nodes become one."""

    name: Text
    description: str = ""
    order: list[LineId]


class AbstractForm(BaseModel):
    """The node above a group."""

    name: Text
    description: str = ""
    text: Text
    members: list[Number]


class FoldForm(BaseModel):
    """A sub-topic, if there is one."""

    fold: bool
    name: str = ""
    summary: str = ""
    members: list[Number] = Field(default_factory=list[int])


class MentionForm(BaseModel):
    """What a mention means."""

    candidate: Number | None


class TripleForm(BaseModel):
    """A relation between two candidates."""

    subject: Number
    predicate: Text
    object: Number


class TriplesForm(BaseModel):
    """The relations that a text states."""

    triples: list[TripleForm]


class TopicsForm(BaseModel):
    """Topics that were chosen."""

    topics: list[Number]
