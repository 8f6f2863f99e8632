"""Holding the sentences of a draft to their facts: by rules first, then by a model that sees nothing else."""

import asyncio
from collections.abc import Mapping, Sequence

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.evidence.statements.support import Finding
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.reading import Sentence
from chiron_workers.knowledge.drafts.sentence_rules import (
    contradicts_itself,
    is_one_sentence,
    is_repeated,
    refuse_sentence,
    tells_both_sides,
    unshown_figures,
)
from chiron_workers.knowledge.facts.verdicts import Evidence, Verdicts
from chiron_workers.states import Decider, Verdict

FACTS_WORDS = Finding(Verdict.SUPPORTED, "It is a fact's own words.", Decider.RULES)
BOTH_SIDES = Finding(Verdict.SUPPORTED, "It tells both sides in their own words.", Decider.RULES)
BOTH_SIDES_CONTEXT = (
    "These are facts of sources that contradict each other. A statement is supported by them only if it tells both sides, "
    "says that they disagree, and takes neither side."
)
# What a sentence is told whose facts do not bear it out in full.
REFUSALS = {
    Verdict.PARTLY: "Its facts bear it out in part: {reason} Say no more than they say.",
    Verdict.CONTRADICTED: "Its facts contradict it: {reason} Say what they say, or drop it.",
    Verdict.SILENT: "Its facts do not speak of it: {reason} Name the facts that do, or drop it.",
    Verdict.UNCHECKED: "Nobody could say whether its facts bear it out. {reason} Put it in the very words of one of its facts.",
}
CONTEXTS_CHARS_MAX = 2_000
QUOTES_CHARS_MAX = 6_000


async def check_sentences(
    sentences: Sequence[Sentence], facts: Mapping[str, CitableFact], verdicts: Verdicts
) -> list[Finding | str]:
    """For each sentence the finding that its facts bear it out, or why it is refused, in their order.

    All that the rules leave open is one question to the model. Nothing but `supported` stands: what is borne out in part, and
    what nobody could be asked about, is refused too.

    Raises:
        LeaseLost: The run is no longer ours.
    """
    outcomes: list[Finding | str | None] = []
    for sentence in sentences:
        refusal = refuse_sentence(sentence, facts)
        cited_facts = [] if refusal else [facts[fact_id] for fact_id in sentence.fact_ids]
        outcomes.append(refusal or await asyncio.to_thread(_judge_by_rules, sentence.text, cited_facts))
    open_places = [place for place, outcome in enumerate(outcomes) if outcome is None]
    cited = [[facts[fact_id] for fact_id in sentences[place].fact_ids] for place in open_places]
    questions = [
        evidence_of(sentences[place].text, own) for place, own in zip(open_places, cited, strict=True)
    ]
    is_disputed = [contradicts_itself(own) for own in cited]
    findings = await verdicts.judge_all(questions, without_rules=is_disputed)
    for place, finding in zip(open_places, findings, strict=True):
        is_supported = finding.verdict is Verdict.SUPPORTED
        outcomes[place] = finding if is_supported else _refusal(finding)
    return [outcome for outcome in outcomes if outcome is not None]


def _judge_by_rules(text: str, facts: Sequence[CitableFact]) -> Finding | str | None:
    """The finding of the rules, why they refuse a sentence, or None where a model has to be asked."""
    if contradicts_itself(facts):
        if tells_both_sides(text, facts):
            return BOTH_SIDES
    elif is_repeated(text, facts):
        return FACTS_WORDS
    if not is_one_sentence(text):
        return "It is more than one sentence. Give each on its own, with the facts that it rests on."
    if figures := unshown_figures(text, facts):
        return f"Its facts do not say {', '.join(figures)}. Say what they say, or name the fact that says so."
    return None


def evidence_of(text: str, cited_facts: Sequence[CitableFact]) -> Evidence:
    """What a model sees of a text: the statements of its facts, what they rest on, and what stands around that."""
    passages = [passage for fact in cited_facts for passage in fact.passages]
    words = _distinct([fact.content for fact in cited_facts] + [passage.quote for passage in passages])
    contexts = _distinct([passage.context for passage in passages])
    if contradicts_itself(cited_facts):
        contexts.insert(0, BOTH_SIDES_CONTEXT)
    return Evidence(
        text,
        "\n".join(words)[:QUOTES_CHARS_MAX],
        " ".join(contexts)[:CONTEXTS_CHARS_MAX],
        ", ".join(_distinct([passage.source_url for passage in passages]))[:CONTEXTS_CHARS_MAX],
    )


def _distinct(texts: Sequence[str]) -> list[str]:
    texts_by_words = {
        collapse_whitespace(text).casefold().rstrip("."): text for text in reversed(texts) if text.strip()
    }
    return list(reversed(texts_by_words.values()))


def _refusal(finding: Finding) -> str:
    reason = finding.reason if finding.reason.endswith(".") else f"{finding.reason}."
    return REFUSALS[finding.verdict].format(reason=reason)
