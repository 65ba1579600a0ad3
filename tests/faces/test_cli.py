"""The command line: arguments, output, exit codes, and what it loads to do so."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reme import __version__
from reme.faces.cli import bar
from reme.faces.cli.entry import run

from .conftest import Run, environment

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_vault(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(vault)
    monkeypatch.delenv("REME_VAULT", raising=False)


def answer(capsys: Capture, *arguments: str) -> tuple[int, Any]:
    """Exit code and the one JSON document of a call with ``--json``."""
    code = run([*arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, json.loads(captured.out)


def shown(capsys: Capture, *arguments: str) -> tuple[str, str]:
    """What a call that succeeds leaves on standard output and error."""
    assert run(list(arguments)) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


# Errors


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("not_found", 1),
        ("invalid_input", 2),
        ("config", 2),
        ("conflict", 3),
        ("refused", 4),
        ("unavailable", 5),
        ("bug", 70),
    ],
)
def test_p14_each_kind_of_failure_has_its_exit_code(capsys: Capture, kind: str, code: int) -> None:
    assert run(["fail", kind]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert "\nhint: " in captured.err
    assert "Traceback" not in captured.err
    found, document = answer(capsys, "fail", kind)
    assert found == code
    assert document["error"]["kind"] == kind
    assert document["error"]["message"]


@pytest.mark.usefixtures("toys")
def test_the_trace_of_a_bug_is_shown_on_demand(capsys: Capture) -> None:
    assert run(["-v", "fail", "bug"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch", "x"], "there is no command 'serch'"),
        (["read"], "Missing argument 'PATH'"),
        (["read", "a", "b", "c"], "unexpected extra argument"),
        (["read", "a", "--nope"], "No such option"),
        (["search", "x", "--limit", "-5"], "--limit: '-5' is not acceptable"),
        (["search", "x", "--limit", "many"], "limit: 'many' is not acceptable"),
        (["--role", "king", "read", "a"], "'king' is not one of"),
        (["--vault", "gone", "read", "a"], "the vault 'gone' (--vault) does not exist"),
    ],
)
def test_b61_wrong_usage_is_exit_2_and_told(capsys: Capture, arguments: list[str], message: str) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert run(["--json", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err == ""
    assert message in json.loads(captured.out)["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["write", "a", "new", "--overwrite"], "give its revision as --expected-revision, or give --force."),
        (["read", "a", "--start-line", "5", "--end-line", "2"], "--end-line 2 is before --start-line 5"),
        (["delete", "folder"], "Give --recursive to delete it"),
        (["move", "a", "c#d"], "or move with --no-retarget."),
        (["append", "a", ""], "CONTENT: What to add."),
        (["read", "gone"], "See what is there with: reme list"),
        (["read", "folder"], "List it with: reme list folder"),
        (["show", "20200101-000000-000000-abcdef"], "See what there is with: reme log"),
        (["download", "a", "--into", "a"], "Copy it there with: reme copy"),
        (["append", "a", "- 茶"], "a value that begins with a dash stands behind --"),
    ],
)
def test_errors_name_parameters_as_they_are_typed(capsys: Capture, arguments: list[str], told: str) -> None:
    for path, text in (("a", "old 旧\n"), ("folder/b", "[[a]]\n")):
        assert run(["write", path, text]) == 0
    assert run(arguments) != 0
    assert told in capsys.readouterr().err
    _, document = answer(capsys, *arguments)
    assert told in document["error"].get("hint", "") + document["error"]["message"]


def test_no_vault_leads_to_init(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["status"]) == 2
    assert "reme init" in capsys.readouterr().err


# Arguments


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize("text", ["12345", "007", "true", "null", '{"a":1}', "[1]", "预算 😀"])
def test_b55_arguments_stay_text(capsys: Capture, text: str) -> None:
    assert answer(capsys, "echo_back", text)[1]["text"] == text


@pytest.mark.usefixtures("toys")
def test_b61_what_begins_with_a_dash_stands_behind_two(capsys: Capture) -> None:
    assert run(["echo_back", "--", "-draft"]) == 0
    assert capsys.readouterr().out == "-draft\n"
    assert run(["echo_back", "--", "--json"]) == 0
    assert capsys.readouterr().out == "--json\n"


@pytest.mark.usefixtures("toys")
def test_every_kind_of_parameter(capsys: Capture) -> None:
    arguments = ["echo-back", "x", "--tags", "a", "--tags", "b", "--limit", "7", "--loud", "--order", "down"]
    assert answer(capsys, *arguments) == (
        0,
        {"text": "X", "tags": ["a", "b"], "limit": 7, "extra": {"order": "down"}},
    )


@pytest.mark.usefixtures("toys")
def test_common_options_may_stand_on_either_side(capsys: Capture, vault: Path, tmp_path: Path) -> None:
    for arguments in (["--vault", str(vault), "echo_back", "x"], ["echo_back", "x", "--vault", str(vault)]):
        assert run(arguments) == 0
        assert capsys.readouterr().out == "x\n"
    assert run(["-q", "echo_back", "x"]) == 0
    assert capsys.readouterr().out == ""


def test_standard_input_is_taken_as_it_is(reme_process: Run, vault: Path) -> None:
    text = "一行\r\n- two\n".encode()
    assert reme_process("write", "in.txt", "-", stdin=text).returncode == 0
    assert (vault / "in.txt").read_bytes() == text
    refused = reme_process("write", "other.txt", "-", stdin=b"\xff\xfe")
    assert refused.returncode == 2
    assert b"standard input is not UTF-8" in refused.stderr
    assert not (vault / "other.txt").exists()


def test_messages_come_from_a_file_or_standard_input(reme_process: Run, vault: Path, tmp_path: Path) -> None:
    lines = '{"role": "user", "content": "I prefer green tea to coffee."}\n{"role": "assis'
    (tmp_path / "chat.jsonl").write_text(lines, encoding="utf-8")
    for source, session in ((str(tmp_path / "chat.jsonl"), "one"), ("-", "two")):
        done = reme_process("auto_memory", source, session, "--json", stdin=lines.encode())
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report["received"] == 1
        assert [problem["line"] for problem in report["problems"]] == [2]
        assert (vault / "session" / "dialog" / f"{session}.jsonl").exists()
    missing = reme_process("auto_memory", "gone.jsonl", "three")
    assert missing.returncode == 1
    assert b"gone.jsonl" in missing.stderr


# The operations


def test_b61_no_hits_are_an_answer_and_an_unknown_folder_is_none(capsys: Capture) -> None:
    code, document = answer(capsys, "search", "zzzunheardof")
    assert (code, document["hits"]) == (1, [])
    assert run(["search", "zzzunheardof"]) == 1
    assert capsys.readouterr() == (
        "no hits: ask in other words or with fewer conditions; list shows what there is\n",
        "",
    )
    code, document = answer(capsys, "search", "tea", "--paths", "nope")
    assert code != 0
    assert "nope" in document["error"]["message"]
    assert run(["search", "tea", "--paths", "nope"]) == code
    assert "nope" in capsys.readouterr().err
    assert run(["search", "--", "-draft"]) == 1


def test_a_hit_is_shown_with_its_place(capsys: Capture) -> None:
    assert run(["search", "green tea"]) == 0
    out = capsys.readouterr().out
    assert "茶.md" in out
    assert "Green tea is brewed at 80 degrees." in out
    assert "==========" not in out
    for option in ("--full", "--explain"):
        assert run(["search", "green tea", option]) == 0
        told = capsys.readouterr().out
        assert told.startswith("========== 茶.md ==========\n[node] ")
        assert ("how it came about" in told) == (option == "--explain")
    hits = answer(capsys, "search", "green tea")[1]["hits"]
    assert [hit["path"] for hit in hits] == ["茶.md"]


@pytest.mark.parametrize("path", [".", "", "/", "./", "daily", "digest/", "resource", "..", ".reme", "%2e%2e"])
def test_p01_nothing_vital_is_deleted(capsys: Capture, vault: Path, path: str) -> None:
    (vault / "daily").mkdir()
    (vault / "daily" / "note.md").write_text("x")
    before = sorted(vault.rglob("*.md"))
    for arguments in (["delete", path], ["delete", path, "--recursive"]):
        code, document = answer(capsys, "--role", "person", *arguments)
        assert code in (1, 2, 4), document
    assert sorted(vault.rglob("*.md")) == before


def test_a_change_is_logged_shown_and_undone(capsys: Capture, vault: Path) -> None:
    before = (vault / "茶.md").read_bytes()
    run_id = answer(capsys, "edit", "茶.md", "80 degrees", "75 degrees")[1]["run"]
    assert answer(capsys, "log")[1]["runs"][0]["run"] == run_id
    assert run(["show", run_id]) == 0
    assert "+Green tea is brewed at 75 degrees." in capsys.readouterr().out
    assert run(["undo", run_id]) == 0
    assert (vault / "茶.md").read_bytes() == before


def test_the_role_decides(capsys: Capture, vault: Path) -> None:
    arguments = ["write", "digest/wiki/tea.md", "# Tea"]
    assert answer(capsys, *arguments)[0] == 4, "without a terminal it is an agent that asks"
    assert answer(capsys, "--role", "person", *arguments)[0] == 0


def test_who_waits_too_long_for_the_lock_is_told(capsys: Capture, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REME_VAULT_LOCK_TIMEOUT", "0.1")
    script = (
        "import sys, time, pathlib\n"
        "from reme.app import open_vault\n"
        "from reme.vault import locked\n"
        f"with open_vault(pathlib.Path({str(vault)!r})) as app, locked(app.vault):\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"locked\n"
        code, document = answer(capsys, "append", "茶.md", "more")
        other.communicate(b"")
    assert (code, document["error"]["kind"]) == (5, "unavailable")
    assert "more" not in (vault / "茶.md").read_text("utf-8")


# The commands of a shell


def test_init_makes_a_vault_and_says_so(capsys: Capture, tmp_path: Path) -> None:
    code, document = answer(capsys, "init", str(tmp_path / "new"))
    assert (code, document["created"]) == (0, ["reme.yaml", ".reme/.gitignore"])
    assert answer(capsys, "init", str(tmp_path / "new"))[1]["created"] == []
    assert answer(capsys, "--vault", str(tmp_path / "new"), "list") == (
        1,
        {"files": [], "total": 0, "offset": 0, "truncated": False},
    )


def test_a_folder_in_another_letter_case_is_the_layer(capsys: Capture, tmp_path: Path) -> None:
    root = tmp_path / "old"
    for path, text in {"Daily/2026-05-15.md": "my day 我的一天\n", "DIGEST/tea.md": "zebra\n", "x.md": "x\n"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    told = shown(capsys, "init", str(root))[1]
    assert "its folder Daily is the daily layer now" in told
    assert "its folder DIGEST is the digest layer now" in told
    assert "its folder" not in shown(capsys, "init", str(root))[1]
    made = answer(capsys, "--vault", str(root), "daily_create", "茶会")[1]["path"]
    assert (made.partition("/")[0], made.rpartition("/")[2]) == ("Daily", "茶会.md")
    assert {path.name for path in root.iterdir()} == {"DIGEST", "Daily", ".reme", "reme.yaml", "x.md"}
    assert f"[[{made}|" in (root / f"{made.rpartition('/')[0]}.md").read_text("utf-8")
    assert (root / "Daily/2026-05-15.md").read_text("utf-8") == "my day 我的一天\n"
    listed = shown(capsys, "--vault", str(root), "list", "--layers", "daily")[0]
    assert "Daily/2026-05-15.md" in listed
    assert made in listed
    assert "DIGEST/tea.md" in shown(capsys, "--vault", str(root), "search", "zebra", "--layers", "digest")[0]


def test_version(capsys: Capture) -> None:
    assert answer(capsys, "version")[1]["version"] == __version__
    assert run(["version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_help_needs_no_vault(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--help"], ["help"]):
        assert run(arguments) == 0
        out = capsys.readouterr().out
        assert "auto_memory" in out
        assert "init" in out
    for arguments in (["search", "--help"], ["help", "search"]):
        assert run(arguments) == 0
        assert "--limit" in capsys.readouterr().out
    assert run(["help", "serch"]) == 2
    assert "Did you mean 'search'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "offered"),
    [("reme read ", "茶.md"), ("reme sea", "search"), ("reme --role ", "curator"), ("reme read 茶", "茶.md")],
)
def test_a_shell_completes_commands_and_paths(vault: Path, words: str, offered: str) -> None:
    position = str(words.count(" "))
    completed = subprocess.run(
        [sys.executable, "-m", "reme"],
        env={
            **environment(),
            "_REME_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": position,
        },
        cwd=vault,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert offered in completed.stdout.decode()


# The process


def test_long_work_shows_a_person_how_far_it_has_come(
    capsys: Capture, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (vault / f"茶-{number}.md").write_text(f"Tea number {number}\n", encoding="utf-8")
    monkeypatch.setattr(bar, "_MOMENT_S", 0.0)
    monkeypatch.setattr(bar, "_STEP_S", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert shown(capsys, "search", "Tea")[1] == "", "nobody looks on where there is no terminal"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    out, err = shown(capsys, "reindex")
    assert "/41" in err
    assert "reading files" in err
    assert out.startswith("indexed 41 files")
    assert shown(capsys, "--quiet", "reindex")[1] == ""


def test_a_closed_pipe_is_told_by_the_exit_code_alone(vault: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "reme", "help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=vault,
    )
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    assert process.wait(60) == 141
    process.stderr.close()


def test_output_is_utf8_whatever_the_locale(vault: Path) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "reme", "list"],
        env={
            **environment(),
            "PYTHONIOENCODING": "latin-1",
        },
        cwd=vault,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert "茶.md" in completed.stdout.decode("utf-8")


def modules_after(*arguments: str) -> set[str]:
    """The modules that a command line has loaded in the end."""
    script = (
        "import sys\nfrom reme.faces.cli import main\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write('\\n'.join(sys.modules))\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=True, text=True, timeout=60
    )
    return set(completed.stderr.splitlines())


HEAVY = {"apsw", "asyncio", "click", "numpy", "pathspec", "pydantic", "pydantic_core", "rich", "rjieba", "yaml"}


def test_the_version_costs_next_to_nothing() -> None:
    loaded = modules_after("--version")
    assert not loaded & HEAVY
    assert len(loaded - modules_after_bare_start()) < 20


def test_help_loads_nothing_heavy() -> None:
    assert not modules_after("--help") & {"numpy", "pathspec", "pydantic", "pydantic_core", "rich", "rjieba"}


def test_a_simple_call_loads_no_more_than_it_needs(vault: Path) -> None:
    loaded = modules_after("--vault", str(vault), "read", "茶.md", "--json")
    assert not loaded & {"asyncio", "numpy", "pydantic", "pydantic_core", "reme.actions", "reme.reason", "rich"}


def modules_after_bare_start() -> set[str]:
    completed = subprocess.run(
        [sys.executable, "-c", "import sys; sys.stderr.write('\\n'.join(sys.modules))"],
        env=environment(),
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    return set(completed.stderr.splitlines())


def test_findings_are_exit_1_and_still_an_answer(reme_process: Run) -> None:
    clean = reme_process("lint", "--rules", "dangling")
    assert (clean.returncode, clean.stderr) == (0, b"")
    reme_process("write", "adrift", "[[nowhere]]")
    found = reme_process("lint", "adrift", "--rules", "dangling", "--json")
    assert (found.returncode, found.stderr) == (1, b"")
    assert [finding["target"] for finding in json.loads(found.stdout)["findings"]] == ["nowhere"]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["search", "从没听说过的东西"], "hits"),
        (["recall", "从没听说过的东西"], "facts"),
        (["list", "--layers", "digest"], "files"),
        (["list", "--offset", "1000"], "files"),
        (["traverse", "茶"], "edges"),
        (["tags"], "tags"),
        (["log", "--path", "没有.md"], "runs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_looks_for_something_and_finds_nothing_is_exit_1(capsys: Capture, arguments: list[str], key: str) -> None:
    code, document = answer(capsys, *arguments)
    assert (code, document[key]) == (1, [])
    code = run(arguments)
    printed = capsys.readouterr()
    assert (code, printed.err) == (1, "")
    assert re.match(r"no|nodes \(1\):", printed.out)
    assert run(["-q", *arguments]) == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [["lint", "--rules", "dangling"], ["stale"], ["conflicts"]])
def test_what_checks_and_finds_nothing_is_exit_0(capsys: Capture, arguments: list[str]) -> None:
    assert run([*arguments, "-q"]) == 0


def test_a_value_of_a_property_is_typed_as_in_yaml(reme_process: Run, vault: Path) -> None:
    (vault / "typed.md").write_text("x\n")
    for key, word in (("number", "3"), ("text", '"3"'), ("list", "[a, 2]"), ("link", "[[N]]")):
        assert reme_process("frontmatter_update", "typed", key, word).returncode == 0
    assert "number: 3\n" in (vault / "typed.md").read_text()
    shown = json.loads(reme_process("frontmatter_read", "typed", "--json").stdout)["properties"]
    assert shown == {"number": 3, "text": "3", "list": ["a", 2], "link": "[[N]]"}
