"""The shapes in which messages are delivered, and what is wrong with some of them."""

import json
from datetime import UTC, date, datetime

import pytest

from reme.actions.messages import Delivery, read_messages
from reme.actions.redaction import redact
from reme.clock import Clock, zone_named
from reme.errors import InvalidInput
from reme.search import RECALL_TAG

HEX = "9f86d081884c7d659a2feaa0c55ad015"
CLOCK = Clock(zone_named("Europe/Berlin"), lambda: datetime(2026, 5, 15, 10, tzinfo=UTC))


def read(*items: object) -> Delivery:
    return read_messages(list(items), CLOCK)


def test_openai_shape() -> None:
    delivery = read(
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "name": "Ana", "content": "I moved to Lisbon.", "created_at": 1778839200},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Here."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        },
    )
    assert [(m.speaker, m.text) for m in delivery.messages] == [("Ana", "I moved to Lisbon."), ("user", "Here.")]
    assert delivery.messages[0].at.isoformat() == "2026-05-15T12:00:00+02:00"
    assert delivery.problems == ()
    assert delivery.dropped == 3


def test_anthropic_shape() -> None:
    delivery = read(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "secret output"}]},
        {
            "id": "msg_1",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Rotate the keys."},
                {"type": "tool_use", "id": "t", "name": "bash", "input": {}},
            ],
        },
    )
    assert [m.text for m in delivery.messages] == ["Rotate the keys."]
    assert delivery.messages[0].key.startswith("msg_1:")


def test_claude_code_shape() -> None:
    def line(uuid: str, role: str, content: object, **more: object) -> dict[str, object]:
        said = {"role": role, "content": content}
        return {"type": role, "uuid": uuid, "timestamp": "2026-05-14T22:30:00.000Z", "message": said, **more}

    lines = [
        {"type": "summary", "summary": "x", "leafUuid": "u"},
        line("u1", "user", "Deploy it.", sessionId="s"),
        line("u2", "user", "Caveat", isMeta=True),
        line("u3", "assistant", [{"type": "text", "text": "Done."}]),
        line("u4", "assistant", "side", isSidechain=True),
        line("u5", "user", "<system-reminder>be nice</system-reminder>"),
    ]
    delivery = read_messages("\n".join(map(json.dumps, lines)), CLOCK)
    assert [(m.role, m.text, m.at.date()) for m in delivery.messages] == [
        ("user", "Deploy it.", date(2026, 5, 15)),
        ("assistant", "Done.", date(2026, 5, 15)),
    ]


def test_a_list_may_come_as_text() -> None:
    assert [m.text for m in read_messages('[{"role": "user", "content": "I moved."}]', CLOCK).messages] == ["I moved."]


def test_what_is_malformed_is_named_and_the_rest_is_taken() -> None:
    text = "\n".join(
        [
            '{"role": "user", "content": "first"}',
            '{"role": "wizard", "content": "x"}',
            '{"role": "user", "content": ""}',
            '{"role": "user", "content": "x", "timestamp": "yesterday-ish"}',
            "",
            '{"role": "user", "content": "cut of',
            '{"content": "x"}',
            "[1, 2]",
            '{"role": "user", "content": 7}',
            '{"role": "user", "content": "last"}',
        ]
    )
    delivery = read_messages(text, CLOCK)
    assert [m.text for m in delivery.messages] == ["first", "last"]
    assert [p.line for p in delivery.problems] == [2, 3, 4, 6, 7, 8, 9]
    reasons = " | ".join(p.reason for p in delivery.problems)
    for word in ("'wizard'", "no text", "yesterday-ish", "no complete JSON", "no role", "list", "int"):
        assert word in reasons


def test_recalled_and_injected_text_is_left_out() -> None:
    picture = f"data:image/png;base64,{'A' * 300}"
    text = f"<{RECALL_TAG} id='1'>old memory</{RECALL_TAG}>I like tea.<think>maybe</think> {picture}"
    assert [m.text for m in read({"role": "user", "content": text}).messages] == ["I like tea. [data]"]


def test_messages_without_a_time_belong_to_the_given_day() -> None:
    delivery = read_messages([{"role": "user", "content": "x y z"}], CLOCK, date(2026, 1, 2))
    assert delivery.messages[0].at.date() == date(2026, 1, 2)


