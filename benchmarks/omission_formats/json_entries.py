"""JSON: each kind of value, at each depth."""

import json
from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document, UnreadableError
from chiron_workers.documents.html_elements import STRUCK
from chiron_workers.documents.json_entries import read_json

from .trial import Format, Probe

VALUES = {
    "word": '"{0}"',
    "name": '{{"{0}": 1}}',
    "member": '{{"at": {{"place": "{0}"}}}}',
    "list": '["{0}", 5]',
    "list of lists": '[[1, "{0}"], [2]]',
    "list of objects": '[{{"a": "{0}"}}, {{"a": 2}}]',
    "repeated name": '{{"a": "{0}", "a": 2}}',
    "HTML": '"<p>It is <b>{0}</b>.</p>"',
    "deletion": '"<p>It is <del>{0}</del>.</p>"',
    "stray sign": '"It is x <b or {0}"',
    "lines": '"one\\n{0}"',
}
KINDS = {"deletion": STRUCK["del"]}


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A list with an entry for each probe."""
    entries = list[str]()
    for probe in probes:
        name = probe.element
        html = json.dumps(f"<p>{probe.before}<{name}>{probe.words}</{name}>{probe.behind}</p>")
        value = VALUES[name].format(probe.words) if name in VALUES else html
        entries.append(f'{{"ships": {chance.randint(2, 900)}, "value": {value}}}')
    return f'{{"title": "Harbour", "entries": [{", ".join(entries)}]}}'.encode()


def _read(data: bytes) -> Document:
    document = read_json(data.decode())
    if document is None:
        raise UnreadableError("it is no JSON")
    return document


def _unknown(chance: Random) -> str:
    return "x-" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))


def _kind_of(element: str) -> str:
    return KINDS.get(element, "")


FORMAT = Format("JSON", tuple(VALUES), build, _read, _unknown, _kind_of)
