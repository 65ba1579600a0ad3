"""Every decision about upkeep, resources, links and topics, asked of a model that is played by a server; and how much
is asked at once and in how many parts."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from reme.clock import Clock
from reme.models import ChatSettings, open_chat
from reme.reason import (
    Bucket,
    Candidate,
    Card,
    Child,
    Division,
    Folding,
    Joining,
    Message,
    ModelSettings,
    Overview,
    Reasoner,
    Resource,
    SourceLine,
    SourceNote,
    Statement,
    Topic,
    Triple,
    Unit,
    Unusable,
    Vote,
    model_reasoner,
)
from reme.state import State
from reme.testing import Asked, ChatServer, Failure, Spoken

from .model_room import material_of

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

NOW = datetime(2026, 5, 15, 12, 0, tzinfo=UTC)
DAY = date(2026, 5, 15)
KEYS = Candidate("JWT keys", "How keys rotate.", ("jwt",), "wiki", ("Keys rotate.", "Tea is green.", "Keys expire."))
TEA = Candidate("茶", "绿茶。", (), "wiki", ("绿茶是绿色的。", "水温八十度。"))


@contextmanager
def asking(
    tmp_path: Path, answer: Callable[[Asked], object], **settings: Any
) -> Iterator[tuple[Reasoner, ChatServer, State]]:
    """A reasoner that asks a server, which answers with objects, texts, or what a ``ChatServer`` takes."""

    def spoken(asked: Asked) -> Spoken | Failure:
        said = answer(asked)
        if isinstance(said, Spoken | Failure):
            return said
        return Spoken(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))

    with ChatServer(spoken) as server:
        state = State(tmp_path / "state.db")
        model = open_chat("openai:tiny", ChatSettings(url=server.url, tries=1, timeout=10))
        chosen = ModelSettings(**{"daily_tokens": 10_000_000, **settings})
        clock = Clock(ZoneInfo("UTC"), lambda: NOW)
        reasoner = model_reasoner(
            model, chosen, state, clock, run="r1", operation="test", own_prompt=lambda _: None, waits=True
        )
        yield reasoner, server, state
        state.close()


def decided(tmp_path: Path, answer: object, decision: Callable[[Reasoner], Any]) -> Any:
    with asking(tmp_path, lambda _: answer) as (reasoner, server, _):
        found = asyncio.run(decision(reasoner))
        assert len(server.asked) == 1
        return found


def refused(tmp_path: Path, answer: object, decision: Callable[[Reasoner], Any]) -> str:
    """What is said of an answer that is asked for again, in vain."""
    with asking(tmp_path, lambda _: answer) as (reasoner, server, _):
        with pytest.raises(Unusable) as caught:
            asyncio.run(decision(reasoner))
        assert len(server.asked) == 3
        return caught.value.message


# Upkeep of the digest


def test_a_node_falls_into_clusters_or_stays_whole(tmp_path: Path) -> None:
    four = Candidate("n", "d", (), "wiki", ("a", "b", "c", "d"))
    clusters = decided(tmp_path / "1", {"clusters": [[1, 3], [2, 4]]}, lambda r: r.overloaded(four))
    assert clusters == ((1, 3), (2, 4))
    assert decided(tmp_path / "2", {"clusters": []}, lambda r: r.overloaded(four)) == ()


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [
        ([[1, 2], [3, 9]], "block 9 was not offered"),
        ([[1, 2], [2, 3]], "a block is there twice"),
        ([[1, 2, 3]], "at least two clusters"),
        ([[1, 2], [3]], "at least two blocks"),
        ([["一", 2]], "valid integer"),
        ("none", "valid list"),
    ],
)
def test_clusters_of_what_was_not_offered_are_asked_for_again(tmp_path: Path, clusters: object, reason: str) -> None:
    assert reason in refused(tmp_path, {"clusters": clusters}, lambda r: r.overloaded(KEYS))


def test_a_split_names_a_child_for_each_cluster(tmp_path: Path) -> None:
    children = [
        {"cluster": 2, "name": "绿茶", "description": "怎么泡。"},
        {"cluster": 1, "name": "Key\n [[rotation]]", "description": "How often."},
    ]
    answer = {"overview": "See [[x]] and\nthe rest.", "children": children}
    division = decided(tmp_path, answer, lambda r: r.split(KEYS, [(1, 3), (2,)]))
    assert division == Division(
        "See x and the rest.",
        (
            Child("Key rotation", "key-rotation", "How often.", (1, 3)),
            Child("绿茶", "绿茶", "怎么泡。", (2,)),
        ),
    )


@pytest.mark.parametrize(
    ("children", "reason"),
    [
        ([{"cluster": 1, "name": "a"}], "1 children for 2 clusters"),
        ([{"cluster": 1, "name": "a"}, {"cluster": 1, "name": "b"}], "a cluster is there twice"),
        ([{"cluster": 1, "name": "a"}, {"cluster": 3, "name": "b"}], "cluster 3 was not offered"),
        ([{"cluster": 1, "name": "a"}, {"cluster": 2, "name": " "}], "at least 1 character"),
    ],
)
def test_a_split_that_leaves_a_cluster_out_is_none(tmp_path: Path, children: object, reason: str) -> None:
    answer = {"overview": "Both.", "children": children}
    assert reason in refused(tmp_path, answer, lambda r: r.split(KEYS, [(1, 3), (2,)]))


def test_a_vote_has_a_confidence(tmp_path: Path) -> None:
    answer = {"same": True, "confidence": 0.85, "reason": "同一种茶"}
    assert decided(tmp_path / "1", answer, lambda r: r.same_concept(TEA, TEA)) == Vote(True, 0.85, "同一种茶")
    answer = {"same": True, "confidence": 85}
    assert "less than or equal to 1" in refused(tmp_path / "2", answer, lambda r: r.same_concept(KEYS, TEA))


def test_a_merge_orders_all_blocks_and_loses_none(tmp_path: Path) -> None:
    answer = {"name": "Keys", "description": "d", "order": ["2:1", "1:3"]}
    joining = decided(tmp_path, answer, lambda r: r.merge(KEYS, TEA))
    assert joining == Joining("Keys", "d", ((2, 1), (1, 3), (1, 1), (1, 2), (2, 2)))


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (["1:9"], "block 1:9 was not offered"),
        (["3:1"], "block 3:1 was not offered"),
        (["1:1", "1:1"], "a block is there twice"),
        (["one"], "no id that was shown"),
    ],
)
def test_a_merge_of_other_blocks_is_none(tmp_path: Path, order: object, reason: str) -> None:
    assert reason in refused(tmp_path, {"name": "x", "order": order}, lambda r: r.merge(KEYS, TEA))


def test_an_overview_links_members_of_the_community(tmp_path: Path) -> None:
    answer = {"name": "饮料", "description": "d", "text": "Drinks,\nmostly.", "members": [2, 1]}
    overview = decided(tmp_path / "1", answer, lambda r: r.abstract([KEYS, TEA]))
    assert overview == Overview("饮料", "饮料", "d", "Drinks, mostly.", (2, 1))
    answer["members"] = [1, 3]
    assert "candidate 3 was not offered" in refused(tmp_path / "2", answer, lambda r: r.abstract([KEYS, TEA]))


def test_leaves_fold_into_a_sub_topic_or_not(tmp_path: Path) -> None:
    answer = {"fold": True, "name": "Drinks", "summary": "What is drunk.", "members": [1, 2]}
    folding = decided(tmp_path / "1", answer, lambda r: r.fold([KEYS, TEA]))
    assert folding == Folding("Drinks", "drinks", "What is drunk.", (1, 2))
    assert decided(tmp_path / "2", {"fold": False}, lambda r: r.fold([KEYS, TEA])) is None
    answer = {"fold": True, "name": "Drinks", "members": []}
    assert "a name and members" in refused(tmp_path / "3", answer, lambda r: r.fold([KEYS, TEA]))


# Links and topics


def test_a_mention_is_one_of_the_candidates_or_none(tmp_path: Path) -> None:
    ask = lambda r: r.resolve_mention("我喜欢茶。", "茶", [KEYS, TEA])  # noqa: E731
    assert decided(tmp_path / "1", {"candidate": 2}, ask) == 2
    assert decided(tmp_path / "2", {"candidate": None}, ask) is None
    assert "candidate 3 was not offered" in refused(tmp_path / "3", {"candidate": 3}, ask)


def test_triples_relate_two_candidates_each_once(tmp_path: Path) -> None:
    one = {"subject": 1, "predicate": "Depends on", "object": 2}
    ask = lambda r: r.triples("Keys depend on tea.", [KEYS, TEA])  # noqa: E731
    assert decided(tmp_path / "1", {"triples": [one, one]}, ask) == (Triple(1, "depends_on", 2),)
    assert "twice" in refused(tmp_path / "2", {"triples": [{**one, "object": 1}]}, ask)


def test_topics_are_chosen_from_what_was_found(tmp_path: Path) -> None:
    found = [Topic(title, "why", (), ()) for title in ("Keys", "茶", "Rain")]
    chosen = decided(tmp_path / "1", {"topics": [2, 1, 3]}, lambda r: r.topics(found, [], 2))
    assert [topic.title for topic in chosen] == ["茶", "Keys"]
    assert "topic 4 was not offered" in refused(tmp_path / "2", {"topics": [4]}, lambda r: r.topics(found, [], 2))
    with asking(tmp_path / "3", lambda _: {"topics": [1]}) as (reasoner, server, _):
        assert asyncio.run(reasoner.topics([], [], 2)) == ()
        assert asyncio.run(reasoner.topics(found, [], 0)) == ()
        assert not server.asked


# What is long


def test_a_long_resource_is_read_in_parts_and_every_line_is_shown_once(tmp_path: Path) -> None:
    lines = tuple(f"第{n}行：密钥每{n}天轮换一次，必须先在预发环境执行。" if n % 7 else "" for n in range(1, 400))

    def answer(asked: Asked) -> object:
        shown = [each["line"] for each in material_of(asked) if "line" in each]
        facts = [
            {"line": shown[0], "kind": "fact", "text": f"第{shown[0]}行。"},
            {"line": 0, "kind": "fact", "text": "?"},
        ]
        return {"name": "密钥", "description": "d", "facts": facts}

    with asking(tmp_path, answer, context=4_000, answer_tokens=500) as (reasoner, server, state):
        resource = Resource("keys.txt", (("author", "安娜"),), lines)
        card: Card = asyncio.run(reasoner.read_resource(resource))
        parts = [[each["line"] for each in material_of(asked) if "line" in each] for asked in server.asked]
        assert len(parts) > 3
        assert [line for part in parts for line in part] == [n for n in range(1, 400) if n % 7]
        assert [fact.line for fact in card.facts] == [part[0] for part in parts]
        assert all(material_of(asked)[0]["about_author"] == "安娜" for asked in server.asked)
        assert {call.decision for call in state.calls(DAY)} == {"read_resource"}


def test_a_long_line_is_shown_in_pieces_under_its_one_number(tmp_path: Path) -> None:
    with asking(tmp_path, lambda _: {"name": "n", "facts": []}) as (reasoner, server, _):
        asyncio.run(reasoner.read_resource(Resource("x", (), ("word " * 2_000, "end"))))
        shown = [each for each in material_of(server.asked[0]) if "line" in each]
    assert [each["line"] for each in shown] == [1, 1, 1, 2]
    assert "".join(each["text"] for each in shown[:3]) == "word " * 2_000


def test_events_of_a_long_conversation_go_on_in_later_parts(tmp_path: Path) -> None:
    messages = [Message(n, "user", "Ana", f"Step {n} of the key rotation is done. " * 8, NOW) for n in range(1, 41)]

    def answer(asked: Asked) -> object:
        material = material_of(asked)
        known = [each["event"] for each in material if each.get("name") == "Rotation"]
        line = next(each["message"] for each in material if "message" in each)
        stated = [
            {"line": line, "kind": "fact", "text": f"From {line}."},
            {"line": line, "kind": "rumour", "text": "?"},
        ]
        return {"events": [{"continues": known[0] if known else None, "name": "Rotation", "statements": stated}]}

    with asking(tmp_path, answer, context=4_000, answer_tokens=500) as (reasoner, server, _):
        events = asyncio.run(reasoner.segment(messages, []))
        parts = len(server.asked)
    assert parts > 2
    (rotation,) = [event for event in events if event.name]
    assert len(rotation.statements) == parts
    assert sum(len(event.refused) for event in events) == parts


def test_notes_are_read_in_parts_until_there_are_units_enough(tmp_path: Path) -> None:
    sources = [
        SourceNote(
            f"note {n}",
            "",
            DAY,
            tuple(SourceLine(at, f"Tool {n} does {at}. " * 9, "fact", "Ana", DAY) for at in range(1, 9)),
        )
        for n in range(1, 9)
    ]
    numbers = count(1)

    def answer(asked: Asked) -> object:
        ids = [each["id"] for each in material_of(asked) if "id" in each]
        return {"units": [{"name": f"Unit {next(numbers)}", "bucket": "wiki", "evidence": ids[:1]}], "topics": []}

    buckets = [Bucket("wiki", "What is.")]
    with asking(tmp_path, answer, context=3_000, answer_tokens=500) as (reasoner, server, _):
        found = asyncio.run(reasoner.extract(sources, buckets, 2))
        assert len(server.asked) == 2
        taught = [each["unit"] for each in material_of(server.asked[1]) if "unit" in each]
        assert taught == ["Unit 1"]
    assert [unit.name for unit in found.units] == ["Unit 1", "Unit 2"]
    assert found.unfinished
    assert found.unfinished == tuple(sorted(set(found.unfinished)))


def test_of_many_candidates_all_are_named_and_the_likeliest_are_shown(tmp_path: Path) -> None:
    nodes = [Candidate(f"Node {n}", "d", (), "wiki", ("Text. " * 200,) * 4) for n in range(1, 9)]
    answer = {"decision": "skip", "reason": "known"}
    evidence = [SourceLine(1, "Keys rotate.", "fact", "Ana", DAY)]
    with asking(tmp_path, lambda _: answer, context=6_000, answer_tokens=500) as (reasoner, server, _):
        asyncio.run(reasoner.integrate(Unit("Keys", "keys", "wiki", "", ()), evidence, nodes))
        shown = [each for each in material_of(server.asked[0]) if "candidate" in each]
    assert [each["name"] for each in shown] == [node.name for node in nodes]
    whole = ["blocks" in each for each in shown]
    assert any(whole)
    assert whole == sorted(whole, reverse=True)


# How much is asked at once, and what it costs


def test_no_more_answers_are_awaited_at_once_than_may_be(tmp_path: Path) -> None:
    lock, present, most = threading.Lock(), 0, 0

    class Counting(ChatServer):
        def _serve(self, request: Any) -> None:
            nonlocal present, most
            with lock:
                present += 1
                most = max(most, present)
            time.sleep(0.05)
            with lock:
                present -= 1
            super()._serve(request)

    with Counting(lambda _: Spoken(json.dumps({"candidate": 1}))) as server:
        state = State(tmp_path / "state.db")
        model = open_chat("openai:tiny", ChatSettings(url=server.url, tries=1, timeout=10))
        clock = Clock(ZoneInfo("UTC"), lambda: NOW)
        settings = ModelSettings(daily_tokens=10_000_000, parallel=4)
        reasoner = model_reasoner(
            model, settings, state, clock, run="r", operation="o", own_prompt=lambda _: None, waits=True
        )

        async def many() -> list[int | None]:
            return await asyncio.gather(*(reasoner.resolve_mention(f"text {n}", "x", [KEYS]) for n in range(12)))

        assert asyncio.run(many()) == [1] * 12
        state.close()
    assert len(server.asked) == 12
    assert 1 < most <= 4


def test_a_price_is_kept_with_each_call(tmp_path: Path) -> None:
    answer = Spoken(json.dumps({"same": False, "confidence": 0.5}), tokens=(1_000_000, 500_000))
    with asking(tmp_path, lambda _: answer, price_in=2.0, price_out=8.0) as (reasoner, _, state):
        asyncio.run(reasoner.same_concept(KEYS, TEA))
        (call,) = state.calls(DAY)
    assert (call.tokens_in, call.tokens_out, call.price) == (1_000_000, 500_000, 6.0)


def test_statements_have_the_form_that_notes_take(tmp_path: Path) -> None:
    facts = [{"line": 1, "kind": "decision", "text": "- 密钥\n每九十天轮换。", "about": "2026-05"}]
    answer = {"name": "n", "facts": facts, "actionables": []}
    card = decided(tmp_path, answer, lambda r: r.read_resource(Resource("x", (), ("一行",))))
    assert card.facts == (Statement("密钥每九十天轮换。", 1, "decision", "2026-05"),)
