"""Where the numbers of an HTML report lead: to places of the same file, or to the pages of its facts."""

from collections.abc import Iterable, Mapping

from chiron_api.reports.report import Finding


class Anchors:
    """The attributes of links within one file."""

    def finding(self, number: int) -> str:
        """Of a link to a finding."""
        return f'href="#f{number}"'

    def source(self, number: int, findings: Iterable[int] = ()) -> str:
        """Of a link to a source that some of these findings cite."""
        return f'href="#s{number}"'


class FactPages(Anchors):
    """The attributes of links to the pages of facts, each with the source that is cited; these open in a panel."""

    def __init__(self, findings: Mapping[int, Finding]) -> None:
        self._findings = findings

    def finding(self, number: int) -> str:
        """Of a link to the page of a finding's fact."""
        return f'href="/facts/{self._findings[number].fact_id}" data-panel'

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
