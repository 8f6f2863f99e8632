"""What a verdict costs a fact whose judge sees what a reader of its page sees: `uv run python benchmarks/window_cost.py`.

Facts are sentences of the pages in docs/. It counts the tokens of the questions, at four characters a token, and measures
the time that a window takes on a page of a megabyte. It asks no model.
"""

import argparse
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from figures import Report, begin, table

from chiron_workers.billing.prices import cost_usd
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.evidence.quotes.context import context_of
from chiron_workers.evidence.quotes.reading_window import reading_window
from chiron_workers.knowledge.facts.source_views import SourceView
from chiron_workers.knowledge.facts.verdicts import ANSWER_TOOL, Evidence, question
from chiron_workers.runs.entries import Usage
from chiron_workers.sources.sources import Page, Snapshot

DOCS = Path(__file__).parents[1] / "docs"
SENTENCE = re.compile(r"(?<=[.!?]\s)[A-Z][^.!?\n|]{40,200}[.](?=\s)")
PAGE_CHARS_MIN = 5_000
CHARS_PER_TOKEN = 4
TOKENS_OUT = 28  # of an answer, as benchmarks/verdicts.py measures it
PRICED_MODELS = ("claude-opus-5-5", "claude-haiku-4-5")
FACTS_PER_REPLY = 4
FACTS_PER_CHECK = 12
LONG_PAGE_CHARS = 1_000_000
LOOKS = 200


def pages() -> Iterator[Snapshot]:
    for path in sorted(DOCS.glob("*.md")):
        document = read_markdown(path.read_text(), name=path.stem)
        page = Page.of(f"https://example.org/{path.stem}", "text/html", document)
        if len(page.text) >= PAGE_CHARS_MIN:
            fields = {name: getattr(page, name) for name in Page.__slots__}
            yield Snapshot(**fields, hash=page.text_hash(), fetched_at=None)  # type: ignore[arg-type]


def facts_of(page: Snapshot, *, has_window: bool) -> list[Evidence]:
    """Sentences of a page, in its order, as statements with their quotes."""
    facts = []
    for sentence in SENTENCE.finditer(page.text):
        start, end = sentence.span()
        context = context_of(page.text, start, end)
        view = SourceView.of(page, reading_window(page.text, start, end)) if has_window else None
        facts.append(Evidence(sentence[0], sentence[0], context, page.url, view=view))
    return facts


def spread(facts: Sequence[Evidence], count: int) -> Iterator[Sequence[Evidence]]:
    """Groups of facts from all over a page."""
    step = len(facts) // count
    yield from (facts[start::step][:count] for start in range(step))


def neighbours(facts: Sequence[Evidence], count: int) -> Iterator[Sequence[Evidence]]:
    """Groups of facts that follow each other."""
    yield from (facts[start : start + count] for start in range(0, len(facts) - count + 1, count))


def cost(questions: Sequence[Sequence[Evidence]]) -> Mapping[str, float]:
    """The share of a fact in these questions: calls, tokens and USD."""
    facts = sum(map(len, questions))
    chars = sum(len(question(group)) + len(str(ANSWER_TOOL)) for group in questions)
    usage = Usage(input_tokens=chars // CHARS_PER_TOKEN, output_tokens=TOKENS_OUT * facts)
    prices = {
        f"USD a fact, {model}": float(cost_usd(model, usage, {}) or 0) / facts for model in PRICED_MODELS
    }
    return {
        "facts": facts,
        "calls a fact": len(questions) / facts,
        "tokens in a fact": usage.input_tokens / facts,
    } | prices


def measure(report: Report, seed: int) -> None:
    chance = random.Random(seed)
    library = list(pages())
    bare = [facts_of(page, has_window=False) for page in library]
    seen = [facts_of(page, has_window=True) for page in library]
    everything = [fact for facts in seen for fact in facts]
    chance.shuffle(everything)
    groups: dict[str, list[Sequence[Evidence]]] = {
        "heading and lead-in alone, each fact": [[fact] for facts in bare for fact in facts],
        "heading and lead-in alone, a reply": [
            group for facts in bare for group in spread(facts, FACTS_PER_REPLY)
        ],
        "window, each fact": [[fact] for facts in seen for fact in facts],
        "window, a reply, page each": list(neighbours(everything, FACTS_PER_REPLY)),
        "window, a reply, one page": [group for facts in seen for group in spread(facts, FACTS_PER_REPLY)],
        "window, a reply, one section": [
            group for facts in seen for group in neighbours(facts, FACTS_PER_REPLY)
        ],
        "window, a check, one page": [group for facts in seen for group in spread(facts, FACTS_PER_CHECK)],
    }
    for name, questions in groups.items():
        report.figures[name] = [dict(cost(questions))]
    chars = sorted(
        sum(len(excerpt.words) for excerpt in fact.view.excerpts) for fact in everything if fact.view
    )
    report.figures["characters of a window"] = [
        {"median": chars[len(chars) // 2], "most": chars[-1], "pages": len(library)}
    ]
    report.figures["window of a page of a megabyte"] = [{"ms": _window_ms(library)}]


def _window_ms(library: Sequence[Snapshot]) -> float:
    text = "\n\n".join(page.text for page in library)
    text = "\n\n".join([text] * (LONG_PAGE_CHARS // len(text) + 1))
    places = [sentence.span() for sentence in SENTENCE.finditer(text)]
    begun = time.thread_time()
    for start, end in places[:: max(1, len(places) // LOOKS)]:
        reading_window(text, start, end)
    return 1_000 * (time.thread_time() - begun) / len(places[:: max(1, len(places) // LOOKS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=34)
    with begin(parser) as (arguments, report):
        measure(report, arguments.seed)
        costs = {name: each for name, [each] in report.figures.items() if "facts" in each}
        columns = list(next(iter(costs.values())))
        rows = [[name, *(f"{each[column]:,.5g}" for column in columns)] for name, each in costs.items()]
        table("Cost of verdicts", ["", *columns], rows)
        others = [
            [name, ", ".join(f"{key} {value:,.3g}" for key, value in each.items())]
            for name, [each] in report.figures.items()
            if name not in costs
        ]
        table("Windows", ["", "figures"], others)


if __name__ == "__main__":
    main()
