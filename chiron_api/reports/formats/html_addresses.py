"""Where the numbers of an HTML report lead: to places of the same file, or to the pages of its facts."""

from collections.abc import Iterable, Mapping

from chiron_api.reports.report import Finding


class Anchors:
    """The attributes of links within one file."""

    def finding(self, number: int) -> str:
        """Of a link to a finding."""
        return f'href="#f{number}"'

    def section(self, place: int) -> str:
        """Of a link to a question or a topic; the first has place 1."""
        return f'href="#t{place}"'

    def source(self, number: int, findings: Iterable[int] = ()) -> str:
        """Of a link to a source that some of these findings cite."""
        return f'href="#s{number}"'


class FactPages(Anchors):
    """The attributes of links to the pages of facts, each with the source that is cited; these open in a panel."""

    def __init__(self, findings: Mapping[int, Finding], sections: Mapping[int, str] | None = None) -> None:
        """`sections` has the addresses of questions or topics on other pages of the report, by their places."""
        self._findings, self._sections = findings, sections or {}

    def finding(self, number: int) -> str:
        """Of a link to the page of a finding's fact."""
        return f'href="/facts/{self._findings[number].fact_id}" data-panel'

    def section(self, place: int) -> str:
        """Of a link to a question or a topic, on this page or on another."""
        address = self._sections.get(place)
        return f'href="{address}"' if address else super().section(place)

    def source(self, number: int, findings: Iterable[int] = ()) -> str:
        """Of a link to the page of the first finding that cites a source; to the list of sources where none does."""
        for finding in (self._findings[n] for n in findings if n in self._findings):
            numbers = (
                n for n, citation in enumerate(finding.citations, start=1) if citation.source == number
            )
            place = next(numbers, None)
            if place is not None:
                return f'href="/facts/{finding.fact_id}?source={place}" data-panel'
        return super().source(number)


ANCHORS = Anchors()
