"""The quote gate, measured: real quotes of real documents, changed in what they say and in how they look."""

import re
from collections import Counter
from random import Random

import pytest
from support.page_words import comparable_page, comparable_words, occurs
from support.quote_mutations import MUTATIONS
from support.quote_variants import SETTINGS, VARIANTS
from support.real_documents import real_documents

from chiron_workers.evidence.quotes.quotes import locate, refusal_reason, unfit_reason

FEW, MANY = 2, 12  # quotes of each kind and document
MUTATIONS_MIN = VARIANTS_MIN = 160  # for each of them
FALSE_REFUSALS_MAX = 0.01
CUTS = 4  # tried for each quote, as not every one holds what a mutation changes
SIZES = pytest.mark.parametrize(
    "per_kind", [FEW, pytest.param(MANY, marks=pytest.mark.acceptance)], ids=["few", "many"]
)


def tells(standing: str, quote: str) -> bool:
    """Whether a quote's words stand in a passage, wherever lines may have broken them."""
    return "".join(comparable_words(quote)).replace("-", "") in "".join(comparable_words(standing)).replace(
        "-", ""
    )


def cuts(text: str, random: Random, count: int) -> list[str]:
    """Quotes of 6 to 30 words, each from within one paragraph."""
    paragraphs = [words for part in re.split(r"\n\s*\n", text) if len(words := part.split()) > 8]
    found = []
    while len(found) < count:
        words = random.choice(paragraphs)
        size = min(len(words), random.randrange(6, 31))
        start = random.randrange(len(words) - size + 1)
        quote = " ".join(words[start : start + size])
        if not unfit_reason(quote) and not re.search(r"\.\.\.|…|[^\w\s]{4}", quote):
            found.append(quote)
    return found


@SIZES
def test_no_quote_that_says_something_else_is_accepted(per_kind: int, seed: int):
    random = Random(seed)
    tried, by_chance, accepted = Counter[str](), Counter[str](), []
    for text in real_documents().values():
        page, words = comparable_page(text), text.split()
        for kind, mutate in MUTATIONS.items():
            changed = [
                new
                for quote in cuts(text, random, CUTS * per_kind)
                if (new := mutate(quote, words, random)) != quote
            ]
            for quote in changed[:per_kind]:
                if occurs(quote, page):
                    by_chance[kind] += 1
                    continue
                tried[kind] += 1
                if standing := locate(quote, text):
                    accepted.append((kind, quote, standing.quote))
    print(
        f"{tried.total():,} mutations, and {by_chance.total()} that stand elsewhere in the page: {dict(tried)}"
    )
    assert not accepted, f"seed {seed}: {len(accepted)} accepted, such as {accepted[:5]}"
    assert tried.total() >= MUTATIONS_MIN * per_kind
    assert len(tried) >= len(MUTATIONS) - 2, "hardly a quote holds a sign or a per cent"


@SIZES
def test_hardly_a_true_quote_is_refused_for_how_it_looks(per_kind: int, seed: int):
    random = Random(seed)
    tried, refused = Counter[str](), []
    for text in real_documents().values():
        pages = {kind: set_otherwise(text, random) for kind, set_otherwise in SETTINGS.items()}
        for kind in (*VARIANTS, *SETTINGS):
            page = pages.get(kind, text)
            for quote in cuts(text, random, per_kind + 1):
                shown = VARIANTS[kind](quote, random) if kind in VARIANTS else quote
                tried[kind] += 1
                if (standing := locate(shown, page)) is None:
                    refused.append((kind, shown, refusal_reason(shown, page)))
                    continue
                assert standing.quote == page[standing.start : standing.end]
                assert tells(standing.quote.lower(), quote.lower()), (
                    f"seed {seed}: {quote!r} was found as {standing.quote!r}"
                )
    print(f"{tried.total():,} variants: {dict(tried)}")
    print(f"{len(refused)} refused: {dict(Counter(kind for kind, *_ in refused))}, such as {refused[:5]}")
    assert tried.total() >= VARIANTS_MIN * per_kind
    assert len(refused) <= FALSE_REFUSALS_MAX * tried.total(), f"seed {seed}"
