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
    ("text", "expected"),
    [
        (
            'I found a really interesting novel called "One Hundred Years of Solitude" in the old bookstore.',
            'Found a really interesting novel called "One Hundred Years of Solitude"',
        ),
        ('I read "Me, Myself and I" last week in Ghent.', 'Read "Me, Myself and I" last week in Ghent'),
        ("We moved the shop (the one in Ghent, near the river) to Bruges.", "Moved the shop"),
        (
            'My sister bought the very large house called "' + "The House of the Long Name " * 4 + '" in May.',
            "My sister bought the very large house called",
        ),
        ("Met [[people/ana|Ana]] about the contract.", "Met [[people/ana|Ana]] about the contract"),
        ('"I moved the shop to Ghent.', "I moved the shop to Ghent"),
        (
            "I took the first step towards becoming a mom - I filled in the forms!",
            "Took the first step towards becoming a mom",
        ),
        ("We agreed to rewrite the whole billing service.", "Rewrite the whole billing service"),
        ("My AWS key is [redacted: api key].", "My AWS key"),
        ("My password: [redacted: password] works on the gateway.", "My password works on the gateway"),
        (
            "我在旧书店里发现了一本有意思的小说《百年孤独与其他故事》，是马尔克斯写的。",
            "在旧书店里发现了一本有意思的小说《百年孤独与其他故事》",
        ),
        ("我们在城里的小书店买到了一本《" + "孤独的故事" * 12 + "》。", "在城里的小书店买到了一本"),
        ("他说：“我下周搬到上海，因为租金便宜。”", "搬到上海"),
        ("我迈出了成为妈妈的第一步——", "迈出了成为妈妈的第一步"),
        ("网关的密钥为 [redacted: secret]，每九十天更换一次。", "网关的密钥"),
    ],
)  # fmt: skip
def test_a_title_leaves_no_quotation_open_and_shows_no_mark_of_a_secret(text: str, expected: str) -> None:
    assert headline(Lexicon(), _rated(text), {}).title == expected


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
        ("The pool is open in winter.", "The pool is closed in winter."),
        ("We paid Bodo in cash.", "We paid Bodo by card instead of in cash."),
        ("Our builds run on Jenkins.", "Our builds no longer run on Jenkins."),
        ("The permit is valid for three years.", "The permit is valid for five years."),
        ("Paul leads the data team.", "Since June the data team is led by Ingrid."),
        ("健身房周日开门。", "健身房周日关门。"),
        ("我们用Jenkins构建。", "我们不再用Jenkins构建，换成了Buildkite。"),
        ("仓库存放在三号楼。", "仓库搬到了五号楼。"),
        ("她同意了合同。", "她拒绝了合同。"),
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
        ("I love the new office layout.", "I can't stand the noise in the new office.", Insert),
        ("Guests are allowed in the lab.", "Dogs are not allowed in the lab.", Insert),
        ("I ran 5 km on Monday.", "I ran 8 km on Thursday.", Insert),
        ("访客可以进实验室。", "宠物禁止进实验室。", Insert),
        ("我上周看了《霸王别姬》。", "我昨天看了《活着》。", Insert),
        ("我非常喜欢无锡的小笼包。", "我喜欢无锡的小笼包。", Cite),
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


def test_in_a_large_node_the_same_is_found_as_in_a_small_one() -> None:
    blocks = [
        f"The {name} number {n} in Ghent needs {n} liters of oil." for n in range(90) for name in ("kiln", "pump")
    ]
    claims = (
        "The pump number 71 in Ghent needs 71 liters of oil.",
        "The kiln number 40 in Ghent is red.",
        "I moved to Porto.",
    )
    decision = integrate(lines(*claims), node(*blocks, "I live in Lisbon."))
    assert isinstance(decision, Update)
    cited, added, changed = decision.edits
    assert isinstance(cited, Cite)
    assert blocks[cited.block - 1] == claims[0]
    assert isinstance(added, Insert)
    assert isinstance(changed, Contradict)
    assert changed.block == len(blocks) + 1


@pytest.mark.parametrize(
    "text",
    [
        "Hello, I'm back to chat with you again today.",
        "The weather has been really nice lately.",
        "I'm going to have dinner now and will talk to you again tomorrow.",
        "It was extra special for the two of us.",
        "He was sad at first and became confident.",
        "You can watch the videos of the bakery.",
        "I have a small question and would like your advice.",
        "A lot has happened since we last spoke.",
        "我们明天再聊。",
        "今天天气真不错。",
        "今天我有一个小问题想要请教你。",
        "这些也都是我很喜欢的活动。",
        "最近发生了一些开心的事，我来和你分享一下。",
        "好，我周一就订。",
    ],
)
def test_small_talk_requests_and_fragments_are_no_knowledge(text: str) -> None:
    assert segment(said(text)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Watching movies on Sunday is a great idea.",
        "I recommend that you try the museum in Ghent.",
        "此外，还有一些畅销书籍，如《百年孤独》。",
        "如果你喜欢喜剧，推荐你看《功夫》。",
    ],
)
def test_opinions_of_an_assistant_are_no_knowledge(text: str) -> None:
    assert segment(said(text, role="assistant", speaker="assistant")) == ()


def test_an_answer_is_worth_more_than_the_same_words_unasked() -> None:
    things = ("red lamp", "round table", "wool blanket", "copper kettle", "garden chair", "paper kite")
    filler = [text for thing in things for text in (f"I bought a {thing} in Ghent.", "Nice!")]
    few = type(REASONER)(share=0.1, at_least=1)
    for question, kept in (("What did you buy then?", True), ("I see.", False)):
        events = asyncio.run(few.segment(said(*filler, question, "I bought a cello in Ghent."), ()))
        assert any("cello" in s.text for event in events for s in event.statements) == kept


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
    assert all(slot.value or "value" in slot.pattern.groupindex for slot in rules.attribute)


def test_a_no_is_no_number() -> None:
    kept = segment(said("No. Devika has a dentist appointment on Tuesday. We live at No. 5 Harbour Street."))
    texts = [s.text for event in kept for s in event.statements]
    assert "Devika has a dentist appointment on Tuesday." in texts
    assert any("No. 5 Harbour Street" in text for text in texts)


def test_the_share_can_be_set() -> None:
    talk = [text for n in range(40) for text in (f"I bought item number {n} in Lisbon in {1990 + n}.", "Nice!")]
    few = type(REASONER)(share=0.1, at_least=1)
    events = asyncio.run(few.segment(said(*talk), ()))
    assert sum(len(event.statements) for event in events) == 4
