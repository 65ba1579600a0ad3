"""The offline reasoner: extractive, deterministic, in English and Chinese."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme.paths import slug_of
from reme.reason import (
    Bucket,
    Candidate,
    Cite,
    Claim,
    Contradict,
    Create,
    Dispute,
    Elsewhere,
    Event,
    Evidence,
    Extraction,
    Insert,
    Integration,
    Message,
    OfflineReasoner,
    OpenEvent,
    Relation,
    SourceLine,
    SourceNote,
    Unit,
    Update,
)

ZONE = ZoneInfo("Europe/Berlin")
DAY = date(2026, 5, 15)
BUCKETS = (
    Bucket("personal", "A person or a team: preferences, habits."),
    Bucket("procedure", "How something is done."),
    Bucket("wiki", "What something is."),
)
REASONER = OfflineReasoner()


def said(*texts: str, speaker: str = "user", role: str = "user") -> list[Message]:
    at = datetime(2026, 5, 15, 10, tzinfo=ZONE)
    return [
        Message(line, "user" if role == "user" else "assistant", speaker, text, at)
        for line, text in enumerate(texts, start=1)
    ]


def segment(messages: Sequence[Message], open_events: Sequence[OpenEvent] = ()) -> tuple[Event, ...]:
    return asyncio.run(REASONER.segment(messages, open_events))


def texts(events: Sequence[Event]) -> list[str]:
    return [statement.text for event in events for statement in event.statements]


def lines(*told: str, day: date = DAY, speaker: str = "user") -> tuple[SourceLine, ...]:
    return tuple(SourceLine(n, text, None, speaker, day) for n, text in enumerate(told, start=10))


def integrate(evidence: Sequence[SourceLine], *candidates: Candidate, name: str = "Release day") -> Integration:
    unit = Unit(name, slug_of(name), "wiki", "", tuple(Evidence(1, line.number) for line in evidence))
    return asyncio.run(REASONER.integrate(unit, evidence, candidates))


def node(*blocks: str, name: str = "Release day", bucket: str = "wiki") -> Candidate:
    return Candidate(name, "", (), bucket, blocks)


def test_every_statement_is_a_substring_of_its_message() -> None:
    messages = said(
        "Hi there! We decided to rotate the signing keys every 90 days. How are you?",
        "他说：“我下周搬到上海。”我最近在学做菜，昨天晚上我做了一道宫保鸡丁。",
    )
    for event in segment(messages):
        for statement in event.statements:
            assert statement.text in messages[statement.line - 1].text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=300), min_size=1, max_size=8))
def test_any_text_is_cut_into_substrings(told: list[str]) -> None:
    messages = said(*told)
    for event in segment(messages):
        assert "/" not in event.slug
        assert event.slug
        for statement in event.statements:
            assert statement.text in messages[statement.line - 1].text
            assert "\n" not in statement.text


def test_chatter_and_questions_are_dropped() -> None:
    kept = texts(
        segment(
            said("Hey! How have you been?", "Thanks, that's really sweet!", "I adopted a dog named Biscuit yesterday.")
        )
    )
    assert kept == ["I adopted a dog named Biscuit yesterday."]


@pytest.mark.parametrize(
    "fact",
    [
        "The office is on the third floor.",
        "The gym closes at ten.",
        "The password for the guest network hangs beside the door, and the router is in the hall.",
        "Tom doesn't eat fish.",
        "From now on the stand-up starts at ten.",
        "These days I swim only once a week.",
        "健身卡已经过期了。",
        "会员费调整到两百六。",
        "楼下超市开到十点。",
        "房东换人了，现在是老赵。",
        "她的钢琴课是每周三下午四点半，在文化宫，一节课200元，老师姓王。",
        "Her piano lesson is every Wednesday at half past four.",
        "Please don't suggest anything before ten.",
        "以后不要给我推荐海鲜。",
    ],
)
def test_how_it_is_with_a_thing_is_kept_where_it_is_told_to_an_assistant(fact: str) -> None:
    assert texts(segment(said("Good morning!", fact, "Thanks, that's sweet of you!"))) == [fact]


@pytest.mark.parametrize(
    "talk", ["The weather is nice today.", "The view is amazing.", "心情已经好多了。", "天气真好。"]
)
def test_praise_and_moods_are_not(talk: str) -> None:
    assert texts(segment(said("Good morning!", talk))) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I moved to Lyon last month, do you know a good dentist there?", "I moved to Lyon last month"),
        (
            "By the way, my son Tom is allergic to nuts, so what can I bake?",
            "my son Tom is allergic to nuts",
        ),
        ("Last month I moved to Lyon, can you recommend a dentist, or two?", "Last month I moved to Lyon"),
        ("我上个月搬到里昂了，你知道那边有好牙医吗？", "我上个月搬到里昂了"),
        ("我女儿对花生过敏，生日蛋糕做什么好呢？", "我女儿对花生过敏"),
        ("对了，我从下周开始在银行上班，有什么要注意的吗？", "我从下周开始在银行上班"),
    ],
)
def test_a_fact_before_a_question_is_kept_without_it(text: str, fact: str) -> None:
    (kept,) = texts(segment(said(text)))
    assert kept.endswith(fact)
    assert text.startswith(kept)
    assert texts(segment(said(text, speaker="assistant", role="assistant"))) == []
    more = text + ("它让我们在五月花了三千元。" if "，" in text else " It cost us 3,000 euros in May.")
    assert all(each in more for each in texts(segment(said(more))))


@pytest.mark.parametrize(
    "text",
    [
        "The launch is on Friday, 12 June, isn't it?",
        "I think we should deploy Postgres 16 on Monday, what do you think?",
        "I can come to Lyon on Friday at 10, does that work for you?",
        "If I move to Lyon next month, do you know a good dentist there?",
        "I don't know whether to move to Lyon in May, can you help?",
        "You moved to Lyon last month, how do you like it?",
        "我们周五下午三点在科技楼见面，怎么样？",
        "如果我下个月搬到里昂，你知道那边有好牙医吗？",
        "我不知道下个月要不要搬到里昂，你能帮我吗？",
        "你上个月搬到里昂了，那边怎么样？",
        "我现在很累，他会教我们如何做。",
    ],
)
def test_what_is_asked_about_left_open_or_supposed_is_no_fact(text: str) -> None:
    assert texts(segment(said(text))) == []


def test_chinese_chatter_and_questions_are_dropped() -> None:
    kept = texts(
        segment(said("你好，很高兴认识你！", "你今天想聊些什么呢？", "我最近搬到了杭州，在一家设计公司工作。"))
    )
    assert kept == ["我最近搬到了杭州，在一家设计公司工作。"]


@pytest.mark.parametrize(
    "text",
    [
        "Some big things have happened since we last spoke.",
        "We make a great team!",
        "The visuals were beautiful and the theme was very touching.",
        "I bet it felt so good to run with everyone for the same cause.",
        "Must have been traumatizing for you guys.",
        "那里的画面真的非常震撼。",
        "风景很美丽，令人难忘。",
    ],
)
def test_what_names_nothing_is_dropped(text: str) -> None:
    assert texts(segment(said(text))) == []


@pytest.mark.parametrize(
    "text",
    [
        "The build failed because the cache was full.",
        "My daughter had a wonderful birthday with a concert.",
        "The best bakery of Porto is Sol.",
        "我女儿的生日过得很难忘。",
    ],
)
def test_what_names_something_is_kept(text: str) -> None:
    assert texts(segment(said(text))) == [text]


def test_what_people_say_in_general_among_themselves_is_dropped() -> None:
    general = "Kickboxing started as a hobby because it keeps people calm."
    assert texts(segment(said(general, speaker="Maria"))) == [general]
    among = [*said(general, speaker="Maria"), *said("I boxed in Ghent on Monday.", speaker="John")]
    assert texts(segment(among)) == ["I boxed in Ghent on Monday."]


def test_nothing_worth_keeping_gives_no_event() -> None:
    assert segment(said("Hi!", "Thanks!", "How are you?", "ok")) == ()


def test_relative_dates_are_resolved_beside_the_words() -> None:
    event = segment(said("I went to the support group yesterday and met Carol.", "我上周五去了北京的博物馆参观。"))[0]
    assert [s.about for s in event.statements] == ["2026-05-14", "2026-05-08"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use PostgreSQL instead of MySQL.", "decision"),
        ("I prefer pnpm over npm for every project.", "preference"),
        ("I am currently working on the billing migration.", "state"),
        ("First run the tests, then tag the release, and finally push it.", "procedure"),
        ("The staging server has 16 GB of memory.", "fact"),
        ("我们决定用 PostgreSQL 存储订单。", "decision"),
        ("我最喜欢喝冷萃咖啡，不加糖。", "preference"),
        ("先运行测试，再打标签，最后推送到仓库。", "procedure"),
    ],
)
def test_statements_have_kinds(text: str, kind: str) -> None:
    assert segment(said(text))[0].statements[0].kind == kind


@pytest.mark.parametrize(
    ("proposal", "reply", "kind"),
    [
        ("I'd suggest going with PostgreSQL 16 for billing. Shall I set it up?", "Yes, please do.", "decision"),
        ("I'd suggest going with PostgreSQL 16 for billing.", "No, not yet.", None),
        ("I'd suggest going with PostgreSQL 16 for billing. Or we could use SQLite 3.", "OK.", None),
        ("Maybe we should deploy to Frankfurt 2 instead of Dublin.", "Agreed.", "decision"),
        ("We agreed on Friday for the release.", "When exactly?", "fact"),
        ("We agreed on Friday for the release.", "Right.", "decision"),
        ("Kim prefers written updates on Fridays.", "What else?", "fact"),
        ("建议改用 PostgreSQL 16 存储订单。", "好的，就这么定。", "decision"),
        ("建议改用 PostgreSQL 16 存储订单。", "先不急。", None),
        ("可以考虑把例会改到周三下午3点。", "同意。", "decision"),
        ("可以考虑把例会改到周三下午3点。也可以考虑取消周五的例会。", "好的。", None),
        ("我们选了 Redis 7 做缓存。", "为什么？", "fact"),
    ],
)
def test_an_assistant_decides_nothing_unless_a_person_agrees(proposal: str, reply: str, kind: str | None) -> None:
    spoken = [*said(proposal, role="assistant", speaker="assistant"), replace(said(reply)[0], line=2)]
    kinds = [s.kind for event in segment(spoken) for s in event.statements if s.line == 1]
    assert kinds == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("Maybe we should use Redis 7 instead of Memcached.", False),
        ("We haven't decided between Redis 7 and Memcached yet.", False),
        ("They suggested Tuesday, but we settled on Friday.", True),
        ("We decided to move to Ghent so that we could save rent.", True),
        ("Let's use PostgreSQL 16 for billing.", True),
        ("可以考虑改用 PostgreSQL 16。", False),
        ("我们还没决定用 PostgreSQL 还是 MySQL。", False),
        ("小李建议用 Redis，最后我们决定用 Memcached。", True),
    ],
)
def test_what_is_left_open_is_no_decision(text: str, decided: bool) -> None:
    (statement,) = (s for event in segment(said(text)) for s in event.statements)
    assert (statement.kind == "decision") == decided


def test_what_one_person_proposes_and_another_agrees_to_is_decided() -> None:
    proposal = said("Maybe we should take the 9 am ferry to Oban.", speaker="Ann")[0]
    for reply, kind in (("Agreed, I'll get us the tickets.", "decision"), ("Ferries make me sick.", "fact")):
        told = [proposal, replace(said(reply, speaker="Bob")[0], line=2)]
        assert [s.kind for e in segment(told) for s in e.statements if s.line == 1] == [kind]


def test_numbered_steps_are_all_kept_in_order() -> None:
    steps = (
        "Here is the release checklist:\n"
        "1. Run the test suite\n2. Update the changelog\n3. Tag the commit\n4. Push the tag"
    )
    event = segment(said(steps, role="assistant", speaker="assistant"))[0]
    assert [s.text for s in event.statements if s.kind == "procedure"] == [
        "Here is the release checklist:",
        "Run the test suite",
        "Update the changelog",
        "Tag the commit",
        "Push the tag",
    ]


THINGS = (
    "lamp",
    "kettle",
    "desk",
    "rug",
    "mirror",
    "radio",
    "clock",
    "bench",
    "vase",
    "stove",
    "globe",
    "drum",
    "harp",
)
OWNED = {
    "english": [f"My {thing} stands in room {n} of the house in Ghent." for n, thing in enumerate(2 * THINGS, start=1)],
    "chinese": [f"第{n}个箱子里装的是{thing}牌的工具，放在仓库。" for n, thing in enumerate(2 * THINGS, start=1)],
}


@pytest.mark.parametrize("language", ["english", "chinese"])
@pytest.mark.parametrize("form", ["one text", "a list", "a message each"])
def test_what_is_dictated_is_kept_whole(language: str, form: str) -> None:
    facts = OWNED[language]
    forms = {
        "one text": said("Please remember this.\n" + ("" if language == "chinese" else " ").join(facts)),
        "a list": said("Please remember this:\n" + "\n".join(f"- {fact}" for fact in facts)),
        "a message each": [
            message
            for n, fact in enumerate(facts, start=1)
            for message in (
                Message(2 * n, "user", "user", fact, datetime(2026, 5, 15, 10, tzinfo=ZONE)),
                Message(2 * n + 1, "assistant", "assistant", "Noted.", datetime(2026, 5, 15, 10, tzinfo=ZONE)),
            )
        ],
    }
    events = segment(forms[form])
    assert set(facts) <= set(texts(events))
    assert sum(event.left for event in events) == 0


@pytest.mark.parametrize(("language", "chatter"), [("english", "Nice, thanks!"), ("chinese", "太好了，谢谢！")])
def test_of_talk_the_weightiest_is_kept_and_what_is_left_is_counted(language: str, chatter: str) -> None:
    events = segment(said(*(text for fact in OWNED[language] for text in (fact, chatter))))
    assert len(texts(events)) == 20
    assert sum(event.left for event in events) == len(OWNED[language]) - 20


def test_a_change_of_subject_makes_another_event() -> None:
    jwt = [
        "The JWT signing keys must rotate every 90 days.",
        "Our JWT library rejects signing keys older than 90 days.",
        "I deployed the JWT key rotation job to staging.",
        "The JWT rotation job failed because the signing key was missing.",
    ]
    cake = [
        "By the way, I bought a sourdough starter for the bakery course.",
        "The sourdough starter needs rye flour every day.",
        "My bakery course starts on Monday with sourdough bread.",
        "I baked two sourdough loaves with rye flour.",
    ]
    events = segment(said(*jwt, *cake))
    assert len(events) == 2
    assert "jwt" in events[0].slug
    assert "sourdough" in events[1].slug


def test_an_event_continues_by_its_subject() -> None:
    keys = OpenEvent(
        "JWT key rotation",
        "",
        DAY,
        ("The JWT signing keys must rotate every 90 days.", "The JWT rotation job runs at night."),
    )
    bread = OpenEvent("Sourdough", "", DAY, ("I baked two sourdough loaves with rye flour.",))
    event = segment(said("The JWT rotation job rotated the signing keys last night."), [bread, keys])[0]
    assert event.continues == 2
    assert segment(said("I visited my grandmother in Lisbon yesterday."), [bread, keys])[0].continues is None


def test_chinese_slugs_stay_chinese() -> None:
    event = segment(said("我在准备钢琴考试。", "钢琴考试在六月举行，我每天练习两个小时。"))[0]
    assert "钢琴" in event.slug


def test_a_changed_value_is_no_duplicate() -> None:
    kept = texts(segment(said("The release meeting is on Monday at 10.", "The release meeting is on Tuesday at 10.")))
    assert len(kept) == 2
    assert (
        len(texts(segment(said("The release meeting is on Monday at 10.", "The release meeting is on Monday at 10."))))
        == 1
    )


# extract


def extract(*sources: SourceNote, max_units: int = 10, buckets: Sequence[Bucket] = BUCKETS) -> Extraction:
    return asyncio.run(REASONER.extract(sources, buckets, max_units))


def source(name: str, *told: SourceLine, day: date = DAY) -> SourceNote:
    return SourceNote(name, "", day, told)


def line(
    number: int, text: str, kind: str | None = "fact", speaker: str = "user", *, known: bool = False
) -> SourceLine:
    return SourceLine(number, text, kind, speaker, DAY, "", known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("secret", "other"),
    [
        ("My AWS key at Northwind is [redacted: api key].", "Northwind rotates its AWS keys every 90 days in Ghent."),
        ("我在北风公司的网关密码是[redacted: password]。", "北风公司的网关密码每九十天更换一次。"),
    ],
)
def test_what_a_secret_was_taken_out_of_names_nothing_by_itself(secret: str, other: str) -> None:
    alone = extract(source("chat", line(5, secret)))
    assert (alone.units, alone.topics) == ((), ())
    later = extract(source("chat", line(5, secret), line(6, other, known=True)))
    assert [unit.evidence for unit in later.units] == [(Evidence(1, 5),)]
    assert later.topics == ()
    both = extract(source("chat", line(5, secret), line(6, other)))
    assert len(both.topics) == len(both.units) == 1
    assert "redacted" not in " ".join((both.units[0].name, both.units[0].summary, *both.topics[0].keywords))


def test_a_subject_across_days_is_one_unit() -> None:
    first = source("JWT key rotation", line(9, "The JWT signing keys rotate every 90 days."))
    second = source("JWT keys", line(9, "The JWT signing keys live in the vault of the platform team."))
    other = source("Sourdough", line(9, "The sourdough starter needs rye flour every day."))
    units = extract(first, second, other).units
    assert [len(unit.evidence) for unit in units] == [2, 1]
    assert units[0].evidence == (Evidence(1, 9), Evidence(2, 9))


@pytest.mark.parametrize(
    ("name", "told", "others"),
    [
        (
            "Won the chess cup in Ghent in 2021",
            ["My sister Ana sings in a choir.", "I feed my two dogs every day.", "I like hiking in the woods."],
            "I won the chess cup in Ghent in 2021, because my brother Tom had decided to stop.",
        ),
        (
            "2021年在绍兴赢了象棋比赛",
            ["我妹妹在合唱团唱歌。", "我每天喂两只狗。", "我喜欢去山里徒步。"],
            "我2021年在绍兴赢了象棋比赛，因为哥哥决定退出。",
        ),
    ],
)
def test_a_title_with_a_persons_name_says_what_that_person_says(name: str, told: list[str], others: str) -> None:
    """The note is called by what another person says in it."""
    spoken = [(text, "Kim") for text in told] + [(others, "Lou")]
    said = [SourceLine(n, text, "fact", speaker, DAY) for n, (text, speaker) in enumerate(spoken, start=9)]
    units = extract(SourceNote(name, "", DAY, tuple(said))).units
    kims = [unit for unit in units if unit.name.startswith("Kim")]
    assert kims
    assert all(name not in unit.name for unit in kims)


def test_steps_and_preferences_have_buckets_of_their_own() -> None:
    steps = source("Release", line(3, "Run the test suite", "procedure"), line(4, "Tag the commit", "procedure"))
    taste = source("Coffee", line(3, "I prefer cold brew coffee without sugar.", "preference"))
    facts = source("Staging", line(3, "The staging server has 16 GB of memory."))
    assert {unit.bucket for unit in extract(steps, taste, facts).units} == {"procedure", "personal", "wiki"}


def test_without_a_fitting_bucket_none_is_invented() -> None:
    facts = source("Staging", line(3, "The staging server has 16 GB of memory."))
    assert extract(facts, buckets=[Bucket("recipes", "Dishes")]).units[0].bucket == ""


def test_what_does_not_fit_is_left_for_the_next_run() -> None:
    one = source("Staging", line(3, "The staging server has 16 GB of memory and 4 cores."))
    two = source("Sourdough", line(3, "The sourdough starter needs rye flour."))
    extraction = extract(one, two, max_units=1)
    assert len(extraction.units) == 1
    assert extraction.unfinished == (2,)


def test_known_lines_are_context_only() -> None:
    note = source(
        "Staging",
        line(3, "The staging server has 16 GB of memory.", known=True),
        line(4, "The staging server runs Debian 12."),
    )
    assert extract(note).units[0].evidence == (Evidence(1, 4),)
    assert extract(source("Staging", line(3, "The staging server has 16 GB of memory.", known=True))).units == ()


# integrate


def test_a_new_subject_creates() -> None:
    decision = integrate(
        lines("The staging server has 16 GB of memory."),
        node("We bake bread on Sunday.", name="Bread"),
        name="Staging server",
    )
    assert isinstance(decision, Create)
    assert decision.claims[0].text == "The staging server has 16 GB of memory."


def test_the_same_statement_is_cited() -> None:
    decision = integrate(
        lines("The release happens on the first Monday."), node("The release happens on the first Monday.")
    )
    assert decision == Update(1, "corroborate", (Cite(1, (1,)),))


def test_more_about_it_is_inserted() -> None:
    decision = integrate(lines("The release branch is cut by Ana."), node("The release happens on the first Monday."))
    assert isinstance(decision, Update)
    assert isinstance(decision.edits[0], Insert)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The release meeting is on Monday.", "The release meeting is on Thursday."),
        ("The service needs 16 GB of memory.", "The service needs 32 GB of memory."),
        ("The build uses the npm registry.", "The build no longer uses the npm registry."),
        ("The importer supports CSV files.", "The importer does not support CSV files."),
        ("发布会议在周一上午。", "发布会议改到周四上午。"),
        ("我喝咖啡加糖。", "我喝咖啡不再加糖。"),
        ("Emma lives in Oslo with her husband.", "Emma has relocated to Stockholm."),
        ("I drive a red Volvo to work every morning.", "I sold the Volvo."),
        ("We are flying to Rome in October.", "We called off the trip to Rome."),
        ("I'm married to Oskar.", "I got divorced."),
        ("I have never been to Japan.", "I went to Japan in April."),
        ("小周在华信上班。", "小周跳槽去了中科。"),
        ("我订了网易云会员。", "网易云会员我退订了。"),
        ("财务由小马负责。", "财务现在归小杨管。"),
        ("我对花生过敏。", "我对花生不过敏。"),
        ("The train to Lisbon leaves at 7:40.", "No wait, sorry, I misread the ticket: it leaves at 8:10."),
        ("The rent is 850 euros a month.", "The rent goes up to 920 euros a month from July."),
        ("我妈妈的生日是九月三日。", "我记错了，我妈妈的生日是九月十三日。"),
    ],
)
def test_contradictions_are_flagged_and_never_resolved(old: str, new: str) -> None:
    decision = integrate(lines(new), node(old))
    assert isinstance(decision, Update)
    assert decision.shape == "refine"
    assert isinstance(decision.edits[0], Contradict)
    assert decision.edits[0].block == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Emma lives in Oslo.", "Sven has relocated to Stockholm."),
        ("My Volvo broke down near Ghent.", "I sold the sofa."),
        ("My aunt lives in Rome.", "We called off the trip to Rome."),
        ("I'm married to Oskar.", "My cousin got divorced."),
        ("I have never been to Japan.", "My sister went to Japan in April."),
        ("The meeting with Ana is on Monday.", "The meeting with Bo was moved to Friday."),
        ("小周在华信上班。", "小李跳槽去了中科。"),
        ("小王是产品经理。", "小李是产品经理。"),
        ("财务由小马负责。", "物流现在归小杨管。"),
    ],
)
def test_what_is_said_of_something_else_is_no_contradiction(old: str, new: str) -> None:
    decision = integrate(lines(new), node(old))
    assert not isinstance(decision, Update) or not any(isinstance(edit, Contradict) for edit in decision.edits)


OWN = {
    "en": (
        ("We repainted the kitchen on Saturday.", "The kitchen walls are sage green."),
        "I swim twice a week at the Lido.",
        "These days I swim only once a week.",
    ),
    "zh": (("我们周六重新刷了厨房。", "厨房的墙是灰绿色的。"), "我每天喝三杯咖啡。", "我现在每天只喝一杯咖啡。"),
}


def test_of_several_statements_the_likest_is_contradicted() -> None:
    lessons = node("朵朵的钢琴课一节课200元。", "朵朵的钢琴课是每周三下午四点半。", name="朵朵")
    decision = integrate(lines("钢琴课改到每周五下午五点了。"), lessons, name="朵朵")
    assert isinstance(decision, Update)
    assert decision.edits == (Contradict(2, Claim("钢琴课改到每周五下午五点了。", (1,))),)


@pytest.mark.parametrize("language", OWN)
def test_a_fact_that_changes_amid_other_talk_goes_to_the_node_that_has_it(language: str) -> None:
    talk, old, new = OWN[language]
    decision = integrate(lines(talk[0], new, talk[1]), node("The shed is full.", name="Shed"), node(old, name="Habits"))
    assert isinstance(decision, Create)
    assert [claim.text for claim in decision.claims] == list(talk)
    assert decision.elsewhere == (Elsewhere(2, (Contradict(1, Claim(new, (2,))),)),)
    assert Relation(2) in decision.relations


@pytest.mark.parametrize("language", OWN)
def test_a_node_is_called_after_what_it_has_and_not_after_what_went_elsewhere(language: str) -> None:
    talk, old, new = OWN[language]
    told, named = lines(talk[0], new, talk[1]), node(old, name="Habits")
    evidence = tuple(Evidence(1, line.number) for line in told)
    for text, person in ((new, ""), (new, "Kim: "), (talk[1], "")):
        name, summary = person + text.rstrip(".。"), text
        decision = asyncio.run(REASONER.integrate(Unit(name, "x", "wiki", summary, evidence), told, [named]))
        assert isinstance(decision, Create)
        assert decision.elsewhere
        if summary == new:
            assert decision.summary in talk
            assert decision.name.startswith("Kim: ") == name.startswith("Kim: ")
            assert decision.name.removeprefix("Kim: ").lower() in " ".join(talk).lower()
        else:
            assert (decision.name, decision.summary) == ("", "")
    decision = integrate(lines(*talk), named, name=new)
    assert isinstance(decision, Create)
    assert (decision.name, decision.summary) == ("", "")


@pytest.mark.parametrize("language", OWN)
def test_what_stands_in_another_node_already_is_cited_there(language: str) -> None:
    talk, old, _ = OWN[language]
    decision = integrate(lines(*talk, old), node(old, name="Habits"))
    assert isinstance(decision, Create)
    assert decision.elsewhere == (Elsewhere(1, (Cite(1, (3,)),)),)


@pytest.mark.parametrize("name", ["Odds and ends", "Shed"])
def test_where_everything_belongs_elsewhere_no_node_is_made(name: str) -> None:
    told = lines("The rent went up to 1,020 euros.", "I stopped taking vitamin D.")
    rent, pills = node("The rent is 950 euros.", name="Flat"), node("I take vitamin D every morning.", name="Health")
    decision = integrate(told, rent, pills, node("The shed is full.", name="Shed"), name=name)
    assert isinstance(decision, Update)
    assert {decision.candidate, *(other.candidate for other in decision.elsewhere)} == {1, 2}
    edits = [*decision.edits, *(edit for other in decision.elsewhere for edit in other.edits)]
    assert all(isinstance(edit, Contradict) for edit in edits)


@pytest.mark.parametrize(
    ("old", "new", "contradicts"),
    [
        ("I swim twice a week.", "I swim only once a week now.", False),
        ("The stand-up is on Monday.", "The stand-up has moved to Thursday.", True),
        ("我每天喝三杯咖啡。", "我现在每天只喝一杯咖啡。", False),
        ("例会在周一。", "例会改到周四了。", True),
    ],
)
def test_what_two_people_say_of_themselves_is_never_compared(old: str, new: str, contradicts: bool) -> None:
    theirs = replace(node(old, name="Habits"), speakers=("Bo",))
    told = lines("We repainted the kitchen on Saturday.", new, speaker="Ana")
    decision = integrate(told, theirs)
    assert isinstance(decision, Create)
    assert bool(decision.elsewhere) == contradicts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The standup is at 10:15.", "In my old job the standup was at 8:45, horrible."),
        ("公司每天九点上班。", "以前的公司每天八点上班。"),
        ("I've worked with Python and C++.", "No details yet, I hope everything works out."),
        ('"The Name of the Wind" is great.', "I haven't read that yet but I've heard great things!"),
        ("I've been playing one more game with friends these days.", "We played Fortnite and a few other games."),
        ("I'd love to go hiking more, but it can be hard.", "I used to love hiking, but it's been a while."),
        ("我在当前公司工作了几年。", "我一直在考虑是否要找一份新工作。"),
        ("我最近一直在考虑工作上的问题。", "我在一家公司工作，内容和我想象中的不太一样。"),
        ("我很喜欢旅游和看电影。", "最近我在看一些电影。"),
    ],
)
def test_talk_that_only_shares_words_is_no_contradiction(old: str, new: str) -> None:
    decision = integrate(lines(new), node(old))
    assert not isinstance(decision, Update) or not any(isinstance(edit, Contradict) for edit in decision.edits)


@pytest.mark.parametrize("language", OWN)
def test_who_corrects_themselves_in_one_conversation_is_flagged(language: str) -> None:
    talk, old, new = OWN[language]
    decision = integrate(lines(old, *talk, new))
    assert isinstance(decision, Create)
    assert [claim.text for claim in decision.claims] == [old, *talk]
    assert decision.disputes == (Dispute(Claim(old, (1,)), Claim(new, (4,))),)


CORRECTED = [
    (
        "I booked the train to Lisbon, it leaves at 7:40.",
        "No wait, I misread the ticket: it leaves at 8:10 from Porto.",
    ),
    ("The launch is on Monday, 9 June.", "Sorry, I meant Tuesday in the same week."),
    ("我把体检约在下周一上午九点。", "不对，说错了，是下周二上午九点。"),
]


@pytest.mark.parametrize(("told", "correction"), CORRECTED)
def test_who_corrects_what_they_just_said_is_understood_together_with_it(told: str, correction: str) -> None:
    whole = f"{told} {correction}" if told.isascii() else told + correction
    assert texts(segment(said(whole))) == [whole]
    decision = integrate(lines(told, correction))
    assert isinstance(decision, Create)
    assert decision.disputes == (Dispute(Claim(told, (1,)), Claim(correction, (2,))),)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("我把体检约在下周一上午九点。不对，说错了，是下周二上午九点。", "2026-05-19"),
        ("我把体检约在下周一上午九点。不对，说错了，是星期二上午九点。", ""),
        ("I go to the dentist next Monday. Sorry, I meant next Tuesday.", "2026-05-19"),
        ("My train to Lyon leaves tomorrow at 7:40. No wait, it leaves at 8:10.", "2026-05-16"),
    ],
)
def test_the_date_of_a_correction_is_the_one_that_is_meant(text: str, about: str) -> None:
    (event,) = segment(said(text))
    assert [(statement.text, statement.about) for statement in event.statements] == [(text, about)]


@pytest.mark.parametrize(("told", "correction"), CORRECTED)
def test_a_correction_is_of_what_its_speaker_said_just_before_and_of_another_value(told: str, correction: str) -> None:
    between = "The museum in Ghent was crowded." if told.isascii() else "博物馆里人很多。"
    someone = (*lines(told), replace(lines(correction, speaker="Ana")[0], number=11))
    same = lines(told, f"Sorry, I meant {told}" if told.isascii() else f"更正，{told}")
    for evidence in (lines(told, between, correction), someone, same):
        decision = integrate(evidence)
        assert isinstance(decision, Create)
        assert decision.disputes == ()


def test_what_disputes_what_is_added_to_a_node_stands_beside_it() -> None:
    told = lines("The release branch is cut by Ana.", "The release is on Monday.", "The release was moved to Thursday.")
    decision = integrate(told, node("The release happens every month."))
    assert isinstance(decision, Update)
    assert decision.disputes == (Dispute(Claim(told[1].text, (2,)), Claim(told[2].text, (3,))),)
    assert Insert(1, Claim(told[2].text, (3,))) not in decision.edits


def test_another_bucket_under_the_same_name_is_another_thing() -> None:
    decision = integrate(lines("The release branch is cut by Ana."), node("Run the tests.", bucket="procedure"))
    assert isinstance(decision, Create)


def test_what_is_known_of_a_full_node_goes_on_in_a_further_one() -> None:
    told = lines("The kiln number 900 in Ghent needs oil every month.")
    blocks = [f"The kiln number {n} in Ghent needs oil every month." for n in range(400)]
    decision = integrate(told, node(*blocks, name="Kilns"), name="Kilns")
    assert isinstance(decision, Create)
    assert [relation.candidate for relation in decision.relations] == [1]
    both = (node(*blocks, name="Kilns"), node(blocks[0], name="Kilns"))
    assert isinstance(further := integrate(told, *both, name="Kilns"), Update)
    assert further.candidate == 2


def test_nodes_mentioned_by_name_are_related() -> None:
    decision = integrate(
        lines("The staging server runs the Key Ceremony every month."),
        node("Something else entirely.", name="Key ceremony", bucket="procedure"),
        name="Staging server",
    )
    assert isinstance(decision, Create)
    assert [relation.candidate for relation in decision.relations] == [1]


def test_the_same_material_gives_the_same_answer() -> None:
    messages = said("I adopted a dog named Biscuit.", "We decided to move to Lisbon in June.", "我最近在学做菜。")
    assert segment(messages) == asyncio.run(OfflineReasoner().segment(messages, ()))


@pytest.mark.parametrize("raw", ["../x", "a/b\\c", "...", "", "C:\\x", ".git", "  ", "\0"])
def test_slugs_are_safe(raw: str) -> None:
    slug = slug_of(raw)
    assert slug
    assert not set(slug) & set("/\\.:\0 ")


@pytest.mark.parametrize(
    "told",
    [
        "I planted a fig tree in May. It made the balcony look like Lisbon.",
        "我在五月种了一棵无花果树。它每年夏天结二十斤果子，我都做成果酱。",
    ],
)
def test_what_speaks_of_the_sentence_before_is_read_with_it(told: str) -> None:
    assert kept_of(told) == [told]


def kept_of(*told: str) -> list[str]:
    at = datetime(2026, 5, 15, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    messages = [Message(n, "user", ("Ana", "Bo")[n % 2], text, at) for n, text in enumerate(told)]
    events = asyncio.run(OfflineReasoner().segment(messages, ()))
    return [statement.text for event in events for statement in event.statements]


@pytest.mark.parametrize(
    "junk",
    [
        "The kids look so cute, Bo!",
        "Been a few days since we last talked.",
        "Lately, I had a setback.",
        "Pets really bring so much joy to our lives!",
        "Working together, we can make our town a better place.",
        "I painted it after I visited the beach last week.",
        "I gave her a home last spring.",
        "We really enjoy places like that near our homes.",
        "I'll do my best to make everybody at work feel at home.",
        "Yep, sounds so cool, Ana!",
        "我会尽最大的努力做好这份工作。",
        "今天我想和你谈谈我的旅游计划。",
        "听上去你是一个很努力的人，我需要学习你的方法。",
    ],
)
def test_small_talk_and_what_hangs_in_the_air_is_left_out(junk: str) -> None:
    assert kept_of("I moved to Ghent in March.", junk) == ["I moved to Ghent in March."]


@pytest.mark.parametrize(
    "told",
    [
        "So much has happened since we last talked - I joined a rowing club in Ghent.",
        "The weather is great, and I plan to hike in the Ardennes on Sunday.",
        "你好，我在青岛的造船厂工作了三年，很高兴认识你。",
        "I tried kickboxing in March and it gives me energy for work.",
    ],
)
def test_a_fact_beside_small_talk_is_kept(told: str) -> None:
    assert kept_of(told) == [told]


@pytest.mark.parametrize(
    "told",
    [
        "I'm vegetarian.",
        "I am severely allergic to peanuts.",
        "I quit smoking.",
        "Call me Tommy.",
        "我吃素。",
        "我是左撇子。",
        "我有糖尿病",
        "我戒烟了。",
        "以后回答请用中文。",
    ],
)
def test_what_somebody_lastingly_is_is_kept_however_short(told: str) -> None:
    assert kept_of(told) == [told]
    assert kept_of("I moved to Ghent in March.", told) == ["I moved to Ghent in March.", told]


@pytest.mark.parametrize(
    ("old", "new", "flagged"),
    [
        ("Our landlord is Mr. Keller.", "We have a new landlord, Mrs. Brandt.", True),
        ("We count the stock every Wednesday.", "Stocktaking has moved to Thursday.", True),
        ("I swim twice a week.", "These days I swim only once a week.", True),
        ("每周三盘点。", "盘点改到每周四。", True),
        ("小张负责对账。", "对账现在归小刘管。", True),
        ("我坐地铁上班。", "我现在骑车上班了。", True),
        ("Today I ran five kilometres.", "Today I ran eight kilometres.", False),
        ("每周三盘点。", "每周四大扫除。", False),
        ("今天跑了五公里。", "昨天跑了八公里。", False),
    ],
)
def test_what_changes_is_flagged_and_what_merely_looks_alike_is_not(old: str, new: str, flagged: bool) -> None:
    node = Candidate("Notes", "", (), "wiki", (old,))
    line = SourceLine(9, new, "fact", "Kim", date(2026, 5, 2))
    unit = Unit("Notes", "notes", "wiki", "", (Evidence(1, 9),))
    decision = asyncio.run(OfflineReasoner().integrate(unit, [line], [node]))
    assert isinstance(decision, Update)
    assert any(isinstance(edit, Contradict) for edit in decision.edits) is flagged
