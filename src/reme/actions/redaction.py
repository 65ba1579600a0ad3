"""Secrets: found by their forms, by what they are called and by their entropy; taken out before anything is written.

Owns the patterns. What is found is replaced by ``[redacted: kind]`` and never shown, not even in part.

A long word of hexadecimal digits may be a commit, a checksum or a key: what it is called decides. Behind a name of a
secret (key, token, password, 密钥) it is one, unless the last word before it says that it is something else: a commit,
hash, id, file, url. A word that is called by nothing is none, nor is a public, primary or cache key; the hash of a
password is one.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

__all__ = ["redact"]

_PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    ),
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    ("api key", re.compile(r"\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}")),
    ("api key", re.compile(r"\bAIza[A-Za-z0-9_-]{30,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bhf_[A-Za-z0-9]{20,}")),
    (
        "token",
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|npm_\w{20,})"
        ),
    ),
    ("token", re.compile(r"(?<=Bearer )[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE)),
    ("credentials", re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)")),
    ("token", re.compile(r"(?<=hooks\.slack\.com/services/)[\w/]{20,}")),
    (
        "token",
        re.compile(
            r"[?&](?:key|sig|signature|code|auth|\w*token|\w*secret)=(?P<secret>[\w%.~+/-]{12,})", re.IGNORECASE
        ),
    ),
    (
        "password",
        re.compile(
            r"(?:(?<=password)|(?<=passwd)|(?<=passphrase)|(?<=secret)|(?<=api[_ -]key)|(?<=apikey)|(?<=access[_ -]key)"
            r"|(?<=private[_ -]key)|(?<=secret[_ -]key)|(?<=token)|(?<=密码)|(?<=口令)|(?<=密钥))"
            r"(?:\s+is|\s*[:=：]|\s*是|\s*为)\s*[\"'“]?(?P<secret>[^\s\"'”,;，。；]{4,})",
            re.IGNORECASE,
        ),
    ),
    (
        "password",
        re.compile(
            r"(?:\b(?:log-?in|credentials?)\b|账号密码|登录名)[^\n:：]{0,40}[:：]\s*\S+\s*[/|,，]\s*(?P<secret>[^\s,;，。；]{6,})",
            re.IGNORECASE,
        ),
    ),
    (
        "PIN",
        re.compile(
            r"(?:(?<![A-Za-z])PIN(?![A-Za-z])(?: code| number)?|\b[Pp]in (?:code|number)|取款密码|支付密码)"
            r"\s*码?\s*(?:is\b|[:=：是为])?\s*(?P<secret>\d{4,8})(?![\dA-Za-z])"
        ),
    ),
    (
        "social security number",
        re.compile(
            r"(?:(?<![A-Za-z])SSN|social security)[^\n\d]{0,20}(?P<secret>\d{3}-?\d{2}-?\d{4})(?!\d)", re.IGNORECASE
        ),
    ),
)
_NAMED = re.compile(
    r"(?:(?<![^\W_])(?:secret|password|passwd|passphrase|credential|token"
    r"|(?:api|access|private|secret|signing|encryption|master|license)[_ -]?key"
    r"|(?P<key>(?<!public )(?<!primary )(?<!foreign )(?<!cache )(?<!partition )(?<!sort )(?<!idempotency )(?<!object )"
    r"(?<!public_)(?<!primary_)(?<!foreign_)(?<!cache_)(?<!partition_)(?<!sort_)(?<!idempotency_)(?<!object_)key))s?\b"
    r"|密钥|秘钥|密码|口令|令牌|私钥|凭证)"
    r"(?P<between>(?:[^\n.!?。！？]|\.(?=\S)){0,60}?)"
    r"(?<![\w/+-])(?P<secret>[A-Za-z0-9+/_-]{20,}={0,2})(?![\w/+=-]|\.[A-Za-z])",
    re.IGNORECASE,
)
_SOMETHING_ELSE = re.compile(
    r"(?:\b(?:commit|hash|sha-?\d*|checksum|digest|md5|fingerprint|revision|uuid|ids?|file|path|url|image|branch|build)"
    r"|提交|哈希|校验和|指纹|编号|文件|路径)(?:\s+(?:is|was|of|are|at|in)\b|\s*[是为在])?[\s:=：#\"'`“(]*$",
    re.IGNORECASE,
)
_OF_A_PASSWORD = re.compile(
    r"(?:pass(?:word|wd|phrase)s?|密码|口令)[ _-]*(?:的)?(?:hash|digest|md5|sha-?\d*|哈希)\b|(?:密码|口令)的?哈希",
    re.IGNORECASE,
)
_HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_HARMLESS = re.compile(r"(?:[A-Za-z]+[_/-])*[A-Za-z]+|[a-z0-9]+(?:[_/-][a-z0-9]+)+|\d+")
_CARD = re.compile(r"(?<![\w-])(?:\d[ -]?){12,18}\d(?![\w-])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_IDENTITY = re.compile(r"(?<!\d)\d{17}[\dXx](?!\d)")
_IDENTITY_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_DENSE = re.compile(r"(?<![\w/.+-])[A-Za-z0-9+/_-]{24,}={0,2}(?![\w/])")
_LEAST_ENTROPY: Final = 4.0
_LEAST_ENTROPY_NAMED: Final = 3.4
_LEAST_ENTROPY_HEXADECIMAL: Final = 2.8


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Take the secrets out of a text.

    Returns:
        The text with ``[redacted: kind]`` in their place, and the kinds found, in order of finding.
    """
    found: list[str] = []
    for kind, pattern in _PATTERNS:
        text = pattern.sub(lambda match, kind=kind: _replaced(match, kind, found), text)
    text = _NAMED.sub(lambda match: _replaced(match, "secret", found) if _is_random(match) else match.group(), text)
    for kind, pattern, is_one in _CHECKED:
        text = pattern.sub(
            lambda match, kind=kind, is_one=is_one: (
                _replaced(match, kind, found) if is_one(match.group()) else match.group()
            ),
            text,
        )
    return text, tuple(found)


