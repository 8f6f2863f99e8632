from collections.abc import Sequence

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.drafts.citable_facts import CitableFacts
from chiron_workers.knowledge.drafts.reading import SUMMARY, Draft, Sentence
from chiron_workers.knowledge.drafts.sections import Sections, refuse_changed
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.runs.session import Session

SQL = load(__file__)
SUMMARY_TITLE = "Summary"


class Drafts:
    """The report of the run on whose behalf a store is used."""

    def __init__(self, session: Session, verdicts: Verdicts) -> None:
        self._session = session
        self._sections = Sections(session, verdicts)

    @property
    def facts(self) -> CitableFacts:
        """The facts that the draft is made of. Raises ToolError outside of a run."""
        return self._sections.facts

    async def write(self, place: int, title: str, sentences: Sequence[Sentence]) -> int:
        """Keep a section, as `Sections.write`; the summary has a title of its own."""
        return await self._sections.write(place, SUMMARY_TITLE if place == SUMMARY else title, sentences)

    async def hand_in(self) -> Draft:
        """Show the draft, once it has a summary and at least one more section.

        Raises:
            ToolError: Something is missing, or a fact no longer stands as it did when its sentence was written.
        """
        await self._sections.lock()
        sections = await self._sections.read()
        places = {section.place for section in sections}
        if SUMMARY not in places or len(places) == 1:
            part = "summary (place 0)" if SUMMARY not in places else "section beside the summary"
            raise ToolError(f"The draft has no {part} yet; write it with write_section.")
        refuse_changed(sections, await self._sections.cited_facts(sections))
        run_id = self._sections.run_id
        [row] = await self._session.write(SQL["hand_in"], {"run_id": run_id})
        return Draft(run_id, self._session.caller.model or "", row["handed_in_at"], sections)
