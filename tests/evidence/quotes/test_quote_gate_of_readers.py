"""The quote gate behind the readers, measured: documents of each format, quoted truly and falsely in what is easily lost."""

from collections import Counter
from random import Random

import pytest
from support.page_words import comparable_page, occurs
from support.quote_mutations import MUTATIONS as WORD_MUTATIONS
from support.typeset_pages import FORMATS, MUTATIONS, VARIANTS, plain, sentences

from chiron_workers.evidence.quotes.quotes import locate, refusal_reason

FEW, MANY = 15, 60  # sentences of each format
MUTATIONS_MIN, VARIANTS_MIN = 1.6, 6.6  # for each sentence
# By chance these can make what stands elsewhere in the sentence, or what a quote may look like.
NOT_TRIED = {
    "cut inside a word",
    "begun inside a word",
    "subscript",
    "superscript",
    "word replaced",
    "number turned round",
}


@pytest.mark.parametrize(
    "count", [FEW, pytest.param(MANY, marks=pytest.mark.acceptance)], ids=["few", "many"]
)
@pytest.mark.parametrize("name", FORMATS)
def test_no_false_quote_of_a_document_is_accepted_and_every_true_one_is(
    name: str, count: int, seed: int
) -> None:
    random = Random(seed)
    sentences_written = sentences(random, count)
    text = FORMATS[name].text(sentences_written)
    page = [FORMATS[name].meaning(sentence) for sentence in sentences_written]
    words, readable_page = text.split(), comparable_page(text)
    truths = {plain(sentence) for sentence in page}
    tried, refused, false, accepted = Counter[str](), [], Counter[str](), []
    by_chance = Counter[str]()
    for n, sentence in enumerate(page):
        for kind, variant in VARIANTS.items():
            quote = variant(plain(sentence))
            tried[kind] += 1
            if locate(quote, text) is None:
                refused.append((kind, quote, refusal_reason(quote, text)))
        changes = [(kind, mutate(sentence)) for kind, mutate in MUTATIONS.items()]
        for kind, mutate in WORD_MUTATIONS.items() if n % 4 == 0 else ():
            if kind in NOT_TRIED:
                continue
            if occurs(quote := mutate(plain(sentence), words, random), readable_page):
                by_chance[kind] += 1
            else:
                changes.append((kind, quote))
        for kind, quote in changes:
            if quote in truths:
                continue
            false[kind] += 1
            if match := locate(quote, text):
                accepted.append((kind, quote, match.quote))
    print(
        f"{name}: {tried.total():,} variants, {false.total():,} mutations of {len(false)} kinds: {dict(false)};"
        f" {by_chance.total()} that occur in the page"
    )
    assert not refused, f"seed {seed}: {len(refused)} refused, such as {refused[:5]}"
    assert not accepted, f"seed {seed}: {len(accepted)} accepted, such as {accepted[:5]}"
    assert tried.total() >= VARIANTS_MIN * count
    assert sum(false[kind] for kind in MUTATIONS) >= MUTATIONS_MIN * count
