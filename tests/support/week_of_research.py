"""A subject with many short documents, and a scripted model that researches it as a stranger to this project would."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.scripted_model import Fails, Says, call, calls, question_words, text, turn

ONSETS = ("Al", "Bre", "Cor", "Dun", "Eri", "Fal", "Gor", "Hel", "Ist", "Jor")
MIDDLES = ("va", "mi", "to", "ne", "ru")
ENDINGS = ("dale", "fors", "mark", "wick")
NAMES = tuple(f"{onset}{middle}{ending}" for onset in ONSETS for middle in MIDDLES for ending in ENDINGS)
RIVERS = ("Anza", "Belka", "Cherna", "Dovra", "Elsa", "Fjora", "Gilda", "Holma")
NOWHERE = "Xanadu"  # of which no document tells
TOPIC = re.compile(
    r"(?i)(how deep is lake (?P<depth>\w+)|which river feeds lake (?P<river>\w+)|when was lake (?P<year>\w+) first surveyed)"
)
ADDRESS = re.compile(r"corpus://[^\s\"\\]+\.md")


def question(kind: str, name: str) -> str:
    """What a person asks of a lake."""
    return {
        "depth": f"How deep is Lake {name}?",
        "river": f"Which river feeds Lake {name}?",
        "year": f"When was Lake {name} first surveyed?",
    }[kind]


def statement(kind: str, name: str) -> str:
    """What its document says of that."""
    n = NAMES.index(name)
    return {
        "depth": f"Lake {name} has a greatest depth of {20 + 3 * n} metres.",
        "river": f"The {RIVERS[n % len(RIVERS)]} is the river that feeds Lake {name} from the north.",
        "year": f"Surveyors first sounded Lake {name} in the summer of {1700 + n}.",
    }[kind]


def answer(kind: str, name: str) -> str:
    """What the model says of it, in words of its own; its citation follows."""
    n = NAMES.index(name) if name in NAMES else -1
    if n < 0:
        return "None of the sources that I read answers this"
    return {
        "depth": f"At its deepest point Lake {name} reaches {20 + 3 * n} metres",
        "river": f"The river that feeds Lake {name} is the {RIVERS[n % len(RIVERS)]}, coming from the north",
        "year": f"Lake {name} was first surveyed in {1700 + n}, in summer",
    }[kind]


def write_documents(folder: Path) -> None:
    """A short document for each lake."""
    folder.mkdir()
    for n, name in enumerate(NAMES):
        lines = [
            f"# Lake {name}",
            f"Lake {name} lies in district {n % 17}. " + statement("depth", name),
            statement("river", name) + f" Its shore is {5 + n} kilometres long.",
            statement("year", name) + f" Nobody has sounded Lake {name} since.",
        ]
        (folder / f"{name.lower()}.md").write_text("\n\n".join(lines) + "\n")


@dataclass
class Researcher:
    """A model that searches, reads, stores what answers its question, and cites in one of several ways.

    Args:
        refusals: Topics whose last reply the model's server refuses, as if something were wrong with the request.
    """

    subject_id: str
    refusals: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, request: dict[str, Any]) -> Says | Fails:
        if [tool["name"] for tool in request.get("tools", ())] == ["give_relations"]:
            return _relations(request)
        kind, name = _topic_of(request)
        chance = random.Random(f"{kind} {name} {turn(request)}")
        usage = {"input_tokens": chance.randrange(2_000, 4_000), "output_tokens": chance.randrange(200, 500)}
        results = [*_results(request)]
        address = next(iter(_addresses(results, name)), None)
        facts = [result for result in results if '"fact_id"' in result or '"candidate' in result]
        reply: Says | Fails
        if turn(request) == 0:
            words = question(kind, name)
            reply = calls(
                call("web_search", query=words, subject_id=self.subject_id, max_results=4),
                call("vector_search", query=words, subject_id=self.subject_id),
            )
        elif (
            not any("Surveyors" in result and '"chars"' in result for result in results)
            and turn(request) == 1
        ):
            page = address or next(iter(_addresses(results, "")), "corpus://none.md")
            reply = calls(call("web_fetch", url=page))
        elif name in NAMES and not facts and turn(request) == 2:
            reply = calls(
                call(
                    "store_knowledge",
                    content=statement(kind, name),
                    subject_id=self.subject_id,
                    source_url=address,
                    source_score=0.9,
                    topic_path=f"lakes/{kind}",
                    confidence=0.9,
                    quote=statement(kind, name),
                )
            )
        elif (kind, name) in self.refusals:
            return Fails(status=400, type="invalid_request_error", message="The prompt is not acceptable.")
        else:
            reply = Says((text(_cited(kind, name, address, chance)),))
        return Says(reply.blocks, reply.stop, usage)


def _cited(kind: str, name: str, address: str | None, chance: random.Random) -> str:
    words = answer(kind, name)
    if name not in NAMES:
        return f"{words}."
    return chance.choice(
        (
            f"{words} ({address}).",
            f"{words} [1].\n\nSources:\n[1] Lake {name}, {address}",
            f"**{words}** [1]\n\n## References\n\n1. {address}",
            f"{words}, according to [the page on Lake {name}]({address}).",
        )
    )


def _relations(request: Mapping[str, Any]) -> Says:
    """What facts of different lakes have to do with each other: nothing."""
    numbers = re.findall(r"^Number (\d+)$", question_words(dict(request)), re.MULTILINE)
    entries = [{"number": int(number), "relation": "new", "reason": "Another lake."} for number in numbers]
    return calls(call("give_relations", relations=entries))


def _topic_of(request: Mapping[str, Any]) -> tuple[str, str]:
    match = TOPIC.search(json.dumps(request["messages"][0]))
    assert match, request["messages"][0]
    [(kind, name)] = [(kind, name) for kind, name in match.groupdict().items() if name]
    return kind, name.capitalize()


def _results(request: Mapping[str, Any]) -> Iterator[str]:
    for message in request["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                yield json.dumps(block["content"], ensure_ascii=False).replace('\\"', '"')


def _addresses(results: list[str], name: str) -> list[str]:
    addresses = [address for result in results for address in ADDRESS.findall(result)]
    return [address for address in addresses if f"/{name.lower()}" in address]
