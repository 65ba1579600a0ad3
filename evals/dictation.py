"""How many of forty facts that somebody dictates in one go are kept, offline, in English and in Chinese.

The facts are those of ``dictation_english.txt`` and ``dictation_chinese.txt``, told in one text, as a list, and in a
message each with an answer to every one.

    python -m evals.dictation [--lost]

Prints one line a language and form; with ``--lost``, the facts that were not kept. Exits with 0.
"""

import argparse
import asyncio
from datetime import UTC, datetime
from pathlib import Path

from reme.reason import Message, OfflineReasoner

HERE = Path(__file__).parent
TOLD = {
    "english": ("Please remember the following.", " ", "Noted."),
    "chinese": ("请记住下面这些。", "", "记下了。"),
}
AT = datetime(2026, 5, 15, 9, tzinfo=UTC)


def forms(facts: list[str], lead: str, gap: str, answer: str) -> dict[str, list[Message]]:
    """The messages in which the facts are told, by form."""
    texts = {
        "one text": [gap.join([lead, *facts])],
        "a list": ["\n".join([lead, *(f"- {fact}" for fact in facts)])],
        "a message each": [text for fact in facts for text in (fact, answer)],
    }
    return {
        form: [
            Message(n, "assistant" if text == answer else "user", "assistant" if text == answer else "user", text, AT)
            for n, text in enumerate(told, start=1)
        ]
        for form, told in texts.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lost", action="store_true", help="show the facts that were not kept")
    given = parser.parse_args()
    for language, (lead, gap, answer) in TOLD.items():
        facts = (HERE / f"dictation_{language}.txt").read_text("utf-8").splitlines()
        for form, told in forms(facts, lead, gap, answer).items():
            events = asyncio.run(OfflineReasoner().segment(told, ()))
            kept = "\n".join(statement.text for event in events for statement in event.statements)
            lost = [fact for fact in facts if fact not in kept]
            print(f"{language}, {form}: {len(facts) - len(lost)} of {len(facts)} kept")
            if given.lost:
                print("".join(f"  {fact}\n" for fact in lost), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
