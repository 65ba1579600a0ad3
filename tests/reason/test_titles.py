"""Titles, as a person would choose them, contradictions in other words, and the tables that people edit."""

import asyncio

import pytest

from reme.reason import Cite, Contradict, Insert, Update
from reme.reason.offline.rules import rules_of
from reme.reason.offline.terms import Lexicon
from reme.reason.offline.titles import Headline, headline

from .test_offline import REASONER, integrate, lines, node, said, segment


def title(*texts: str) -> str:
    return segment(said(*texts))[0].name


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("And we decided to move the shop to Ghent, because rents are high.",), "Move the shop to Ghent"),
        (("By the way, yesterday I planted ten trees behind the barn.",), "Planted ten trees behind the barn"),
        (("I stopped smoking last month, and it feels great.",), "Stopped smoking"),
        (("对了，我们决定把仓库搬到宁波，因为租金便宜。",), "决定把仓库搬到宁波"),
        (("昨天晚上我在院子里种了三棵苹果树，花了两个小时。",), "在院子里种了三棵苹果树"),
        (("To bake rye bread, follow these steps:\n1. Mix flour and water\n2. Bake for an hour",), "Bake rye bread"),
        (("发布流程如下：\n1. 运行测试\n2. 更新日志\n3. 推送标签",), "发布流程"),
        (
            ("Blue Harbor wants a logo by June.", "I sent Blue Harbor three drafts.", "Blue Harbor chose one."),
            "Blue Harbor",
        ),
        (("我在读《百年孤独》的前三章。", "《百年孤独》写的是布恩迪亚家族。"), "百年孤独"),
    ],
)  # fmt: skip
def test_titles(texts: tuple[str, ...], expected: str) -> None:
    assert title(*texts) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It took seven minutes because Noor added a second worker.",
        "They moved to Leeds, and she works at Harrow Farm now.",
    ],
)
def test_no_title_begins_with_a_pronoun(text: str) -> None:
    assert title(text).split()[0].lower() not in ("it", "they", "she", "he", "this", "that")


def test_a_title_is_short_and_on_one_line() -> None:
    long = "We agreed to rewrite " + "the very long part of the billing service and " * 20 + "stop."
    found = headline(Lexicon(), _rated(long), {})
    assert isinstance(found, Headline)
    assert len(found.title.split()) <= 10
    assert len(found.description) <= 160
    assert "\n" not in found.title + found.description


def _rated(text: str):  # type: ignore[no-untyped-def]
    from reme.reason.offline.sentences import Sentence

    return [Sentence(text, 1, 2.0, "decision", Lexicon().terms(text), frozenset())]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我住在杭州。", "我上个月搬到上海了。"),
        ("I live in Leeds.", "I moved to Hull in March."),
        ("The retro is on Thursday.", "The retro is on Tuesday instead."),
        ("负责人是李明。", "负责人换成了王芳。"),
        ("I prefer tea over coffee.", "I prefer coffee over tea."),
        ("I eat meat.", "I don't eat meat any more."),
    ],
)
def test_contradictions_in_other_words(old: str, new: str) -> None:
    decision = integrate(lines(new), node(old))
    assert isinstance(decision, Update)
    assert isinstance(decision.edits[0], Contradict)


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("I live in Leeds.", "My sister lives in Hull.", Insert),
        ("Release 3.1 took 40 minutes.", "Release 3.2 took 55 minutes.", Insert),
        ("I bought a bike in May.", "I bought a tent in June.", Insert),
        ("我对芒果过敏。", "我对花粉也过敏。", Insert),
        ("I live in Leeds.", "I live in Leeds!", Cite),
    ],
)
def test_other_things_are_no_contradictions(old: str, new: str, edit: type) -> None:
    decision = integrate(lines(new), node(old))
    assert isinstance(decision, Update)
    assert isinstance(decision.edits[0], edit)


def test_a_contradiction_is_found_in_a_node_of_another_name() -> None:
    new = lines("We ship the parcel service on Tuesday, no longer on Friday.", "Ruth called about the invoices.")
    decision = integrate(new, node("We ship the parcel service on Friday.", name="Parcels"), name="Planning chat")
    assert isinstance(decision, Update)
    assert isinstance(decision.edits[0], Contradict)


def test_advice_of_an_assistant_is_no_knowledge() -> None:
    told = ["You should rest more and take care of yourself.", "The museum opened in 1911 in Ghent, Belgium."]
    events = segment(said(*told, role="assistant", speaker="assistant"))
    assert [s.text for event in events for s in event.statements] == told[1:]


def test_requests_to_the_listener_are_no_knowledge() -> None:
    assert segment(said("下班啦，帮我理一下出差的事。")) == ()


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_the_tables_are_complete(language: str) -> None:
    rules = rules_of(language)  # type: ignore[arg-type]
    assert rules.stop
    assert rules.weak
    assert all(pattern.groupindex.get("value") for pattern in rules.attribute)


def test_a_no_is_no_number() -> None:
    kept = segment(said("No. Devika has a dentist appointment on Tuesday. We live at No. 5 Harbour Street."))
    texts = [s.text for event in kept for s in event.statements]
    assert "Devika has a dentist appointment on Tuesday." in texts
    assert any("No. 5 Harbour Street" in text for text in texts)


def test_the_share_can_be_set() -> None:
    talk = [f"I bought item number {n} in Lisbon in {1990 + n}." for n in range(40)]
    few = type(REASONER)(share=0.1, at_least=1)
    events = asyncio.run(few.segment(said(*talk), ()))
    assert sum(len(event.statements) for event in events) == 4
