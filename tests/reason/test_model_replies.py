"""One decision out of whatever a model writes around it, and none out of what is broken (B47)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.reason.model.replies import NoDecision, the_object
from reme.reason.model.texts import as_date, as_predicate, heading, statement

ANSWER = {"decision": "create", "claims": [{"text": "Run ```npm test``` {first}, then “发布”.", "evidence": [1]}]}
JSON = json.dumps(ANSWER, ensure_ascii=False)
PRETTY = json.dumps(ANSWER, ensure_ascii=False, indent=2)
DRAFT = '{"decision": "skip", "reason": "draft"}'


def read(value: dict[str, object]) -> dict[str, object]:
    if "decision" not in value:
        raise NoDecision("decision: Field required")
    return value


@pytest.mark.parametrize(
    "reply",
    [
        JSON,
        PRETTY,
        f"\n\n  {PRETTY}\n",
        f"```json\n{PRETTY}\n```",
        f"```json\n{PRETTY}\n```\nI kept {{both}} of them, see {{1}} and {{ }}.",
        f"~~~\n{JSON}\n~~~",
        f"Here you go: {JSON}",
        f"好的，这是结果：{JSON}。还有什么可以帮您？",
        f"<think>Maybe {DRAFT}? No.</think>\n{JSON}",
        f'<think>Maybe {{"decision": ...</think>\n```json\n{JSON}\n```',
        f"<THINKING>\nfirst\n</THINKING>{JSON}",
        f'Maybe {DRAFT} or {{"decision": \n</think>\n{JSON}',
        f"{JSON}\n\n{JSON}",
        f'{{"note": "this is no decision"}}\n{JSON}',
        f"[{JSON}]",
        "\ufeff" + JSON,
        json.dumps(ANSWER),
        json.dumps(JSON),
        f"<thought>Maybe {DRAFT}? No.</thought>\n{JSON}",
        f"[THINK]Maybe {DRAFT}? No.[/THINK]{JSON}",
        f"<reasoning>{DRAFT}</reasoning>{JSON}",
        f'<tool_call>\n{{"name": "decision", "arguments": {JSON}}}\n</tool_call>',
        json.dumps({"name": "decision", "parameters": ANSWER}),
        json.dumps({"type": "function", "name": "decision", "arguments": JSON}),
    ],
)
def test_b47_the_same_decision_however_it_is_wrapped(reply: str) -> None:
    assert the_object(reply, read) == ANSWER


def test_b47_values_may_hold_what_looks_like_wrapping() -> None:
    answer = {"decision": "x", "text": '```json\n{"decision": "skip"}\n``` </think> {braces} <think> "quoted" \\ }{'}
    assert the_object(f"```json\n{json.dumps(answer)}\n```", read) == answer
    raw = '{"decision": "x", "text": "two\nlines\tand a tab"}'
    assert the_object(raw, read) == {"decision": "x", "text": "two\nlines\tand a tab"}


@pytest.mark.parametrize("at", range(1, len(PRETTY)))
def test_b47_what_is_cut_off_anywhere_is_no_decision(at: int) -> None:
    for before in ("", "```json\n", "<think>hm</think>"):
        with pytest.raises(NoDecision):
            the_object(before + PRETTY[:at], read)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no JSON object"),
        ("No facts.", "no JSON object"),
        ("{}", "decision: Field required"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        ("<think>still thinking " + JSON, "still thinking"),
        (DRAFT + JSON, "2 different answers"),
        (f"First {DRAFT}, no: {JSON}", "2 different answers"),
        (JSON + ' {"decision": "cr', "not valid JSON"),
        ('{"decision": "x", "text": "he said {"decision": "skip"} then"}', "not valid JSON"),
        ('{"decision": "x", "decision": "y"}', "a key is there twice"),
        ('{"decision": NaN}', "NaN is no number"),
        ('{"decision": "x",}', "not valid JSON"),
        ("{'decision': 'x'}", "no JSON object"),
        ('{"decision": ' + "[" * 100_000, "not valid JSON"),
    ],
)
def test_b47_what_is_broken_is_no_decision_and_says_why(reply: str, reason: str) -> None:
    with pytest.raises(NoDecision, match=reason):
        the_object(reply, read)


@given(st.text(), st.text(alphabet=st.characters(exclude_characters="{<")), st.text())
def test_b47_any_chatter_around_any_text(value: str, chatter: str, key: str) -> None:
    answer = {"decision": value, f"x{key}": [value]}
    assert the_object(f"{chatter}{json.dumps(answer, ensure_ascii=False)}{chatter}", read) == answer


@given(st.text())
def test_no_reply_raises_anything_else(reply: str) -> None:
    with pytest.raises(NoDecision):
        the_object(reply, lambda value: read({}))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- Ana moved to Ghent.", "Ana moved to Ghent."),
        ("Ana\nmoved\tto  Ghent.", "Ana moved to Ghent."),
        ("Run ```npm test``` first", "Run `npm test` first"),
        ("Run\n```bash\nnpm test\nnpm run x\n```\nfirst", "Run `npm test npm run x` first"),
        ("Broken ``` fence", "Broken fence"),
        ("先运行 ~~~make~~~ 再发布", "先运行 `make` 再发布"),
        ("See [[digest/wiki/jwt.md|JWT]] and [docs](https://x.y)", "See JWT and docs"),
        ("## Heading", "Heading"),
        ("> 引文", "引文"),
    ],
)
def test_statements_are_one_line_of_plain_words(text: str, line: str) -> None:
    assert statement(text) == line


def test_dates_predicates_and_headings() -> None:
    dates = ["2026", "2026-05", "2026-05-14", " 2026-05 ", "last week", "2026-13", "2026-02-30", "26-05", "", "0000"]
    assert [as_date(each) for each in dates] == ["2026", "2026-05", "2026-05-14", "2026-05", "", "", "", "", "", ""]
    assert as_predicate(" Works at ") == "works_at"
    assert heading("x" * 1000) == "x" * 300 + " …"
