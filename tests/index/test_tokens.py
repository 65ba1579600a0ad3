"""Tokens: words in every script, whole and in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.index.tokens import Tokenizer

TOKENIZER = Tokenizer()


def tokens(text: str, *, keep_stopwords: bool = False) -> set[str]:
    return set(TOKENIZER.document(text, keep_stopwords=keep_stopwords).found)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("使用C++编写", "C++"),
        ("C# 与 F# 的比较", "c#"),
        ("训练GPT模型", "GPT模型"),
        ("训练GPT模型", "GPT"),
        ("训练GPT模型", "模型"),
        ("安装Python3之后", "Python3"),
        ("安装Python3之后", "python"),
        ("notepad++ is an editor", "notepad"),
    ],
)
def test_p20_mixed_words_are_found_whole(text: str, query: str) -> None:
    assert set(TOKENIZER.query(query)) <= tokens(text)


def test_p20_a_language_name_is_not_its_first_letter() -> None:
    assert TOKENIZER.query("C++") == ("c++",)
    assert "c" not in tokens("C++")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ZK-4471", {"zk-4471", "zk", "4471"}),
        ("snake_case_name", {"snake_case_name", "snake", "case", "name"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("v1.2/README", {"v1.2/readme", "v1", "v", "1", "2", "readm"}),
        ("editor.snippetSuggestions", {"editor.snippetsuggestions", "editor", "snippetsuggest", "snippet", "suggest"}),
        ("2026-05-15", {"2026-05-15", "2026", "05", "15"}),
        ("O'Brien", {"obrien", "brien"}),
        ("John's keys", {"john", "key"}),
        ("ﬁle ＡＢＣ", {"file", "abc"}),
        ("Café NAÏVE", {"cafe", "naiv"}),
        ("Straße", {"strass"}),
        ("Привет Йод", {"привет", "йод"}),
    ],
)
def test_words(text: str, expected: set[str]) -> None:
    found = tokens(text)
    assert expected - {"v"} <= found
    assert set(TOKENIZER.query(text)) == found


@pytest.mark.parametrize("text", ["set editor.snippetSuggestions to none", "把editor.snippetSuggestions设为none"])
def test_what_stands_between_dots_is_found_in_one_piece(text: str) -> None:
    assert set(TOKENIZER.query("snippetsuggestions")) <= tokens(text)


def test_stopwords_are_left_out_but_kept_in_names() -> None:
    assert tokens("the keys of 我们 的") == {"key"}
    assert tokens("The Who", keep_stopwords=True) == {"the", "who"}
    assert TOKENIZER.query("the who") == ("the", "who")
    assert TOKENIZER.query("who rotates the keys") == ("rotat", "key")


def test_chinese_is_found_by_words_pairs_and_single_characters() -> None:
    found = tokens("今天喝了绿茶。")
    assert {"绿茶", "茶", "今天"} <= found
    assert set(TOKENIZER.query("北京大学")) == {"北京", "京大", "大学", "北京大学"}
    assert TOKENIZER.query("茶") == ("茶",)


def test_a_pair_that_is_a_word_counts_more_than_one_across_words() -> None:
    found = TOKENIZER.document("北京大学").found
    assert found["北京"] == 2
    assert found["京大"] == 1


def test_adjacent_repetitions_are_counted_exactly() -> None:
    found, length = TOKENIZER.document("zebra zebra zebra")
    assert found == {"zebra": 3}
    assert length == 3


def test_long_pieces_and_those_of_stop_words_alone_are_counted_as_what_they_are() -> None:
    long = "-".join(["zebra"] * 20)
    found, length = TOKENIZER.document(f"{long} {'-' * 100} the's 's {long}")
    assert found == {long[:64]: 2, "zebra": 2}
    assert length == 2


@given(st.text(max_size=200))
def test_any_text_has_tokens_that_its_query_form_also_has(text: str) -> None:
    document, length = TOKENIZER.document(text)
    query = TOKENIZER.query(text)
    assert length >= 0
    assert len(set(query)) == len(query)
    for token in (*document, *query):
        assert not set(token) & set(" \"'*()\0\n")
        assert all(not char.isascii() or char.isalnum() or char in "_-./+#" for char in token)
    if document:
        assert set(query) <= set(document)


def test_long_texts_are_bounded() -> None:
    assert all(len(token) <= 64 for token in TOKENIZER.query("x" * 100_000))
    assert len(TOKENIZER.query("单词 word " * 20_000)) < 10
