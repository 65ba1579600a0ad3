"""Settings: where they come from, what they may be, and which vault is meant."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from reme.app import open_vault
from reme.config import Settings, create_vault, find_root, load_settings
from reme.errors import ConfigError


def vault(folder: Path, text: str) -> Path:
    (folder / "reme.yaml").write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {"TZ": "Asia/Shanghai"})
    assert settings.vault.timezone == "Asia/Shanghai"
    assert settings.folders.daily == "daily"
    assert (settings.digest.preset, settings.digest.fallback) == ("three", "unknown")


def test_the_file_goes_before_the_defaults_and_the_environment_before_the_file(tmp_path: Path) -> None:
    vault(tmp_path, "vault: {timezone: Europe/Berlin}\nfolders: {daily: 日记}\ndigest: {preset: six}\n")
    assert load_settings(tmp_path, {}).vault.timezone == "Europe/Berlin"
    assert load_settings(tmp_path, {}).folders.daily == "日记"
    assert load_settings(tmp_path, {}).digest.preset == "six"
    overridden = load_settings(tmp_path, {"REME_VAULT_TIMEZONE": "Asia/Tokyo", "REME_DREAM_MAX_UNITS": "9"})
    assert (overridden.vault.timezone, overridden.dream.max_units) == ("Asia/Tokyo", 9)


LINES = st.sampled_from(
    (
        *("vault:", "git:", "  timezone: Asia/Tokyo", "  auto_commit: no", "embedder: openai:x", "embedder: use"),
        *("  preset: six", "  fallback: Null", "reasoner: offline  # 中文", "# x", "", "  ", " git:", "on:"),
        *("  preset: six# x", "llm: ", "\tgit:", "git: \u2028", "digest:\r", "  fallback: 12", "  fallback: a: b"),
        *("dream", "vault: {}", "digest: six"),
    )
)


@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=6))
@example(["digest:", "  preset: six", "  fallback: misc", "embedder: use  # 中文"])
def test_a_plain_file_says_what_yaml_makes_of_it(tmp_path: Path, lines: list[str]) -> None:
    said: list[Settings | None] = []
    for text in ("\n".join(lines), "\n".join(["--- # which is not plain", *lines])):
        try:
            said.append(load_settings(vault(tmp_path, text), {"TZ": "UTC"}))
        except ConfigError:
            said.append(None)
    assert said[0] == said[1]


def test_buckets_of_ones_own(tmp_path: Path) -> None:
    vault(tmp_path, "digest:\n  fallback: sonstiges\n  buckets:\n    rezept: Gerichte und wie sie gemacht werden.\n")
    digest = load_settings(tmp_path, {}).digest
    assert digest.buckets == {"rezept": "Gerichte und wie sie gemacht werden."}
    assert digest.fallback == "sonstiges"


def test_dream_and_memory_can_be_set(tmp_path: Path) -> None:
    vault(
        tmp_path,
        "dream: {mode: propose, scan_days: 3, max_units: 9, parallel: 1, topics: 0, topic_days: 14,"
        " resource_bytes: 1000, candidates: 4}\nmemory: {messages_at_once: 50, open_days: 0, open_events: 3}\n",
    )
    with open_vault(tmp_path, settings=load_settings(tmp_path, {"REME_DREAM_PARALLEL": "2"})) as app:
        assert (app.settings.dream.mode, app.settings.dream.parallel) == ("propose", 2)
        note = {"path": "daily/2026-05-15/a.md", "content": "We decided to move to Ghent on 3 May 2026."}
        app.call("write", note, role="person", actor="test")
        report = app.call("auto_dream", {"date": "2026-05-15"}, role="person", actor="test")
        assert (report.proposed, report.interests) == (True, None)


def test_one_weight_set_leaves_the_others(tmp_path: Path) -> None:
    weights = load_settings(vault(tmp_path, "search: {layer_weights: {audit: 0.2}}\n"), {}).search.layer_weights
    assert (weights["audit"], weights["digest"]) == (0.2, 1.0)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("vaults: {}\n", "there is no setting vaults", "Did you mean vault?"),
        ("vault: {timezon: UTC}\n", "there is no setting vault.timezon", "Did you mean vault.timezone?"),
        ("dream: {buckets: []}\n", "there is no setting dream.buckets", ""),
        ("dream: {max_units: many}\n", "dream.max_units: 'many' is not acceptable", ""),
        ("dream: {max_units: 0}\n", "dream.max_units: 0 is not acceptable", ""),
        ("dream: {parallel: -1}\n", "dream.parallel: -1 is not acceptable", ""),
        ("dream: {mode: ask}\n", "dream.mode: 'ask' is not acceptable", ""),
        ("dream: {topics: -1}\n", "dream.topics: -1 is not acceptable", ""),
        ("memory: {messages_at_once: 0}\n", "memory.messages_at_once: 0 is not acceptable", ""),
        ("journal: {days: -1}\n", "journal: neither days nor bytes can be fewer than none", ""),
        ("digest: {preset: seven}\n", "digest.preset: 'seven' is not acceptable", ""),
        ("vault: {timezone: Mars/Olympus}\n", "there is no timezone 'Mars/Olympus'", "Europe/Berlin"),
        ("vault: UTC\n", "vault must be a mapping", ""),
        ("- a\n", "the file must be a mapping", ""),
        ("vault:\n  timezone: [UTC\n", "reme.yaml, line 3: this is not valid YAML", "Correct"),
        ("vault: {timezone: \x00}\n", "reme.yaml", ""),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(vault(tmp_path, text), {})
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    environment = {"TZ": "UTC"}
    assert load_settings(vault(tmp_path, "# nothing\n"), environment) == load_settings(None, environment)


def test_every_shipped_section_is_a_known_one(tmp_path: Path) -> None:
    create_vault(tmp_path, {"TZ": "Asia/Shanghai"})
    text = (tmp_path / "reme.yaml").read_text("utf-8")
    commented = "\n".join(line.removeprefix("# ") if ":" in line else line for line in text.splitlines()[1:])
    settings = load_settings(vault(tmp_path, commented), {})
    assert settings.vault.timezone == "Asia/Shanghai"
    assert settings.folders == Settings().folders
    assert list(settings.digest.buckets) == ["recipe"]


def test_the_vault_is_found_from_inside(tmp_path: Path) -> None:
    root = vault(tmp_path, "")
    inner = root / "daily" / "2026-05-15"
    inner.mkdir(parents=True)
    assert find_root(None, inner, {}) == root.resolve()
    assert find_root(None, inner, {"REME_VAULT": ""}) == root.resolve()


def test_the_state_folder_marks_a_vault_too(tmp_path: Path) -> None:
    (tmp_path / ".reme").mkdir()
    assert find_root(None, tmp_path, {}) == tmp_path.resolve()


def test_the_named_vault_goes_before_the_environments_and_that_before_the_place(tmp_path: Path) -> None:
    named, set_, here = (tmp_path / name for name in ("named", "set", "here"))
    for folder in (named, set_, here):
        folder.mkdir()
        vault(folder, "")
    environment = {"REME_VAULT": str(set_)}
    assert find_root(str(named), here, environment) == named.resolve()
    assert find_root(None, here, environment) == set_.resolve()
    assert find_root(None, here, {}) == here.resolve()


@pytest.mark.parametrize(("given", "environment"), [("gone", {}), (None, {"REME_VAULT": "gone"})])
def test_a_vault_that_is_not_there_is_an_error(tmp_path: Path, given: str | None, environment: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="'gone'") as caught:
        find_root(given, vault(tmp_path, ""), environment)
    assert "reme init gone" in caught.value.hint


@pytest.mark.parametrize("through", ["--vault", "REME_VAULT"])
def test_no_folder_becomes_a_vault_by_being_named(tmp_path: Path, through: str) -> None:
    root, alone = vault(tmp_path, ""), tmp_path.parent / f"{tmp_path.name} 独"
    (root / "digest").mkdir()
    alone.mkdir()
    for folder, told in ((root / "digest", f"a folder of the vault {root}"), (alone, "is no vault")):
        given, environment = (str(folder), {}) if through == "--vault" else (None, {"REME_VAULT": str(folder)})
        with pytest.raises(ConfigError, match=re.escape(told)) as caught:
            find_root(given, root, environment)
        assert f"reme init {folder}" in caught.value.hint
        assert list(folder.iterdir()) == []


def test_no_vault_anywhere_leads_to_init(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_root(None, tmp_path, {})
    assert str(tmp_path) in caught.value.message
    assert "reme init" in caught.value.hint


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "app.json").write_text("{}")
    (tmp_path / ".gitignore").write_text("mine\n")
    (tmp_path / "Note.md").write_bytes(b"\xef\xbb\xbf# Note\r\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert create_vault(tmp_path, {"TZ": "UTC"}) == ("reme.yaml", ".reme/.gitignore")
    (tmp_path / "reme.yaml").write_text("vault: {timezone: Asia/Tokyo}\n")
    assert create_vault(tmp_path, {"TZ": "UTC"}) == ()
    assert (tmp_path / "reme.yaml").read_text() == "vault: {timezone: Asia/Tokyo}\n"
    assert (tmp_path / ".reme" / ".gitignore").read_text() == "*\n"
    assert {path: path.read_bytes() for path in before} == before


def test_layers_are_spelled_as_their_folders_are(tmp_path: Path) -> None:
    def daily(text: str = "") -> str:
        return load_settings(vault(tmp_path, text), {"TZ": "UTC"}).folders.daily

    assert daily() == "daily"
    (tmp_path / "DAILY").write_text("a file is no folder")
    (tmp_path / "Elsewhere").mkdir()
    (tmp_path / "Daily").symlink_to(tmp_path / "Elsewhere")
    assert daily() == "daily"
    (tmp_path / "DAILY").unlink()
    (tmp_path / "Daily").unlink()
    (tmp_path / "Daily" / "Tagebücher").mkdir(parents=True)
    assert daily() == "Daily"
    assert daily("folders: {daily: daily/tagebücher}") == "Daily/Tagebücher"
    assert daily("folders: {daily: DAILY/new}") == "Daily/new"
    (tmp_path / "daily").mkdir(exist_ok=True)
    if len(list(tmp_path.glob("[Dd]aily"))) == 2:  # a disk that tells the two apart
        assert daily() == "daily"
        assert daily("folders: {daily: DAILY}") == "DAILY"
    with pytest.raises(ConfigError, match="share the folder"):
        daily("folders: {daily: notes, digest: Notes}")


def test_init_where_a_file_stands_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file"):
        create_vault(tmp_path / "file", {})


def test_what_notes_must_say_is_the_vaults_to_declare(tmp_path: Path) -> None:
    text = "schema:\n  preset: axes\n  custom:\n    recipes:\n      buckets: [recipe]\n      required: [servings]\n"
    schema = load_settings(vault(tmp_path, text), {}).schema
    assert list(schema.presets()) == ["core", "axes", "recipes"]
    assert schema.custom["recipes"].required == ("servings",)
    for wrong in ("preset: loose", "custom: {a: {requires: [x]}}", "custom: {a: {layers: [kitchen]}}"):
        with pytest.raises(ConfigError, match=r"schema\."):
            load_settings(vault(tmp_path, f"schema: {{{wrong}}}"), {})


@pytest.mark.parametrize(
    ("folders", "reason"),
    [
        ("{daily: ../esc}", "is not a path inside the vault"),
        ("{daily: .reme}", "hidden"),
        ("{daily: ''}", "is empty"),
        ("{daily: digest}", "share the folder"),
        ("{daily: digest/days}", "share the folder"),
        ("{daily: days/}", "write 'days'"),
    ],
)
def test_folders_that_could_not_work_are_refused_when_loaded(tmp_path: Path, folders: str, reason: str) -> None:
    (tmp_path / "reme.yaml").write_text(f"folders: {folders}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=reason):
        load_settings(tmp_path, {})


@pytest.mark.parametrize("text", ["embedder: openai:m", "endpoint: {url: 'http://h/v1'}"])
def test_a_vaults_own_file_cannot_have_notes_sent_anywhere(tmp_path: Path, text: str) -> None:
    (tmp_path / "reme.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="where notes are sent"):
        load_settings(tmp_path, {})
    (tmp_path / "reme.yaml").write_text("embedder: bundled", encoding="utf-8")
    environment = {"REME_EMBEDDER": "openai:m", "REME_ENDPOINT_URL": "http://h/v1", "REME_ENDPOINT_KEY": "secret"}
    settings = load_settings(tmp_path, environment)
    assert (settings.embedder, settings.endpoint.url) == ("openai:m", "http://h/v1")
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("key", ["host: 0.0.0.0", "token_file: /tmp/x", "origins: https://evil.example"])
def test_a_vaults_own_file_cannot_let_anybody_in(tmp_path: Path, key: str) -> None:
    (tmp_path / "reme.yaml").write_text(f"http: {{{key}}}", encoding="utf-8")
    with pytest.raises(ConfigError, match="who may come in") as caught:
        load_settings(tmp_path, {})
    assert f"REME_HTTP_{key.split(':', 1)[0].upper()}" in caught.value.hint
    (tmp_path / "reme.yaml").write_text("http: {port: 9000, max_body: 1000}", encoding="utf-8")
    settings = load_settings(tmp_path, {"REME_HTTP_HOST": "::1", "REME_HTTP_PORT": "9001"}).http
    assert (settings.host, settings.port, settings.max_body, settings.token_file) == ("::1", 9001, 1000, "")
    with pytest.raises(ConfigError, match=r"http\.port"):
        load_settings(tmp_path, {"REME_HTTP_PORT": "70000"})


def test_where_a_machine_keeps_its_state_is_for_its_environment_to_say(tmp_path: Path) -> None:
    (tmp_path / "reme.yaml").write_text("state_dir: /tmp/elsewhere\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="where a machine keeps its state"):
        load_settings(tmp_path, {})
    (tmp_path / "reme.yaml").write_text("", encoding="utf-8")
    assert load_settings(tmp_path, {}).state_dir == ""
    assert load_settings(tmp_path, {"REME_STATE_DIR": "~/state"}).state_dir == "~/state"


def test_state_of_each_vault_has_a_folder_of_its_own_where_it_is_kept_elsewhere(tmp_path: Path) -> None:
    from reme.app import open_vault

    kept: list[Path] = []
    for name in ("one/notes", "two/notes"):
        root = tmp_path / name
        root.mkdir(parents=True)
        (root / "a.md").write_text("茶\n", encoding="utf-8")
        settings = load_settings(root, {"REME_STATE_DIR": str(tmp_path / "state")})
        with open_vault(root, settings=settings) as app:
            app.call("write", {"path": "b", "content": "tea"}, role="person", actor="test")
            assert len(app.call("search", {"query": "茶"}, role="person", actor="test").hits) == 1
            kept.append(app.vault.state_dir)
        assert not (root / ".reme").exists()
        assert (kept[-1] / "index.db").exists()
    assert kept[0] != kept[1]
    assert {path.parent for path in kept} == {tmp_path / "state"}
