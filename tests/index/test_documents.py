"""Documents: their text is found under its place, once for each content, and a hostile one stops nothing."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from reme.index import IndexSettings, documents, extract, open_index, rebuild, take_texts, wait
from reme.index.documents import Extractor
from reme.paths import VaultPath
from reme.vault import Layout
from tests.index.papers import docx, epub, pdf, pptx, xlsx
from tests.index.place import Place, holding, paths_of

needs_extra = pytest.mark.skipif(not extract.converter(), reason="the extra documents is not installed")

PAPERS = {
    "a.pdf": pdf(["qzfirst page", "Keys rotate quarterly 密钥轮换"]),
    "b.docx": docx([("Setup", "Install qzservice."), ("Usage 用法", "每季度轮换一次密钥。")]),
    "c.pptx": pptx([("Intro", "qzpears first"), ("计划", "第二张幻灯片")]),
    "d.xlsx": xlsx([("Prices", [["fruit", "price"], ["qzpear", "3"]]), ("库存", [["水果"], ["梨子"]])]),
    "e.epub": epub([("One", "qzgrow"), ("第二章", "梨子成熟")]),
}


def found(place: Place, query: str) -> list[tuple[str, tuple[str, ...]]]:
    """Paths and trails of the chunks that answer."""
    keys = holding(place.index, *place.index.terms(query))
    paths = dict(zip(keys, paths_of(place.index, keys), strict=True))
    return sorted((paths[key], chunk.trail) for key, chunk in place.index.chunks(keys).items())


def lay(place: Place) -> None:
    for name, data in PAPERS.items():
        place.write(f"resource/{name}", data)


@needs_extra
def test_the_text_of_every_kind_is_found_under_its_place(place: Place) -> None:
    lay(place)
    place.refresh()
    assert {problem.rule for problem in place.index.problems()} == {"document"}
    done = take_texts(place.index, place.vault)
    assert (done.done, done.failed, done.pending) == (5, 0, 0)
    assert found(place, "qzfirst") == [("resource/a.pdf", ("page 1",))]
    assert found(place, "密钥轮换 quarterly")[0] == ("resource/a.pdf", ("page 2",))
    assert ("resource/b.docx", ()) in found(place, "qzservice")
    assert "resource/c.pptx" in [path for path, _ in found(place, "幻灯片")]
    assert "resource/d.xlsx" in [path for path, _ in found(place, "qzpear")]
    assert "resource/e.epub" in [path for path, _ in found(place, "梨子成熟")]
    assert place.index.problems() == []
    assert (note := place.index.note(VaultPath("resource/a.pdf"))) is not None
    assert note.format == "document"


@needs_extra
def test_no_page_is_taken_for_frontmatter(place: Place) -> None:
    place.write("a.docx", docx([("--- qzrule ---", "--- qztext ---")]))
    place.write("b.pdf", pdf(["--- qzpage ---"]))
    place.refresh()
    take_texts(place.index, place.vault)
    assert [path for word in ("qzrule", "qztext", "qzpage") for path, _ in found(place, word)] == [
        "a.docx",
        "a.docx",
        "b.pdf",
    ]


@needs_extra
def test_a_content_is_read_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(place)
    place.refresh()
    take_texts(place.index, place.vault)
    before = place.index.dump()
    monkeypatch.setattr(Extractor, "take", None)
    assert take_texts(place.index, place.vault).done == 0
    rebuild(place.index, place.vault)
    assert place.index.dump() == before
    (place.root / "resource/a.pdf").rename(place.root / "moved.pdf")
    place.refresh()
    assert found(place, "qzfirst") == [("moved.pdf", ("page 1",))]
    place.write("resource/copy.pdf", PAPERS["a.pdf"])
    place.refresh()
    assert len(found(place, "qzfirst")) == 2


@needs_extra
def test_broken_documents_are_told_and_stop_nothing(place: Place) -> None:
    lay(place)
    place.write("broken.pdf", PAPERS["a.pdf"][:200])
    place.write("empty.pdf", b"")
    place.write("other.docx", b"PK\x03\x04 no archive")
    bomb = BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("word/document.xml", b"<w:p>" * 40_000_000)
    place.write("bomb.docx", bomb.getvalue())
    place.refresh()
    done = take_texts(place.index, place.vault)
    assert (done.done, done.failed, done.pending) == (9, 4, 0)
    told = {problem.path: problem.message for problem in place.index.problems()}
    assert set(told) == {"broken.pdf", "empty.pdf", "other.docx", "bomb.docx"}
    assert all(message.startswith("not searched: ") for message in told.values())
    assert found(place, "qzfirst")
    assert take_texts(place.index, place.vault).done == 0


def test_a_converter_that_hangs_or_dies_costs_its_document_only(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    program = """if True:
        import json, sys, time
        while line := sys.stdin.buffer.readline():
            data = sys.stdin.buffer.read(json.loads(line)["size"])
            if data == b"hang":
                time.sleep(600)
            if data == b"die":
                sys.exit(1)
            if data == b"deaf":
                time.sleep(0.1)
                print("what?", flush=True)
                continue
            answer = json.dumps({"parts": [["page 7", data.decode()]]}).encode()
            sys.stdout.buffer.write(json.dumps({"size": len(answer)}).encode() + b"\\n" + answer)
            sys.stdout.flush()
    """
    started: list[object] = []
    popen = documents.subprocess.Popen

    def start(command: list[str], **options: object) -> object:
        started.append(popen([command[0], "-c", program], **options))
        return started[-1]

    monkeypatch.setattr(documents.subprocess, "Popen", start)
    monkeypatch.setattr(documents, "converter", lambda: "one 1")
    for name in ("hang", "die", "deaf", "good", "better"):
        place.write(f"{name}.pdf", name)
    place.refresh()
    done = take_texts(place.index, place.vault, timeout=3)
    assert (done.done, done.failed, done.pending) == (5, 3, 0)
    assert [path for path, _ in found(place, "good better")] == ["better.pdf", "good.pdf"]
    told = {problem.path: problem.message for problem in place.index.problems()}
    assert told == {
        "hang.pdf": "not searched: it took longer than 3 seconds",
        "die.pdf": "not searched: the converter broke down",
        "deaf.pdf": "not searched: the converter broke down",
    }
    assert all(process.poll() is not None for process in started)  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(documents, "converter", lambda: "two 2")
    assert take_texts(place.index, place.vault, timeout=3, most=1).done == 1


def test_without_the_extra_a_document_is_catalogued_and_the_extra_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("project", "documents", "intake", "position"):
        monkeypatch.setattr(f"reme.index.{module}.converter", lambda: "")
    lay(place)
    place.refresh()
    assert {problem.message for problem in place.index.problems()} == {
        "not searched: pip install 'reme[documents]' makes it so"
    }
    assert take_texts(place.index, place.vault).done == 0
    assert not wait(place.vault, place.index, 0)
    assert place.index.status().files == 5


def test_a_document_that_is_too_large_is_told(place: Place) -> None:
    place.close()
    place.index = open_index(place.store, Layout(), IndexSettings(max_bytes=1000))
    place.write("a.pdf", PAPERS["a.pdf"] + b" " * 1000)
    place.refresh()
    assert [problem.message for problem in place.index.problems()] == [
        "not searched: a document of more than 1,000 bytes"
    ]
    assert not place.index.waiting_documents("any")


@needs_extra
def test_waiting_waits_for_documents_too(place: Place) -> None:
    place.write("a.pdf", PAPERS["a.pdf"])

    def meanwhile() -> None:
        place.refresh()
        take_texts(place.index, place.vault)

    assert wait(place.vault, place.index, 0.0) == {"a.pdf"}
    assert not wait(place.vault, place.index, 30, meanwhile=meanwhile)
    assert found(place, "qzfirst")


def test_a_folder_that_looks_like_a_document_is_none(place: Place) -> None:
    Path(place.root / "a.pdf").mkdir()
    place.refresh()
    assert place.index.status().files == 0