def _replaced(match: re.Match[str], kind: str, found: list[str]) -> str:
    secret = match.groupdict().get("secret")
    if secret is not None and (secret.startswith("[redacted:") or not _is_password(secret)):
        return match.group()
    found.append(kind)
    return match.group().replace(secret, f"[redacted: {kind}]") if secret is not None else f"[redacted: {kind}]"


def _is_password(word: str) -> bool:
    """A word of a sentence ("my password is long") is none: a password has a digit or a sign, or stands quoted."""
    return any(not char.isalpha() for char in word.rstrip(".!?"))


def _is_random(match: re.Match[str]) -> bool:
    """Whether a long word that is called a secret looks drawn by lot: no path, no identifier, no plain word."""
    word = match["secret"]
    if _SOMETHING_ELSE.search(match["between"]) and not _OF_A_PASSWORD.search(match.group()):
        return False
    if _HEXADECIMAL.fullmatch(word) and not word.isdigit():
        return _entropy(word) >= _LEAST_ENTROPY_HEXADECIMAL
    if match["key"] or _HARMLESS.fullmatch(word):
        return False
    kinds = sum(any(test(char) for char in word) for test in (str.isupper, str.islower, str.isdigit))
    return kinds >= 2 and _entropy(word) >= _LEAST_ENTROPY_NAMED


def _entropy(word: str) -> float:
    """Bits a character."""
    return -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())


def _is_card(digits: str) -> bool:
    """Luhn's check."""
    numbers = [int(char) for char in digits if char.isdigit()]
    doubled = (n if place % 2 == 0 else n * 2 - 9 * (n > 4) for place, n in enumerate(reversed(numbers)))
    return len(set(numbers)) > 1 and sum(doubled) % 10 == 0


def _is_iban(word: str) -> bool:
    """ISO 13616: as a number of base 36 with its first four characters behind, one more than a multiple of 97."""
    plain = word.replace(" ", "")
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_identity(digits: str) -> bool:
    """GB 11643: a Chinese identity number, of which the last character is a check of those before it."""
    total = sum(weight * int(digit) for weight, digit in zip(_IDENTITY_WEIGHTS, digits, strict=False))
    return digits[6:8] in ("19", "20") and "10X98765432"[total % 11] == digits[-1].upper()


def _is_dense(word: str) -> bool:
    """Random over letters of both cases and digits: no path, no hash in hexadecimal, no words run together."""
    if not (any(c.isupper() for c in word) and any(c.islower() for c in word) and sum(c.isdigit() for c in word) >= 2):
        return False
    if word.count("/") > 1 or word.count("-") > 3:
        return False
    return _entropy(word) >= _LEAST_ENTROPY


_CHECKED: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("identity number", _IDENTITY, _is_identity),
    ("card number", _CARD, _is_card),
    ("account number", _IBAN, _is_iban),
    ("secret", _DENSE, _is_dense),
)
