"""Who is let in over HTTP: which host, which origin, which token."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme.errors import ConfigError
from reme.faces.http.guard import Access, parse_origins
from reme.faces.http.routes import ROUTES
from reme.faces.http.tokens import make_tokens, read_tokens

from .http_client import HOST, JSON, Face

EVIL = "https://evil.example"
TOKENS = {role: role.ljust(40, "0") for role in ("agent", "curator", "person")}
EVERY_ROUTE = [
    (method, route.address.replace("{operation}", "write").replace("{path}", "new.md"))
    for route in ROUTES
    for method in (*route.methods, "OPTIONS")
]
WRITING = b'{"path": "new.md", "content": "x"}'


@pytest.fixture
def face(vault: Path) -> Iterator[Face]:
    with Face(vault) as face:
        yield face


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text("# who may come in\n\n" + "".join(f"{token} {role}\n" for role, token in TOKENS.items()))
    file.chmod(0o600)
    return file


@pytest.fixture
def closed(vault: Path, token_file: Path) -> Iterator[Face]:
    """A face that asks for tokens."""
    with Face(vault, Access("127.0.0.1", 8765, tokens=read_tokens(token_file, vault))) as face:
        yield face


def bearer(role: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[role]}"}


@pytest.mark.parametrize(
    "origin",
    [
        EVIL,
        "null",
        "http://localhost:3000",
        "http://127.0.0.1:8766",
        "file://",
        "https://127.0.0.1:8765",
        "http://127.0.0.1",
    ],
)
def test_pages_of_others_reach_nothing(face: Face, vault: Path, origin: str) -> None:
    for method, address in EVERY_ROUTE:
        answer = face.ask(method, address, WRITING, {**JSON, "Origin": origin})
        assert (answer.status, answer.json["kind"]) == (403, "refused"), (method, address)
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert not (vault / "new.md").exists()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_that_hides_its_origin_reaches_nothing(face: Face, site: str) -> None:
    assert face.ask("GET", "/notes/茶.md".encode().decode("latin-1"), headers={"Sec-Fetch-Site": site}).status == 403
    assert face.ask("GET", "/healthz", headers={"Sec-Fetch-Site": "same-origin"}).status == 200
    assert face.ask("GET", "/healthz", headers={"Sec-Fetch-Site": "none"}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:8766",
        "",
        "localhost",
        "localhost.:8765",
        "[::1]:1",
        "127.0.0.1:8765@evil.example",
        "evil.example#127.0.0.1:8765",
        "127.0.0.1:8765, evil.example",
        "192.168.1.5:8765",
        "例え.jp:8765",
        "[::1",
        "127.0.0.1:99999999999",
    ],
)
def test_a_name_that_is_not_ours_reaches_nothing(face: Face, vault: Path, host: str) -> None:
    for method, address in EVERY_ROUTE:
        answer = face.ask(method, address, WRITING, {**JSON, "Host": host})
        assert (answer.status, answer.json["kind"]) == (403, "refused"), (method, address)
    assert not (vault / "new.md").exists()


@pytest.mark.parametrize("host", [HOST, "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_our_own_names_and_pages_are_let_in(face: Face, host: str) -> None:
    assert face.ask("GET", "/readyz", headers={"Host": host}).status == 200
    assert face.ask("GET", "/readyz", headers={"Host": host, "Origin": f"http://{host}"}).status == 200


def test_on_every_interface_an_address_is_ours_and_a_name_is_not(vault: Path) -> None:
    with Face(vault, Access("0.0.0.0", 8765)) as face:
        for host in ("192.168.1.5:8765", "[fe80::1]:8765", "localhost:8765"):
            assert face.ask("GET", "/healthz", headers={"Host": host}).status == 200
        assert face.ask("GET", "/healthz", headers={"Host": "evil.example:8765"}).status == 403


def test_an_origin_that_is_named_is_let_in_and_may_read(vault: Path) -> None:
    origin = "https://memory.example.org"
    with Face(vault, Access("127.0.0.1", 8765, parse_origins(f"{origin}, http://localhost:3000"))) as face:
        asked = {"Origin": origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "if-match"}
        preflight = face.ask("OPTIONS", "/notes/a.md", headers=asked)
        assert (preflight.status, preflight.headers["access-control-allow-origin"]) == (200, origin)
        answer = face.call("search", {"Origin": origin}, query="tea")
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, origin)
        assert "*" not in answer.headers.values()
        assert face.ask("GET", "/readyz", headers={"Host": "memory.example.org", "Origin": origin}).status == 200
        refused = face.ask("OPTIONS", "/notes/a.md", headers={**asked, "Origin": EVIL})
        assert refused.status == 403
        assert not [name for name in refused.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "null",
        "evil.example",
        "ftp://a",
        "https://a/",
        "https://a/b",
        "https://",
        "http://*",
        "https://u@a",
        "http://a:99999",
        "https://a?b",
    ],
)
def test_what_is_no_origin_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ConfigError, match="no origin"):
        parse_origins(text)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {TOKENS['person']}",
        TOKENS["person"],
        f"Bearer {TOKENS['person']}x",
        f"Bearer {TOKENS['person'][:-1]}",
        "Bearer 错的",
    ],
)
def test_every_route_asks_for_the_token(closed: Face, vault: Path, sent: str) -> None:
    for method, address in EVERY_ROUTE:
        if address != "/healthz":
            answer = closed.ask(method, address, WRITING, {**JSON, "Authorization": sent})
            assert (answer.status, answer.headers["www-authenticate"]) == (401, 'Bearer realm="reme"')
            assert not any(token in answer.text for token in TOKENS.values())
    assert not (vault / "new.md").exists()


def test_that_it_lives_needs_no_token(closed: Face) -> None:
    assert closed.ask("GET", "/healthz").json == {"service": "reme", "status": "ok"}
    assert closed.ask("GET", "/healthz/").status == 401
    assert closed.ask("GET", "/healthz", headers={"Host": "evil.example:8765"}).status == 403


def test_a_token_carries_its_role(closed: Face, vault: Path) -> None:
    assert closed.call("accept", bearer("agent"), proposal="x").json["detail"] == "accept is not for the role agent"
    for role in ("curator", "person"):
        assert closed.call("accept", bearer(role), proposal="x").status == 404
    note = {"path": "digest/wiki/茶.md", "content": "# 茶\n"}
    assert closed.call("write", bearer("agent"), **note).status == 403
    assert not (vault / "digest").exists()
    assert closed.call("write", bearer("person"), **note).status == 200


def test_without_a_token_nobody_is_a_person(face: Face) -> None:
    answer = face.call("accept", bearer("person"), proposal="x")
    assert (answer.status, answer.json["kind"]) == (403, "refused")


def test_a_token_is_for_the_vaults_that_it_names(vault: Path, tmp_path: Path, token_file: Path) -> None:
    other = tmp_path / "另一 vault"
    other.mkdir()
    token_file.write_text(f"{TOKENS['agent']} agent '{other}'\n{TOKENS['person']} person '{vault}' '{other}'\n")
    here, there = read_tokens(token_file, vault), read_tokens(token_file, other)
    assert [here.role_of(TOKENS[role]) for role in TOKENS] == [None, None, "person"]
    assert [there.role_of(TOKENS[role]) for role in TOKENS] == ["agent", None, "person"]
    token_file.write_text(f"{TOKENS['agent']} agent '{other}'\n")
    with pytest.raises(ConfigError, match="no token for this vault"):
        read_tokens(token_file, vault)


def test_a_fresh_file_has_one_token_of_an_agent_that_nobody_else_reads(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "tokens"
    make_tokens(file)
    token, role = file.read_text().splitlines()[-1].split()
    assert (len(token), role) == (43, "agent")
    assert read_tokens(file, vault).role_of(token) == "agent"
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConfigError, match="cannot be made"):
        make_tokens(file)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_may_read_is_refused(vault: Path, token_file: Path, mode: int) -> None:
    token_file.chmod(mode)
    with pytest.raises(ConfigError, match="others may read"):
        read_tokens(token_file, vault)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("short agent", "32 characters or more"),
        ("很" * 40, "of ASCII alone"),
        ("x" * 40 + " system", "'system' is no role"),
        ("x" * 40 + " owner", "'owner' is no role"),
        ("'" + "x" * 40, "32 characters"),
        ("", "no token for this vault"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_not_shown(vault: Path, token_file: Path, line: str, reason: str) -> None:
    token_file.write_text(f"# first\n{line}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=reason) as caught:
        read_tokens(token_file, vault)
    assert "x" * 40 not in str(caught.value) + caught.value.hint + repr(caught.value.details)


def test_tokens_do_not_show_themselves(vault: Path, token_file: Path) -> None:
    tokens = read_tokens(token_file, vault)
    assert not any(token in repr(tokens) + repr(Access("x", 1, tokens=tokens)) for token in TOKENS.values())
    token_file.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        read_tokens(token_file, vault)
