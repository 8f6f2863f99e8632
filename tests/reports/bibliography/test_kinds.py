import pytest

from chiron_api.reports.bibliography.kinds import WorkKind, kind_of


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.nature.com/articles/s1", WorkKind.ARTICLE),
        ("https://doi.org/10.1038/x", WorkKind.ARTICLE),
        ("https://arxiv.org/abs/2103.00020", WorkKind.PREPRINT),
        ("https://notarxiv.org/abs/2103.00020", WorkKind.PAGE),
        ("https://who.int/annual.PDF", WorkKind.REPORT),
        ("https://catalog.data.gov/dataset/x", WorkKind.DATASET),
        ("https://a.org/x.csv", WorkKind.DATASET),
        ("https://www.gutenberg.org/ebooks/1", WorkKind.BOOK),
        ("https://a.org/x", WorkKind.PAGE),
        ("corpus://birds/ducks.md", WorkKind.DOCUMENT),
        ("The Art of Ducks", WorkKind.DOCUMENT),
        ("https://[::1", WorkKind.DOCUMENT),
    ],
)
def test_an_address_tells_what_kind_of_work_it_leads_to(url, kind):
    assert kind_of(url) is kind
