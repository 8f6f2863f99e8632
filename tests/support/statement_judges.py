"""Judges of statements and the facts they name: they read the question as a model is shown it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.scripted_model import Says, call, calls

_FACT = re.compile(r"^Fact (\d+)\n(.*?)(?=^Fact \d+$|^Number \d+$|\Z)", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r"^Page (\w+)\n<(page-[0-9a-f]{16})>\n(.*?)\n</\2>", re.MULTILINE | re.DOTALL)
_PAGE_LETTER = re.compile(r"^page: (\w+)$", re.MULTILINE)
_ITEM = re.compile(r"^Number (\d+)\n(.*?)(?=^Number \d+$|\Z)", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"<((\w+)-[0-9a-f]{16})>\n(.*?)\n</\1>", re.DOTALL)


@dataclass(frozen=True)
class Item:
    """A statement of a question with the facts it names: their words and all that is shown of them, by number."""

    number: int
    kind: str
    statement: str
    contents: dict[int, str]
    shown: dict[int, str]
    before: str = ""
    doubts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Opinion:
    """What a judge says of an item: `idle` and `opposed` are words of facts."""

    verdict: str = "supported"
    reason: str = "As judged."
    idle: frozenset[str] = frozenset()
    opposed: tuple[tuple[str, str], ...] = ()


Judge = Callable[[dict[str, Any]], Says]


def words_of(request: dict[str, Any]) -> str:
    """The question of a request."""
    content = request["messages"][0]["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def items_of(words: str) -> list[Item]:
    """The statements of a question."""
    pages = {letter: text for letter, _, text in _PAGE.findall(words)}
    facts = {
        int(number): text + "".join(pages[letter] for letter in _PAGE_LETTER.findall(text))
        for number, text in _FACT.findall(words)
    }
    return [_item(int(number), text, facts) for number, text in _ITEM.findall(words)]


def _item(number: int, text: str, facts: dict[int, str]) -> Item:
    head, _, rest = text.partition("<")
    lines = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    numbers = [int(part) for part in lines["facts"].split(", ")]
    parts = [(name, body) for _, name, body in _TEXT.findall(f"<{rest}")]
    shown = {key: facts[key] for key in numbers}
    contents = {key: _TEXT.search(body)[3] for key, body in shown.items()}  # type: ignore[index]
    by_name = dict(parts)
    doubts = [body for name, body in parts if name == "doubt"]
    return Item(
        number, lines["kind"], by_name["statement"], contents, shown, by_name.get("before", ""), doubts
    )


def judging(opinion_on: Callable[[Item], Opinion]) -> Judge:
    """A judge that says this of each item."""

    def judge(request: dict[str, Any]) -> Says:
        entries = []
        for item in items_of(words_of(request)):
            opinion = opinion_on(item)
            numbers = {content: number for number, content in item.contents.items()}
            entries.append(
                {
                    "number": item.number,
                    "verdict": opinion.verdict,
                    "reason": opinion.reason,
                    "idle_facts": [numbers[content] for content in opinion.idle if content in numbers],
                    "opposed_facts": [
                        [numbers[first], numbers[second]]
                        for first, second in opinion.opposed
                        if {first, second} <= numbers.keys()
                    ],
                }
            )
        return calls(call("give_verdicts", verdicts=entries))

    return judge
