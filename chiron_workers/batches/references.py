"""What people write for an id: all of it, a beginning that only it has, `last`, a batch's name, or `#3` behind a batch."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from uuid import UUID

from chiron_workers import problems
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.nearest import suggestion
from chiron_workers.problems import Remedy

SQL = load(__file__)
LAST = "last"
BEGINNING = re.compile(r"[0-9a-f]{4,32}")  # of an id, without its hyphens
DIGITS = 32
NAME_CHARS_MAX = 200
INT_MAX = 2**31 - 1
SHORT_CHARS_MIN = 8
RUN_NAME = re.compile(r"(.+)#([1-9][0-9]{0,5})", re.DOTALL)  # a batch, and the number of a run in it
NO_NUMBER = re.compile(r".*#\s*\S{0,6}", re.DOTALL)  # a malformed number of a run
GROUPS_END = (8, 12, 16, 20)  # digits before each hyphen


class Referent(StrEnum):
    """What an id may belong to."""

    RESEARCH = "research"  # a batch or a run
    FACT = "fact"
    SUBSCRIPTION = "subscription"
    WEBHOOK = "webhook"
    DELIVERY = "delivery"
    PROPOSAL = "proposal"


LISTS: Mapping[Referent, Remedy] = {  # the list to look an id up in
    Referent.RESEARCH: problems.SEE_BATCHES,
    Referent.FACT: problems.SEE_FACTS,
    Referent.SUBSCRIPTION: problems.SEE_SUBSCRIPTIONS,
    Referent.WEBHOOK: problems.SEE_WEBHOOKS,
    Referent.DELIVERY: problems.SEE_DELIVERIES,
    Referent.PROPOSAL: problems.SEE_PROPOSALS,
}


async def id_of(pool: Pool, text: str, *kinds: Referent) -> UUID:
    """Resolve an id, a prefix of one, `last`, or a name or number of a batch.

    `last` is the newest batch of submitted topics, not one of a subscription, a report, a check or learning.
    `last#3` is its third run; `#3` goes behind any id or name of a batch. A batch of exactly that name wins, unless a whole
    id stands before the number.

    Args:
        kinds: Kinds of ids to search; batches and runs by default, which alone have `last`, names and numbers.

    Raises:
        UsageError: The text is not an id, or is a prefix of several.
        NotFound: No id begins so.
    """
    words, kinds = text.strip(), kinds or (Referent.RESEARCH,)
    digits = _digits(words)
    is_beginning = BEGINNING.fullmatch(digits) is not None
    if is_beginning and len(digits) == DIGITS:
        return UUID(digits)
    if Referent.RESEARCH in kinds and (match := RUN_NAME.fullmatch(words)) and _is_whole(match[1]):
        return await _run_behind(pool, match, await id_of(pool, match[1]))
    ids = await _beginning_with(pool, digits, kinds) if is_beginning else []
    if not ids and Referent.RESEARCH in kinds:
        ids = await _batches_named(pool, words)
        if not ids and (match := RUN_NAME.fullmatch(words)):
            return await _run_behind(pool, match, await id_of(pool, match[1]))
    id_ = _only(ids, words)
    if id_ is None:
        hint = await _nearest_batches(pool, words) if Referent.RESEARCH in kinds else ""
        raise _nothing(words, kinds, hint, is_beginning=is_beginning)
    return id_


async def named(pool: Pool, name: str) -> UUID | None:
    """The batch of a name, or a run of it by `NAME#3`; None where no batch has the name.

    Raises:
        UsageError: Several have it.
        NotFound: The batch has no run of this number.
    """
    words = name.strip()
    batch_id = _only(await _batches_named(pool, words), words)
    if batch_id is None and (match := RUN_NAME.fullmatch(words)):
        batch_id = _only(await _batches_named(pool, match[1].strip()), match[1].strip())
        return None if batch_id is None else await _run_behind(pool, match, batch_id)
    return batch_id


async def run_of_number(pool: Pool, batch_id: UUID, number: int, *, words: str = "") -> UUID:
    """The run of a number in its batch, from 1 in the order of the topics as they were submitted.

    Args:
        words: The name of the batch in an error; its id by default.

    Raises:
        NotFound: There is no such batch, or it has no run of this number.
        UsageError: The id is that of a run.
    """
    [row] = await fetch_all(pool, SQL["of_number"], {"batch_id": batch_id, "number": min(number, INT_MAX)})
    if row["id"] is not None:
        id_: UUID = row["id"]
        return id_
    batch = words or str(batch_id)
    if row["is_run"]:
        raise UsageError(f"{batch} is a run; #{number} goes after a batch, such as last#{number}.")
    if row["last_number"] is None:
        raise NotFound(f"There is no batch {batch}.", remedies=(problems.SEE_BATCHES,))
    if number <= row["last_number"]:
        raise NotFound(f"Run #{number} of batch {batch} was deleted.")
    raise NotFound(f"Batch {batch} has no run #{number}; its last one is #{row['last_number']}.")


async def run_numbers(pool: Pool, batch_id: UUID) -> dict[UUID, int]:
    """The number of each run of a batch by its id, in their order."""
    return {row["id"]: row["number"] for row in await fetch_all(pool, SQL["numbers"], {"batch_id": batch_id})}


def is_reference(text: str) -> bool:
    """Whether a text can only be an id, the beginning of one, or `last`, also with a number; a name of a batch is none."""
    match = RUN_NAME.fullmatch(text.strip())
    words = match[1].strip() if match else text.strip()
    return words == LAST or BEGINNING.fullmatch(_digits(words)) is not None


async def short_ids(pool: Pool, ids: Sequence[UUID]) -> dict[UUID, str]:
    """By id of a batch or a run the shortest beginning, of eight characters or more, that no other of them has."""
    rows = await fetch_all(pool, SQL["neighbours"], {"ids": list(ids)})
    lengths = {
        row["id"]: max((_common_digits(row["id"], near) for near in row["near"]), default=0) + 1
        for row in rows
    }
    return {id_: _beginning(id_, lengths.get(id_, DIGITS)) for id_ in ids}


async def _run_behind(pool: Pool, match: re.Match[str], batch_id: UUID) -> UUID:
    return await run_of_number(pool, batch_id, int(match[2]), words=match[1].strip()[:60])


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


def _is_whole(text: str) -> bool:
    digits = _digits(text)
    return len(digits) == DIGITS and BEGINNING.fullmatch(digits) is not None


async def _nearest_batches(pool: Pool, words: str) -> str:
    names = [row["name"] for row in await fetch_all(pool, SQL["names"], {})]
    return suggestion(words[:NAME_CHARS_MAX], [*names, LAST])


def _nothing(
    words: str, kinds: Sequence[Referent], hint: str, *, is_beginning: bool
) -> NotFound | UsageError:
    if words == LAST and Referent.RESEARCH in kinds:
        return NotFound("There is no batch of topics yet.", remedies=(problems.SUBMIT_TOPICS,))
    if is_beginning:
        kind = "id" if Referent.RESEARCH in kinds else f"id of a {kinds[0]}"
        return NotFound(f"No {kind} begins with {words}.{hint}", remedies=() if hint else (LISTS[kinds[0]],))
    if Referent.RESEARCH in kinds and NO_NUMBER.fullmatch(words):
        return UsageError(
            f"{words[:60]!r} does not name a run: its number goes after the batch and counts from 1, such as last#1."
        )
    what = "and no name of a batch" if Referent.RESEARCH in kinds else f"of a {kinds[0]}"
    if hint:
        return UsageError(f"{words[:60]!r} is no id {what}.{hint}")
    return UsageError(
        f"{words[:60]!r} is no id {what}; an id looks like 0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa, and its beginning is enough."
    )


def _common_digits(one_id: UUID, other_id: UUID) -> int:
    return DIGITS - ((one_id.int ^ other_id.int).bit_length() + 3) // 4


def _beginning(id_: UUID, digits: int) -> str:
    hyphens = sum(digits > end for end in GROUPS_END)
    return str(id_)[: max(SHORT_CHARS_MIN, digits + hyphens)]
