"""Tokens: how text and queries become the words that the keyword index knows.

Owns normalisation, splitting, stop-words and stems, for documents and queries alike. Knows nothing of files or stores.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import filterfalse
from operator import add
from typing import Any, Final, NamedTuple, cast

from reme.index.installed import version_of

__all__ = ["Tokenizer", "Tokens"]

_VERSION: Final = "4"
_LONGEST_TOKEN: Final = 64
_LONGEST_QUERY: Final = 8_192
_MEMO_SIZE: Final = 200_000
_AROUND_WORDS: Final = ".,;:!?()[]\"'*"
_NONE: Final = ""
_MANY: Final = " "

_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\uac00-\ud7ff"
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_WIDE: Final = re.compile("[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\U000323af]+")
_UNSPACED: Final = re.compile(f"([{_HAN}]+)|([{_KANA}]+|[{_SYLLABIC}]+)")
_ASCII_WORD: Final = re.compile(r"\w+(?:[-./']\w+)*(?:\+\+|#(?!\w))?", re.ASCII)
_WORD: Final = re.compile(rf"[\w{_MARKS}]+(?:[-./'’][\w{_MARKS}]+)*(?:\+\+|#(?!\w))?")
_JOINT: Final = re.compile(r"[-_./]+")
_JOINED: Final = re.compile(r"(?:[a-z]+|[0-9]+)(?:[-./](?:[a-z]+|[0-9]+))+")
_CASE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")

_ENGLISH_STOP: Final = frozenset(
    """a an the and or but if then else of at by for with about against between into through during before after above
    below to from up down in out on off over under again further once here there when where why how all any both each
    few more most other some such no nor not only own same so than too very s t can will just don should now i me my
    myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
    itself they them their theirs themselves what which who whom whose this that these those am is are was were be been
    being have has had having do does did doing would could ought i'm you're he's she's it's we're they're i've you've
    we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't
    hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's
    that's who's what's here's there's when's where's why's how's""".split()  # noqa: SIM905
)
_CHINESE_STOP: Final = frozenset(
    """的 了 在 是 我 有 和 就 不 人 都 一 一个 上 也 很 到 说 要 去 你 会 着 没有 看 好 自己 这 那 吗 呢 吧 啊
    什么 哪些 哪 谁 怎么 怎样 多少 曾经 过 给 对 他 她 它 们 我们 你们 他们 与 及 或 但 被 把 从 以
    为 于 地 得 而 之 其 这个 那个 因为 所以 如果 然后""".split()  # noqa: SIM905
)


class Tokens(NamedTuple):
    """A document's tokens, how often each stands there, and its length in words, by which that is normalised."""

    found: dict[str, int]
    length: int


class _Memo(dict[str, str]):
    """What stands between white space → the token that it is, or ``_NONE``, or ``_MANY``, of which ``tokens`` tells.

    Computed once, since words recur, but for what is very long. Emptied when it is too large.
    """

    def __init__(
        self, stem: Callable[[str], str], compute: Callable[[str], tuple[str, ...]], stop: frozenset[str]
    ) -> None:
        super().__init__()
        self._stem = stem
        self._compute = compute
        self._stop = stop
        self._many: dict[str, tuple[str, ...]] = {}

    def __missing__(self, piece: str) -> str:
        if len(piece) > _LONGEST_TOKEN:
            return _MANY
        if len(self) >= _MEMO_SIZE:
            self.clear()
            self._many.clear()
        bare = piece.strip(_AROUND_WORDS)
        if bare.isascii() and bare.isalpha() and (bare[1:].islower() or bare.islower() or bare.isupper()):
            word = bare.lower()
            if (token := self.get(word)) is None:
                token = _NONE if word in self._stop else sys.intern(self._stem(word))
        else:
            tokens = self._parts(bare) if _JOINED.fullmatch(bare) else self._compute(piece)
            token = _NONE if not tokens else sys.intern(tokens[0]) if len(tokens) == 1 else _MANY
            if token is _MANY:
                self._many[piece] = tuple(map(sys.intern, tokens))
        self[piece] = token
        return token

    def _parts(self, joined: str) -> tuple[str, ...]:
        """The tokens of what is plainly several words, most of which have been met."""
        parts = [self[part] for part in _JOINT.split(joined) if len(part) > 1 or part.isdigit()]
        return tuple(dict.fromkeys((joined, *filter(None, parts))))

    def tokens(self, piece: str) -> tuple[str, ...]:
        """The tokens of what is ``_MANY``."""
        return self._many.get(piece) or self._compute(piece)


