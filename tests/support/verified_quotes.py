"""Claims whose quotes are verified: each comes with a snapshot that holds it."""

import random
import string
from typing import Any

from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.facts.claims import Claim, Place, claim
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources


async def page_read(pool: Pool, url: str, text: str) -> str:
    """Have an address read, so that quotes of its text can be verified; the hash of the text."""
    async with Session(pool) as session:
        return await Sources(session).save(Page(url, text, "text/plain", title="A page"))


def said(content: str, **fields: Any) -> Claim:
    """A claim without a quote."""
    given = {
        "subject_id": "moon",
        "source_url": "https://example.org/moon",
        "source_score": 0.9,
        "topic_path": "orbit",
        "confidence": 0.9,
    }
    return claim(content=content, **(given | fields))


async def quoted(pool: Pool, content: str, *, page: str = "", **fields: Any) -> Claim:
    """A claim that stands word for word in a page of its address; `page` is the rest of the text."""
    asked = said(content, **fields)
    page = page or " ".join(random.Random(asked.source_url).choices(string.ascii_letters, k=100))
    quote = asked.quote or content
    kept = await page_read(pool, asked.source_url, f"{quote} {page}".strip())
    return Claim(
        **{
            **{name: getattr(asked, name) for name in Claim.__slots__},
            "quote": quote,
            "place": Place(kept, 0, len(quote)),
        }
    )
