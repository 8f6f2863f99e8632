"""What a page says of itself: its DOI, and whether it is a publication or a post of a forum."""

import pytest

from chiron_workers.documents.html import read_html
from chiron_workers.states import SourceKind

TEXT = "<p>" + "The rate of the bank is 5 % a year, as all of its customers know. " * 8 + "</p>"
DOI = '<meta name="citation_doi" content="10.1234/rate">'
JOURNAL = '<meta name="citation_journal_title" content="Journal of Rates">'
FORUM = '<meta name="generator" content="Discourse 3.3.0">'


def json_ld(words: str) -> str:
    return f'<script type="application/ld+json">{words}</script>'


@pytest.mark.parametrize(
    ("head", "doi", "kind"),
    [
        (DOI + JOURNAL, "10.1234/rate", SourceKind.EXPERT),
        (DOI + json_ld('{"@type": "ScholarlyArticle"}'), "10.1234/rate", SourceKind.EXPERT),
        (DOI, "10.1234/rate", None),
        (JOURNAL, "", None),
        (
            '<meta name="DC.Identifier" content="doi:10.1234/rate">' + JOURNAL,
            "doi:10.1234/rate",
            SourceKind.EXPERT,
        ),
        ('<meta name="dc.identifier" content="ISBN 1234">' + JOURNAL, "", None),
        (FORUM, "", SourceKind.USER_GENERATED),
        (DOI + JOURNAL + FORUM, "10.1234/rate", SourceKind.USER_GENERATED),
        (
            json_ld('{"@graph": [{"@type": ["DiscussionForumPosting", "Thing"]}]}'),
            "",
            SourceKind.USER_GENERATED,
        ),
        (json_ld('{"@type": "NewsArticle"}'), "", None),
        (json_ld("no JSON at all"), "", None),
        ('<meta property="og:type" content="article">', "", None),
    ],
)
def test_a_page_is_known_by_its_metadata_and_a_forum_is_believed_first(
    head: str, doi: str, kind: SourceKind | None
) -> None:
    document = read_html(
        f"<html><head><title>Rates</title>{head}</head><body><main>{TEXT}</main></body></html>"
    )
    assert (document.doi, document.stated_kind) == (doi, kind)
