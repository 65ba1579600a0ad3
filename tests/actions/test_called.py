"""A node is called and described after what it states, and a person's words for it stay."""

import re

import pytest

from reme.markdown import parse
from reme.reason import Create, Insert, Supersede, Update
from reme.tools import recall

from .conftest import Room
from .test_dream import NOTE, SOURCE, Scripted, claim, dream, seeded

OTHER = "The keys are Ana's."
PAIRS = {
    "en": ("The rent is 850 euros a month.", "The rent is 920 euros a month.", "Rent is 850 euros a month"),
    "zh": ("房租每月三千二百元。", "房租每月三千五百元。", "房租每月三千二百元"),
}


def made(room: Room, language: str, description: str = "") -> str:
    """A node that states the old value, called and described after it, or described as given."""
    old, _, name = PAIRS[language]
    room.write(SOURCE, NOTE.replace("The JWT signing keys rotate every 90 days.", old))
    dream(room, Scripted(Create((claim(old), claim("The JWT rotation job runs.", 2)), name=name, summary=old)))
    (node,) = room.digest()
    if description:
        room.write(node, re.sub("(?m)^description: .*", f"description: {description}", room.text(node)))
    return node


def changed(room: Room, *edits: object) -> None:
    """A dream that works these in."""
    room.write(SOURCE, room.text(SOURCE) + "- One more. (Ana, 2026-05-15)\n")
    dream(room, Scripted(Update(1, "correct", edits)))  # type: ignore[arg-type]


def described(room: Room, node: str) -> tuple[str, str, object]:
    properties = parse(room.text(node).encode()).properties
    return str(properties["name"]), str(properties["description"]), properties.get("aliases")


@pytest.mark.parametrize("language", PAIRS)
def test_what_takes_the_place_of_a_statement_takes_its_title_too(room: Room, language: str) -> None:
    old, new, name = PAIRS[language]
    node = made(room, language)
    assert described(room, node) == (name, old, None)
    changed(room, Supersede(1, claim(new)))
    assert described(room, node) == (new.rstrip(".。").removeprefix("The ").capitalize(), new, [name])
    assert f"> [!superseded] {old}" in room.text(node)


@pytest.mark.parametrize("language", PAIRS)
def test_a_persons_description_stays(room: Room, language: str) -> None:
    node = made(room, language, description="What 住 costs")
    changed(room, Supersede(1, claim(PAIRS[language][1])))
    assert described(room, node) == (PAIRS[language][2], "What 住 costs", None)


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("how", ["taken out", "quoted"])
def test_what_a_person_has_withdrawn_is_described_no_more(room: Room, language: str, how: str) -> None:
    old, _, name = PAIRS[language]
    node = made(room, language)
    assert recall(room.workspace, name).core is not None
    (line,) = [each for each in room.text(node).splitlines() if each.startswith(f"- {old}")]
    room.write(node, room.text(node).replace(line, f"\n> [!superseded] {line[2:]}\n" if how == "quoted" else ""))
    core = recall(room.workspace, name).core
    assert core is not None
    assert (core.path, core.description) == (node, "")
    assert "about:" in recall(room.workspace, name).block
    changed(room, Insert(0, claim(OTHER)))
    called, description, aliases = described(room, node)
    assert description in (OTHER, "The JWT rotation job runs.")
    assert called != name
    assert aliases == [name]
    core = recall(room.workspace, name).core
    assert core is not None
    assert core.description == description


def test_what_stands_elsewhere_in_the_note_or_was_never_stated_is_shown(room: Room) -> None:
    seeded(room)
    room.write("digest/wiki/tea.md", "---\nname: 茶\ndescription: About green tea\n---\n\nTea is kept cold. 茶\n")
    core = recall(room.workspace, "茶").core
    assert core is not None
    assert core.description == "About green tea"