class Tokenizer:
    """Makes tokens; remembers the words that it has met.

    Unicode words are normalised (NFKC, lower case, Latin letters without accents), freed of stop-words and reduced to
    their Snowball stems. Words with inner case or ``_-./`` are kept whole and also split there. Chinese is
    split by a dictionary in search mode, and into characters and character pairs; Kana, Hangul and Thai into pairs.
    """

    def __init__(self) -> None:
        import Stemmer

        self._stem: Callable[[str], str] = cast("Any", Stemmer).Stemmer("english", 0).stemWord  # remembered here
        nothing: frozenset[str] = frozenset()
        self._pieces = _Memo(self._stem, lambda piece: self._spaced(piece, _ENGLISH_STOP), _ENGLISH_STOP)
        self._all_pieces = _Memo(self._stem, lambda piece: self._spaced(piece, nothing), nothing)
        self._cut: Callable[[str], list[str]] | None = None

    @staticmethod
    def fingerprint() -> str:
        """Identifies what the tokens of a text depend on; an index made under another one is rebuilt."""
        return f"{_VERSION} rjieba {version_of('rjieba', 'rjieba')} snowball {version_of('PyStemmer', 'Stemmer')}"

    def document(self, text: str, *, keep_stopwords: bool = False) -> Tokens:
        """The tokens of a text that shall be found.

        Args:
            text: The text.
            keep_stopwords: For names: a note may be called *The Who*.
        """
        if not text:
            return Tokens({}, 0)
        memo = self._all_pieces if keep_stopwords else self._pieces
        mixed: list[str] = []
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        pieces = text.split()
        if not text.isascii() and _WIDE.search(text):
            mixed = [piece for piece in pieces if not piece.isascii() and _WIDE.search(piece)]
            pieces = [piece for piece in pieces if piece.isascii() or not _WIDE.search(piece)]
        tokens = list(map(memo.__getitem__, pieces))
        found = Counter(tokens)
        length = len(pieces) - found.pop(_NONE, 0)
        at = -1
        for _ in range(found.pop(_MANY, 0)):
            at = tokens.index(_MANY, at + 1)
            several = memo.tokens(pieces[at])
            length -= not several
            for token in several:
                found[token] += 1
        for piece in mixed:
            length += self._mixed(piece, found, keep_stopwords)
        return Tokens(found, length)

    def _mixed(self, piece: str, found: Counter[str], keep_stopwords: bool) -> int:
        """Count the tokens of text without white space in which scripts meet; returns how many words it is."""
        stop: frozenset[str] = frozenset() if keep_stopwords else _ENGLISH_STOP
        length = position = 0
        for run, is_han, start, end in _runs(piece):
            if start > position and (tokens := self._spaced(piece[position:start], stop)):
                found.update(tokens)
                length += 1
            if wide := self._han(run, keep_stopwords) if is_han else _pairs(run):
                found.update(wide)
                length += 1 + (len(run) - 1) // 2  # a pair is about a word
            position = end
        if tokens := self._spaced(piece[position:], stop):
            found.update(tokens)
            length += 1
        return length

    def query(self, text: str) -> tuple[str, ...]:
        """The distinct tokens to look for, in order; stop-words only where there is nothing else.

        Args:
            text: Any text at all; only its first 8,192 characters are read.
        """
        text = unicodedata.normalize("NFKC", text[:_LONGEST_QUERY])
        return self._query(text, keep_stopwords=False) or self._query(text, keep_stopwords=True)

    def _query(self, text: str, keep_stopwords: bool) -> tuple[str, ...]:
        stop: frozenset[str] = frozenset() if keep_stopwords else _ENGLISH_STOP
        found: dict[str, None] = {}
        position = 0
        for run, is_han, start, end in _runs(text):
            found.update(dict.fromkeys(self._spaced(text[position:start], stop)))
            position = end
            if len(run) == 1:
                found.update(dict.fromkeys(run if keep_stopwords or run not in _CHINESE_STOP else ""))
            elif is_han:
                found.update(dict.fromkeys(self._han_words(run, keep_stopwords)))
            else:
                found.update(dict.fromkeys(_pairs(run)))
        found.update(dict.fromkeys(self._spaced(text[position:], stop)))
        return tuple(found)

    def _han(self, run: str, keep_stopwords: bool) -> list[str]:
        singles = list(run) if keep_stopwords else list(filterfalse(_CHINESE_STOP.__contains__, run))
        return singles + self._han_words(run, keep_stopwords) if len(run) > 1 else singles

    def _han_words(self, run: str, keep_stopwords: bool) -> list[str]:
        """Dictionary words and character pairs; a pair that is a word counts twice, one across words once."""
        if len(run) == 2:
            found = [run, run]
        else:
            if self._cut is None:
                import rjieba

                self._cut = lambda text: rjieba.cut_for_search(text, False)
            found = [word for word in self._cut(run) if len(word) > 1]
            found += _pairs(run)
        return found if keep_stopwords else list(filterfalse(_CHINESE_STOP.__contains__, found))

    def _spaced(self, text: str, stop: frozenset[str]) -> tuple[str, ...]:
        """The tokens of a text without wide scripts."""
        if text.isascii():
            if text.isalpha():
                return self._expand(text, stop)
            words = _ASCII_WORD.findall(text)
        else:
            words = _WORD.findall(text)
        return tuple([token for word in words for token in self._expand(word, stop)])

    def _expand(self, word: str, stop: frozenset[str]) -> tuple[str, ...]:
        """The tokens of one word: itself, and its parts where it has some."""
        if word.islower() and word.isascii() and word.isalpha():
            return () if word in stop else (self._stem(word[:_LONGEST_TOKEN]),)
        word = word.replace("’", "'").strip("_")
        lowered = _plain(word)
        if not lowered or lowered in stop:
            return ()
        if lowered.endswith(("++", "#")):
            bare = word.rstrip("+#")
            return (lowered, *(self._expand(bare, stop) if len(bare) > 1 else ()))
        if "'" in lowered:
            word, lowered = (text.removesuffix("'s").removesuffix("'S").replace("'", "") for text in (word, lowered))
        pieces = [piece for part in _JOINT.split(word) for piece in _with_parts(part)]
        if len(pieces) < 2:
            return (self._stem(lowered[:_LONGEST_TOKEN]),) if lowered and lowered not in stop else ()
        whole = lowered[:_LONGEST_TOKEN] if _JOINT.search(lowered) else self._stem(lowered[:_LONGEST_TOKEN])
        parts = (_plain(piece)[:_LONGEST_TOKEN] for piece in pieces)
        stems = [self._stem(part) for part in parts if part not in stop and (len(part) > 1 or not part.isalpha())]
        return tuple(dict.fromkeys((whole, *stems)))


