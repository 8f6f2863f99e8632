"""Whether runs have anywhere to look for sources."""

import asyncio
from collections.abc import Iterable

from chiron_workers.batches.submit import NewRun
from chiron_workers.batches.summaries import RunSummary
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, Settings

ADVICE = (
    "Add documents to the subject, or name a search provider in CHIRON_SEARCH "
    "(auto,duckduckgo needs no key), for the workers too."
)


async def source_warnings(pool: Pool, settings: Settings, runs: Iterable[NewRun | RunSummary]) -> list[str]:
    """A sentence for each subject whose runs have neither documents nor a search of the web, nor an address in the topic.

    Providers are those that the settings of this process turn on; workers may have others.
    """
    from chiron_workers.search_providers import select_providers

    web_providers = [provider for provider in select_providers(settings)[0] if not provider.is_local]
    warnings = []
    for subject, model in await asyncio.to_thread(_subjects_and_models, runs):
        searches_web = model != OFFLINE_MODEL and any(
            provider.name != "claude" or model.startswith("claude") for provider in web_providers
        )
        if not searches_web and not await Corpus(Session(pool)).documents(subject, limit=1):
            warnings.append(
                f"The subject {subject} has no document, and runs with {model} search no web: they find no sources. {ADVICE}"
            )
    return warnings


def _subjects_and_models(runs: Iterable[NewRun | RunSummary]) -> list[tuple[str, str]]:
    """Those of runs whose topic names no address; of 100,000 runs that is work of a second."""
    return sorted({_subject_and_model(run) for run in runs if "://" not in run.topic})


def _subject_and_model(run: NewRun | RunSummary) -> tuple[str, str]:
    return slug(run.subject) if isinstance(run, NewRun) else run.subject_id, run.model
