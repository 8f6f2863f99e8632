"""The most that the first call of a run can cost, as its worker will reserve it."""

import asyncio

from chiron_workers.billing.call_costs import next_call_cost
from chiron_workers.billing.prices import rates_of
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.roles import PlannedRun, background_of, first_question, system_prompt
from chiron_workers.runs.entries import MaxCost
from chiron_workers.runs.messages import encoded
from chiron_workers.runs.prompt_sizes import CONTEXT_TOKENS, opening_bytes, question_bytes, reply_tokens
from chiron_workers.settings import settings

SQL = load(__file__)


async def first_call_cost(pool: Pool, run: PlannedRun, *, model: str) -> MaxCost:
    """The most that the first call of a run can cost: `next_call_cost` of its system prompt, tools and question.

    A worker with these settings and tools reserves the same, except for the tools of MCP servers, which only a worker knows,
    and for a window that the model's server says is smaller than 200,000 tokens.
    """
    question = first_question(run, await background_of(pool, run))
    opening = await asyncio.to_thread(_opening_of, run)
    prompt_tokens = opening_bytes(*opening) + question_bytes(question)
    return next_call_cost(
        rates_of(model, settings().prices), prompt_tokens=prompt_tokens, reply_tokens=_reply_tokens(model)
    )


def full_call_cost(model: str) -> MaxCost:
    """The most that a call can cost which fills the model's window. No first call costs more."""
    context_tokens = context_tokens_of(model)
    return next_call_cost(
        rates_of(model, settings().prices), prompt_tokens=context_tokens, reply_tokens=_reply_tokens(model)
    )


async def title_of(pool: Pool, subject_id: str) -> str | None:
    """The title of a subject, None where there is none yet."""
    rows = await fetch_all(pool, SQL["title"], {"subject_id": subject_id})
    return rows[0]["title"] if rows else None


def _opening_of(run: PlannedRun) -> tuple[str, list[bytes]]:
    # Loading all tools takes a second, which a submit with a generous budget does not spend.
    from chiron_workers.skills import skills
    from chiron_workers.skills.instructions import catalogue_lines
    from chiron_workers.toolkit.offers import offered_definitions
    from chiron_workers.tools import registry

    definitions = offered_definitions(registry(), run.role, has_columns=bool(run.columns))
    system = system_prompt(run, settings(), skills=catalogue_lines(skills().catalogue()))
    return system, [encoded(definition) for definition in definitions]


def _reply_tokens(model: str) -> int:
    return reply_tokens(context_tokens_of(model), reply_max=settings().max_tokens)


def context_tokens_of(model: str) -> int:
    """Tokens of a model's context window, from the settings; only workers ask the model's server."""
    return settings().context_tokens.get(model, CONTEXT_TOKENS)