def _runs(text: str) -> Iterator[tuple[str, bool, int, int]]:
    """The runs of scripts that are written without spaces: text, whether it is Han, start, end."""
    for wide in _WIDE.finditer(text):
        for match in _UNSPACED.finditer(text, *wide.span()):
            yield match[0], match[1] is not None, *match.span()


def _with_parts(part: str) -> list[str]:
    """What stands between joints, and its own parts where it has inner case."""
    cut = _split_case(part)
    return [part, *cut] if len(cut) > 1 else cut


def _split_case(part: str) -> list[str]:
    if not part.isascii() or part.isdigit() or (part[1:].isalpha() and (part[1:].islower() or part.isupper())):
        return [part] if part else []
    return _CASE.findall(part)


def _pairs(run: str) -> list[str]:
    return list(map(add, run, run[1:])) or [run]


def _plain(word: str) -> str:
    """Lower case; Latin letters without their accents. Other scripts keep their marks, which are letters of theirs."""
    if word.isascii():
        return word.lower()
    out: list[str] = []
    latin = False
    for char in unicodedata.normalize("NFD", word.casefold()):
        if unicodedata.combining(char):
            if latin:
                continue
        else:
            latin = char < "\u0250"
        out.append(char)
    return unicodedata.normalize("NFC", "".join(out))
