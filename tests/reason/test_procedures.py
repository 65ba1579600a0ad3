"""Procedures without a model: which sentences are steps, that all of them are kept, and in what order."""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from reme.reason import (
    Bucket,
    Candidate,
    Cite,
    Claim,
    Contradict,
    Create,
    Evidence,
    Insert,
    Integration,
    Message,
    OfflineReasoner,
    SourceLine,
    SourceNote,
    Unit,
    Update,
)

REASONER = OfflineReasoner()
DAY = date(2026, 5, 15)
BUCKETS = (
    Bucket("personal", "A person."),
    Bucket("procedure", "How something is done."),
    Bucket("wiki", "What it is."),
)


def steps_of(*told: str, role: str = "user") -> list[tuple[int, str]]:
    """The steps in a conversation that somebody (or an assistant) tells, each with its number."""
    at = datetime(2026, 5, 15, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    speaker = "user" if role == "user" else "assistant"
    messages = [Message(n, speaker, speaker, text, at) for n, text in enumerate(told, start=1)]
    events = asyncio.run(REASONER.segment(messages, ()))
    return [(s.step, s.text) for event in events for s in event.statements if s.kind == "procedure"]


@pytest.mark.parametrize(
    ("told", "steps"),
    [
        (
            "How we release:\n1. Freeze the branch\n2. Ana announces it\n3. Run `smoke`. Is it green? Go on.\n4. Tag",
            "How we release:|Freeze the branch|Ana announces it|Run `smoke`. Is it green? Go on.|Tag",
        ),
        (
            "To descale the machine:\n- Empty the tank\n- Rinse\n- Fill it\n- Rinse",
            "To descale the machine:|Empty the tank|Rinse|Fill it|Rinse",
        ),
        ("1) Open the lid\n2) Pour it in\n   - slowly\n3) Wait", "Open the lid|Pour it in|slowly|Wait"),
        (
            "Brewing is easy: first grind the beans. Then pour water over them. Leave it for a day. Finally strain it.",
            "Brewing is easy: first grind the beans.|Then pour water over them.|Leave it for a day.|Finally strain it.",
        ),
        (
            "备份的步骤：\n第一步：停服务\n第二步：周牧校验\n第三步：恢复",
            "备份的步骤：|第一步：停服务|第二步：周牧校验|第三步：恢复",
        ),
        (
            "首先把肉切块焯水。然后炒糖色。接着加酱油炖一个小时。最后大火收汁。",
            "首先把肉切块焯水。|然后炒糖色。|接着加酱油炖一个小时。|最后大火收汁。",
        ),
        ("发布流程：\n- 冻结分支\n- 通知周牧\n- 打标签", "发布流程：|冻结分支|通知周牧|打标签"),
    ],
)
def test_a_procedure_is_kept_whole_and_in_order(told: str, steps: str) -> None:
    found = steps_of(told)
    assert [text for _, text in found] == steps.split("|")
    numbers = [number for number, text in found if not text.endswith((":", "："))]
    assert numbers == sorted(numbers)
    assert numbers[0] == 1


@pytest.mark.parametrize(
    "told",
    [
        "First we went to the museum in Ghent. Then we had lunch with Ana. Finally we took the train home.",
        "My favourite films of 2025:\n1. The Brutalist\n2. Anora\n3. Flow",
        "I need to buy for Saturday:\n- two melons\n- bread\n- 3 lemons",
        "首先我去了青岛的博物馆。然后见到了周牧。最后我们坐火车回了家。",
    ],
)
def test_stories_and_lists_of_things_are_none(told: str) -> None:
    assert steps_of(told) == []


def test_advice_of_an_assistant_is_none_but_what_it_was_asked_to_show_is() -> None:
    listed = "1. Take a walk\n2. Drink water\n3. Call a friend"
    assert steps_of(listed, role="assistant") == []
    assert len(steps_of(f"The procedure for a restart is:\n{listed}", role="assistant")) == 4


def test_steps_dictated_one_by_one_count_as_they_say() -> None:
    told = (
        "Step 1, set main to read-only.",
        "It ends when the release is promoted, usually within two hours.",
        "The image is built in nine minutes. Step 2, run the smoke test.",
        "Step 3, tag the commit. Step 12, lift the freeze.",
    )
    assert [number for number, _ in steps_of(*told)] == [1, 2, 3, 12]
    assert [number for number, _ in steps_of("第十二步：恢复服务。", "第二十步：通知周牧。")] == [12, 20]


def test_the_same_procedure_told_twice_in_one_go_is_kept_once() -> None:
    told = "How we release:\n1. Freeze the branch\n2. Tag the commit\n3. Push the tag"
    assert len(steps_of(told, told)) == 4
    assert len(steps_of(told, told + "\n4. Tell Ana")) == 9


def test_what_stands_between_tables_is_read() -> None:
    told = "| a | b |\nThe NAS in Ghent runs the backups at 02:00.\n| c | d |"
    at = datetime(2026, 5, 15, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    events = asyncio.run(REASONER.segment([Message(1, "user", "user", told, at)], ()))
    assert [s.text for event in events for s in event.statements] == ["The NAS in Ghent runs the backups at 02:00."]


def test_numbers_that_begin_anew_begin_another_procedure() -> None:
    told = "1. Freeze the branch\n2. Tag the commit\n1. Mix the flour\n2. Bake it"
    assert [number for number, _ in steps_of(told)] == [1, 2, 1, 2]


def test_tables_and_code_are_no_sentences() -> None:
    told = "The jobs of the NAS in Ghent:\n| backup | nightly at 02:00 |\n|---|---|\n```\nrun the backup now\n```\n"
    at = datetime(2026, 5, 15, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    events = asyncio.run(REASONER.segment([Message(1, "user", "user", told, at)], ()))
    assert all("02:00" not in s.text and "run the" not in s.text for event in events for s in event.statements)


# Notes


def numbered(*texts: str, first: int = 9) -> tuple[SourceLine, ...]:
    """An ordered list that a person wrote."""
    return tuple(
        SourceLine(n + first, text, None, "", DAY, listed=True, step=n) for n, text in enumerate(texts, start=1)
    )


def prose(*texts: str, first: int = 3) -> tuple[SourceLine, ...]:
    return tuple(SourceLine(n, text, None, "", DAY) for n, text in enumerate(texts, start=first))


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("Release", ("Freeze the branch", "Tell Ana, she announces it", "Tag", "Push")),
        ("备份", ("停掉写入服务", "导出数据库", "周牧校验", "恢复写入服务")),
    ],
)
def test_a_list_that_a_person_wrote_is_one_unit(name: str, steps: tuple[str, ...]) -> None:
    note = SourceNote(name, "", DAY, (*numbered(*steps), *prose("The kiln in Ghent cost 900 euros.", first=20)))
    units = asyncio.run(REASONER.extract([note], BUCKETS, 10)).units
    assert [(unit.bucket, [e.line for e in unit.evidence]) for unit in units] == [
        ("procedure", [10, 11, 12, 13]),
        ("wiki", [20]),
    ]
    assert units[0].name == name


def test_two_procedures_of_one_note_are_two_units() -> None:
    told = (
        *numbered("Freeze the branch", "Tag the commit", "Push the tag"),
        *numbered("Mix flour", "Bake it", first=20),
    )
    units = asyncio.run(REASONER.extract([SourceNote("Notes", "", DAY, told)], BUCKETS, 10)).units
    assert sorted(len(unit.evidence) for unit in units) == [2, 3]


def placed(told: Sequence[SourceLine], *blocks: str, sources: Sequence[int] = ()) -> Integration:
    places = sources or [1] * len(told)
    evidence = tuple(Evidence(source, line.number) for source, line in zip(places, told, strict=True))
    unit = Unit("Release", "release", "procedure", "", evidence)
    nodes = [Candidate("Release", "", (), "procedure", blocks)] if blocks else []
    return asyncio.run(REASONER.integrate(unit, told, nodes))


def test_a_step_that_is_new_goes_behind_the_one_before_it() -> None:
    told = numbered("Freeze the branch", "Tell Ana", "Wait for 38 green checks", "Rinse", "Tag the commit", "Rinse")
    stands = ("Freeze the branch", "Wait for 37 green checks", "Rinse", "Tag the commit", "Rinse")
    decision = placed(told, *stands)
    assert isinstance(decision, Update)
    assert decision.edits == (
        Cite(1, (1,)),
        Insert(1, Claim("Tell Ana", (2,))),
        Contradict(2, Claim("Wait for 38 green checks", (3,))),
        Cite(3, (4,)),
        Cite(4, (5,)),
        Cite(5, (6,)),
    )


@pytest.mark.parametrize(
    ("stands", "told", "changed"),
    [
        (("Freeze the branch", "Tag", "Mail Ana", "Push"), ("Freeze the branch", "Tag", "Post it in chat", "Push"), 3),
        (("停掉写入服务", "导出数据库", "恢复写入服务"), ("停掉写入服务", "拍一个磁盘快照", "恢复写入服务"), 2),
        (("Warm up", "Stretch", "Run"), ("Walk to the park", "Stretch", "Run"), 1),
    ],
)
def test_a_step_told_otherwise_contradicts_the_one_whose_place_it_has(
    stands: tuple[str, ...], told: tuple[str, ...], changed: int
) -> None:
    decision = placed(numbered(*told), *stands)
    assert isinstance(decision, Update)
    said = Claim(told[changed - 1], (changed,))
    assert decision.edits == tuple(
        Contradict(n, said) if n == changed else Cite(n, (n,)) for n in range(1, len(told) + 1)
    )


@pytest.mark.parametrize(
    "told",
    [
        ("Freeze the branch", "Tell Ana", "Tag the commit", "Push the tag"),
        ("Freeze the branch", "Tell Ana", "Tell Bo", "Push the tag"),
        ("Freeze the branch", "Tag the commit", "Push the tag", "Drink tea"),
    ],
)
def test_steps_that_have_nobodys_place_contradict_nothing(told: tuple[str, ...]) -> None:
    decision = placed(numbered(*told), "Freeze the branch", "Tag the commit", "Push the tag")
    assert isinstance(decision, Update)
    assert not any(isinstance(edit, Contradict) for edit in decision.edits)


def test_two_tellings_of_a_procedure_are_woven_into_one() -> None:
    one, other = numbered("冻结分支", "打标签", "推送标签"), numbered("冻结分支", "通知周牧", "打标签", "推送标签")
    decision = placed((*one, *other), sources=[1] * 3 + [2] * 4)
    assert isinstance(decision, Create)
    assert decision.claims == (
        Claim("冻结分支", (1, 4)),
        Claim("通知周牧", (5,)),
        Claim("打标签", (2, 6)),
        Claim("推送标签", (3, 7)),
    )


def test_a_step_that_a_person_took_out_is_not_put_back() -> None:
    told = [SourceLine(9, "Freeze the branch", None, "", DAY, known=True, listed=True, step=1)]
    told += [SourceLine(10, "Tell Ana", None, "", DAY, known=True, listed=True, step=2)]
    told += [SourceLine(11, "Tag the commit", None, "", DAY, listed=True, step=3)]
    decision = placed(told, "Freeze the branch")
    assert isinstance(decision, Update)
    assert decision.edits == (Cite(1, (1,)), Insert(1, Claim("Tag the commit", (3,))))
