"""The quote gate, measured: real quotes of real documents, changed in what they say and in how they look."""

import re
import unicodedata
from collections import Counter
from random import Random

import pytest
from support.quote_mutations import MUTATIONS
from support.quote_variants import SETTINGS, VARIANTS
from support.real_documents import real_documents

from chiron_workers.evidence.quotes.quotes import locate, refusal_reason, unfit_reason

MUTATIONS_MIN = VARIANTS_MIN = 2_000
FALSE_REFUSALS_MAX = 0.01
PER_KIND = 12  # of each document
CUTS = 4 * PER_KIND  # tried, as not every quote holds what a mutation changes


@pytest.fixture(scope="module")
def seed() -> int:
    seed = Random().randrange(1_000_000)
    print(f"seed {seed}")
    return seed


def spelt(text: str) -> list[str]:
    """The words of a text, for comparison: another way than the one that is tested, and slower."""
    kept = []
    for letter in unicodedata.normalize("NFC", text):
        name = unicodedata.name(letter, "")
        if letter.isspace():
            kept.append(" ")
        elif "LIGATURE F" in name:
            kept.append(unicodedata.normalize("NFKC", letter))
        elif "DASH" in name:
            kept.append(" ")
        elif ("HYPHEN" in name and letter != "\xad") or ("MINUS SIGN" in name and letter == "−"):
            kept.append("-")
        elif "APOSTROPHE" in name or "QUOTATION MARK" in name or letter == "`":
            kept.append("'" if "SINGLE" in name or name == "APOSTROPHE" or letter == "`" else '"')
        elif unicodedata.category(letter) != "Cf":
            kept.append(letter)
    found = re.sub(r"-{2,}|(?<= )-(?= )", " ", f" {''.join(kept)} ").split()
    return [word for part in found if (word := part.strip(".,;:!?()[]{}\"'*…"))]


def stands(quote: str, page: str) -> bool:
    """Whether a quote stands in a page as it is, or with its first letter large or small: dropped from "the The"."""
    words = " ".join(spelt(quote))
    return f" {words} " in page or f" {words[:1].swapcase()}{words[1:]} " in page


def tells(standing: str, quote: str) -> bool:
    """Whether a quote's words stand in a passage, wherever lines may have broken them."""
    return "".join(spelt(quote)).replace("-", "") in "".join(spelt(standing)).replace("-", "")


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


def test_no_quote_that_says_something_else_is_accepted(seed: int):
    random = Random(seed)
    tried, by_chance, accepted = Counter[str](), Counter[str](), []
    for text in real_documents().values():
        page, words = f" {' '.join(spelt(text))} ", text.split()
        for kind, mutate in MUTATIONS.items():
            changed = [
                new for quote in cuts(text, random, CUTS) if (new := mutate(quote, words, random)) != quote
            ]
            for quote in changed[:PER_KIND]:
                if stands(quote, page):
                    by_chance[kind] += 1
                    continue
                tried[kind] += 1
                if standing := locate(quote, text):
                    accepted.append((kind, quote, standing.quote))
    print(
        f"{tried.total():,} mutations, and {by_chance.total()} that stand elsewhere in the page: {dict(tried)}"
    )
    assert not accepted, f"seed {seed}: {len(accepted)} accepted, such as {accepted[:5]}"
    assert tried.total() >= MUTATIONS_MIN
    assert len(tried) >= len(MUTATIONS) - 2, "hardly a quote holds a sign or a per cent"


def test_hardly_a_true_quote_is_refused_for_how_it_looks(seed: int):
    random = Random(seed)
    tried, refused = Counter[str](), []
    for text in real_documents().values():
        pages = {kind: set_otherwise(text, random) for kind, set_otherwise in SETTINGS.items()}
        for kind in (*VARIANTS, *SETTINGS):
            page = pages.get(kind, text)
            for quote in cuts(text, random, PER_KIND + 1):
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
    assert tried.total() >= VARIANTS_MIN
    assert len(refused) <= FALSE_REFUSALS_MAX * tried.total(), f"seed {seed}"
