"""The sections that a run writes, each sentence of which is held to its facts: reports and lessons rest on them."""

from collections.abc import Sequence
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import ToolError
from chiron_workers.evidence.statements.support import Finding
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, CitableFacts, Scope
from chiron_workers.knowledge.drafts.reading import SQL as READING_SQL
from chiron_workers.knowledge.drafts.reading import SUMMARY, DraftSection, Sentence, sections_of
from chiron_workers.knowledge.drafts.sentence_checks import check_section
from chiron_workers.knowledge.drafts.sentence_rules import refuse_facts, refuse_title
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.runs.entries import storable
from chiron_workers.runs.session import Session

SQL = load(__file__)
SENTENCES_MAX = 40  # of a section
SECTIONS_MAX = 40


class Sections:
    """The sections of the run on whose behalf a store is used."""

    def __init__(self, session: Session, verdicts: Verdicts) -> None:
        self._session = session
        self._verdicts = verdicts

    @property
    def run_id(self) -> UUID:
        """Whose sections they are. Raises ToolError outside of a run."""
        run_id = self._session.caller.run_id
        if run_id is None:
            raise ToolError("A draft is the work of a run, and this is no run.")
        return run_id

    @property
    def facts(self) -> CitableFacts:
        """The facts that the sections are made of. Raises ToolError outside of a run."""
        caller = self._session.caller
        scope = caller.scope or caller.subject_id
        if scope is None:
            raise ToolError("A draft is the work of a run, and this is no run.")
        return CitableFacts(self._session, Scope.of(scope, subject_id=caller.subject_id))

    async def write(self, place: int, title: str, sentences: Sequence[Sentence]) -> int:
        """Keep a section in place of the one that stands there, or remove it where there are no sentences.

        Returns:
            How many sentences there are now in all sections.

        Raises:
            ToolError: A sentence or the heading cannot stand; nothing was kept. The message numbers the sentences.
        """
        run_id = self.run_id
        sentences = [_cleaned(sentence) for sentence in sentences]
        title = storable(collapse_whitespace(title))
        title_finding, findings = await self._check(place, title, sentences)
        args = {"run_id": run_id, "place": place}
        await self.lock()
        await self._session.write(SQL["remove"], args)
        if sentences:
            heading = {"title": title, "title_verdict_by": title_finding.judge}
            await self._session.write(SQL["add"], args | heading | {"call_id": self._session.caller.call_id})
            rows = zip(sentences, findings, strict=True)
            for n, (sentence, finding) in enumerate(rows, start=1):
                await self._session.write(SQL["add_sentence"], args | {"n": n} | _columns(sentence, finding))
        [sizes] = await self._session.rows(SQL["size"], args)
        if sizes["sections"] > SECTIONS_MAX:
            raise ToolError(f"place: a draft has at most {SECTIONS_MAX} sections.")
        return int(sizes["sentences"])

    async def lock(self) -> None:
        """Let no other call of the run write a section before this session has committed."""
        await self._session.lock(SQL["lock"], {"run_id": self.run_id}, keys=[f"draft {self.run_id}"])

    async def read(self) -> tuple[DraftSection, ...]:
        """The sections as they stand, by their places."""
        return sections_of(await self._session.rows(READING_SQL["sentences"], {"run_id": self.run_id}))

    async def cited_facts(self, sections: Sequence[DraftSection]) -> dict[str, CitableFact]:
        """The facts that sections rest on as they are now, by id."""
        return await self.facts.by_id(
            fact_id for part in sections for sentence in part.sentences for fact_id in sentence.fact_ids
        )

    async def _check(
        self, place: int, title: str, sentences: Sequence[Sentence]
    ) -> tuple[Finding, list[Finding]]:
        """The verdicts on the title and on each sentence. Raises ToolError where one of them cannot stand."""
        if len(sentences) > SENTENCES_MAX:
            raise ToolError(f"sentences: a section has at most {SENTENCES_MAX} (got {len(sentences)}).")
        facts = await self.facts.by_id(fact_id for sentence in sentences for fact_id in sentence.fact_ids)
        if sentences and (refusal := refuse_title(title, list(facts.values()))):
            raise ToolError(refusal)
        # The title of the summary is ours.
        outcome = await check_section("" if place == SUMMARY else title, sentences, facts, self._verdicts)
        refusals = [
            f"Sentence {n}: {text}"
            for n, text in enumerate(outcome.sentences, start=1)
            if isinstance(text, str)
        ]
        head = ["Nothing was kept, since these sentences cannot stand."] if refusals else []
        lines = [*head, *refusals, *([outcome.heading] if isinstance(outcome.heading, str) else [])]
        if lines or isinstance(outcome.heading, str):
            raise ToolError("\n".join(lines))
        return outcome.heading, [finding for finding in outcome.sentences if isinstance(finding, Finding)]


def refuse_changed(sections: Sequence[DraftSection], facts: dict[str, CitableFact]) -> None:
    """Raises ToolError, which names the sentences, where facts no longer stand as they did when they were written down."""
    refusals = [
        f"Section {section.place}, sentence {n}: {refusal}"
        for section in sections
        for n, sentence in enumerate(section.sentences, start=1)
        if (refusal := refuse_facts(sentence.fact_ids, facts))
    ]
    if refusals:
        raise ToolError(
            "\n".join(["These sentences no longer stand; write their sections again.", *refusals])
        )


def _cleaned(sentence: Sentence) -> Sentence:
    fact_ids = dict.fromkeys(fact_id.strip().lower() for fact_id in sentence.fact_ids)
    return Sentence(storable(collapse_whitespace(sentence.text)), tuple(fact_ids))


def _columns(sentence: Sentence, finding: Finding) -> dict[str, object]:
    return {
        "text": sentence.text,
        "fact_ids": list(sentence.fact_ids),
        "verdict_reason": finding.reason,
        "verdict_by": finding.judge,
    }