def test_the_same_words_twice_are_two_messages_and_a_replay_has_the_same_keys() -> None:
    batch = [{"role": "user", "content": "yes"}, {"role": "user", "content": "yes"}]
    one, two = read(*batch), read(*batch)
    assert len({m.key for m in one.messages}) == 2
    assert [m.key for m in one.messages] == [m.key for m in two.messages]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my key is sk-proj-abcdefghijklmnop1234567890", "abcdefghijklmnop"),
        ("use ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"),
        ("AKIAIOSFODNN7EXAMPLE is the id", "AKIA"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123", "eyJ"),
        ("password: hunter2!", "hunter2"),
        ("我的密码是 abc12345", "abc12345"),
        ("postgres://admin:s3cr3t@db.local/x", "s3cr3t"),
        ("card 4111 1111 1111 1111 ok", "4111"),
        ("it is Zx9Kq2LmP0vR7tYw3BnD5cFg8HjS", "Zx9Kq2"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("My AWS secret is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
        ("secret wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ok", "wJalrXUtnFEMI"),
        ("密钥 wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY 给你", "wJalrXUtnFEMI"),
        ("curl -H 'Authorization: Bearer abcdef123456.zzz'", "abcdef123456"),
        (f"the api key is {HEX}", HEX),
        (f"ENCRYPTION_KEY={HEX}{HEX}", HEX),
        (f"the master key of the vault is {HEX}{HEX}", HEX),
        (f"密钥是{HEX}", HEX),
        (f"把令牌改成 {HEX}", HEX),
        (f"password hash: {HEX}", HEX),
        (f"密码哈希 {HEX}", HEX),
        (f"the token for account id 42: {HEX}", HEX),
        ("the token for the file upload service is Zq83kfLw02mZxPa7TyUr56Vn", "Zq83kf"),
        ("the API key for https://maps.example.com/v1 is Zq83kfLw02mZxPa7TyUr56Vn", "Zq83kf"),
        (f"the client secret, see the url in the wiki, is {HEX}", HEX),
        (f"https://x.example/a?id=3&sig={HEX}", HEX),
        ("https://hooks.slack.com/services/T00000000/B00000000/Zq83kfLw02mZxPa7TyUr56Vn", "Zq83kf"),
        ("The login for the router: admin / Xk9!mmPq22", "Xk9!mmPq22"),
        ("My PIN is 4821.", "4821"),
        ("取款密码是482153", "482153"),
        ("我的PIN码是4821吧", "4821"),
        ("我的PIN是4821。", "4821"),
        ("路由器的账号密码：admin / Xk9!mmPq22", "Xk9!mmPq22"),
        ("转到DE89370400440532013000这个账户", "0532"),
        ("我的SSN是123-45-6789", "123-45"),
        ("the transfer goes to DE89 3704 0044 0532 0130 00", "0532"),
        ("GB82WEST12345698765432", "WEST"),
        ("SSN: 123-45-6789", "123-45"),
        ("身份证号 11010519491231002X", "19491231"),
    ],
)
def test_secrets_are_taken_out(text: str, secret: str) -> None:
    clean, kinds = redact(text)
    assert secret not in clean
    assert "[redacted: " in clean
    assert kinds


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "src/components/UserProfile/ProfileHeader2Component/index.ts",
        "my password is too long to remember",
        "call 2026-05-15 or 030 1234567",
        "the token is expired",
        "internationalization and counterrevolutionaries",
        "the token came with commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "the secret has the id 123e4567-e89b-12d3-a456-426614174000",
        "tokens are read in src/reme/actions/redaction_of_secrets.py today",
        "密钥在 config/production/signing_keys 目录里",
        f"md5 {HEX}, sha256 {HEX}{HEX}",
        f"{HEX} broke the login",
        f"the token bug is fixed in commit {HEX}",
        f"the key file is at path {HEX}",
        f"the key's fingerprint is {HEX}",
        f"the token id {HEX}",
        f"the public key {HEX}{HEX}",
        f"the cache key is {HEX}",
        f"密钥文件的校验和是 {HEX}",
        f"build {HEX} has the new key",
        "the key ticket is PROJ-1234-fix-the-loginRedirect",
        "pin 4821 on the board, PIN entry takes 2000 ms, room DE44 1234 5678 9012",
        "login flow: user / password, then a token",
        "单号 110105194912310021，订单 20260515123456789",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize("given", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", -1e12, 1e300, "1969-12-31"])
def test_a_time_at_which_nobody_wrote_is_a_problem_of_its_message_alone(given: object) -> None:
    delivery = read({"role": "user", "content": "a b c", "timestamp": given}, {"role": "user", "content": "d e f"})
    assert [m.text for m in delivery.messages] == ["d e f"]
    assert "timestamp" in delivery.problems[0].reason


def test_messages_inside_a_request_or_an_export() -> None:
    text = json.dumps({"model": "m", "messages": [{"role": "user", "content": "我搬到里斯本了。"}]})
    assert [m.text for m in read_messages(text, CLOCK).messages] == ["我搬到里斯本了。"]


def test_separators_do_not_join_words() -> None:
    said = "周一\u2028周二\u3000三点 10\u00a0km\x0bthen\x00 👨\u200d👩\ufeff end"
    assert [m.text for m in read({"role": "user", "content": said}).messages] == [
        "周一 周二\u3000三点 10\u00a0km then 👨\u200d👩 end"
    ]


@pytest.mark.parametrize("given", ["1778837400", "1778837400.25", "1778837400000", 1778837400, "2026-05-15T09:30:00Z"])
def test_times_are_read_as_text_and_as_numbers(given: object) -> None:
    delivery = read({"role": "user", "content": "a b c", "timestamp": given})
    assert [m.at.strftime("%Y-%m-%d %H:%M") for m in delivery.messages] == [
        CLOCK.local(datetime(2026, 5, 15, 9, 30, tzinfo=UTC)).strftime("%Y-%m-%d %H:%M")
    ]


@pytest.mark.parametrize("text", ["User: I like tea.\nAssistant: Noted.", "我喜欢喝茶。", "- a list", "42"])
def test_plain_text_is_refused_with_the_way_out(text: str) -> None:
    with pytest.raises(InvalidInput, match="this is text, and no messages") as raised:
        read_messages(text, CLOCK)
    assert '{"role": "user"' in (raised.value.hint or "")


def test_what_is_no_object_among_messages_is_named() -> None:
    delivery = read("I like tea", {"role": "user", "content": "a b c"})
    assert [m.text for m in delivery.messages] == ["a b c"]
    assert "text without a role" in delivery.problems[0].reason


def test_one_message_over_several_lines_and_a_byte_order_mark() -> None:
    text = json.dumps({"role": "user", "content": "我搬到里斯本了。"}, indent=2)
    assert [m.text for m in read_messages("\ufeff" + text, CLOCK).messages] == ["我搬到里斯本了。"]
