"""The API and Flower: their ports, and whether they answer where a stack runs."""

from chiron_api.local_stack.checks import Check
from chiron_api.local_stack.ports import port_conflict_of
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.readiness import answers_http
from chiron_api.local_stack.stack import LocalStack
from chiron_api.local_stack.supervision import Part
from chiron_workers.settings import Settings

ORDER = 80


def checks(settings: Settings) -> list[Check]:
    """One check for the API and one for Flower."""
    stack = LocalStack(settings)
    parts = {part.kind: part for part in stack.parts()}
    return [
        _answer(parts[kind], f"{stack.home.logs / kind}.log") if kind in parts else _port(settings, kind)
        for kind in (Kind.API, Kind.FLOWER)
    ]


def _port(settings: Settings, kind: Kind) -> Check:
    sentence, _, advice = port_conflict_of(settings, kind).partition(". ")
    return Check(kind, f"{sentence}." if sentence else "It does not run; its port is free.", advice)


def _answer(part: Part, log: str) -> Check:
    if answers_http(part):
        return Check(part.name, f"It answers at {part.address}.")
    return Check(
        part.name, f"It does not answer at {part.address} ({part.state}).", f"Its log says why: {log}"
    )
