"""What people write for an id: all of it, so much of its beginning that no other begins so, `last`, or a batch's name."""

import re
from collections.abc import Sequence
from enum import StrEnum
from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound, UsageError

SQL = load(__file__)
LAST = "last"
BEGINNING = re.compile(r"[0-9a-f]{4,32}")  # of an id, without its hyphens
DIGITS = 32
SHORT_CHARS_MIN = 8
GROUPS_END = (8, 12, 16, 20)  # digits before each hyphen


class Referent(StrEnum):
    """What an id may belong to."""

    RESEARCH = "research"  # a batch or a run
    FACT = "fact"
    SUBSCRIPTION = "subscription"
    WEBHOOK = "webhook"
    DELIVERY = "delivery"
    PROPOSAL = "proposal"


LISTS = {  # the command that shows what there is, by what is meant
    Referent.RESEARCH: "`chiron list` shows the batches",
    Referent.FACT: "`chiron search` shows the facts",
    Referent.SUBSCRIPTION: "`chiron subscriptions list` shows them",
    Referent.WEBHOOK: "`chiron webhooks list` shows them",
    Referent.DELIVERY: "`chiron webhooks deliveries` shows those of a webhook",
    Referent.PROPOSAL: "`chiron learn proposals` shows those of a subject",
}


async def id_of(pool: Pool, text: str, *kinds: Referent) -> UUID:
    """The id that somebody means.

    Args:
        kinds: What is meant; a batch or a run where nothing is said. `last` and names mean batches.

    Raises:
        UsageError: The text is no id, or several begin so.
        NotFound: No id begins so.
    """
    words, kinds = text.strip(), kinds or (Referent.RESEARCH,)
    digits = _digits(words)
    is_beginning = BEGINNING.fullmatch(digits) is not None
    if is_beginning and len(digits) == DIGITS:
        return UUID(digits)
    ids = await _beginning_with(pool, digits, kinds) if is_beginning else []
    if not ids and Referent.RESEARCH in kinds:
        ids = await _batches_named(pool, words)
    id_ = _only(ids, words)
    if id_ is None:
        raise _nothing(words, kinds, is_beginning=is_beginning)
    return id_


async def batch_named(pool: Pool, name: str) -> UUID | None:
    """The batch of a name; None where there is none. Raises UsageError where several have it."""
    return _only(await _batches_named(pool, name.strip()), name.strip())


def is_reference(text: str) -> bool:
    """Whether a text can only be an id, the beginning of one, or `last`; a name of a batch is none."""
    return text.strip() == LAST or BEGINNING.fullmatch(_digits(text)) is not None


async def short_ids(pool: Pool, ids: Sequence[UUID]) -> dict[UUID, str]:
    """By id of a batch or a run the shortest beginning, of eight characters or more, that no other of them has."""
    rows = await fetch_all(pool, SQL["neighbours"], {"ids": list(ids)})
    lengths = {
        row["id"]: max((_common_digits(row["id"], near) for near in row["near"]), default=0) + 1
        for row in rows
    }
    return {id_: _beginning(id_, lengths.get(id_, DIGITS)) for id_ in ids}


async def _batches_named(pool: Pool, words: str) -> list[UUID]:
    query = SQL["newest"] if words == LAST else SQL["of_name"]
    return [row["id"] for row in await fetch_all(pool, query, {"name": words})]


def _only(ids: Sequence[UUID], words: str) -> UUID | None:
    if len(ids) > 1:
        examples = ", ".join(map(str, ids[:2]))
        raise UsageError(
            f"{words[:60]!r} means several ids, such as {examples}; give more of the one you mean."
        )
    return ids[0] if ids else None


async def _beginning_with(pool: Pool, digits: str, kinds: Sequence[Referent]) -> list[UUID]:
    bounds = {"first": UUID(digits.ljust(DIGITS, "0")), "last": UUID(digits.ljust(DIGITS, "f"))}
    return [row["id"] for kind in kinds for row in await fetch_all(pool, SQL[f"{kind}_between"], bounds)]


def _digits(text: str) -> str:
    return text.strip().lower().removeprefix("urn:uuid:").replace("-", "")


def _nothing(words: str, kinds: Sequence[Referent], *, is_beginning: bool) -> NotFound | UsageError:
    if words == LAST:
        return NotFound("There is no batch yet. `chiron submit TOPIC --subject S` makes one.")
    if is_beginning:
        kind = "id" if Referent.RESEARCH in kinds else f"id of a {kinds[0]}"
        return NotFound(f"No {kind} begins with {words}. {LISTS[kinds[0]]}.")
    what = "and no name of a batch" if Referent.RESEARCH in kinds else f"of a {kinds[0]}"
    return UsageError(
        f"{words[:60]!r} is no id {what}; an id looks like 0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa, and its beginning is enough."
    )


def _common_digits(one_id: UUID, other_id: UUID) -> int:
    return DIGITS - ((one_id.int ^ other_id.int).bit_length() + 3) // 4


def _beginning(id_: UUID, digits: int) -> str:
    hyphens = sum(digits > end for end in GROUPS_END)
    return str(id_)[: max(SHORT_CHARS_MIN, digits + hyphens)]
