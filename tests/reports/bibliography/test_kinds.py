import pytest

from chiron_api.reports.bibliography.kinds import WorkKind, doi_of, kind_of


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://doi.org/10.1038/s41586-021-03819-2", "10.1038/s41586-021-03819-2"),
        ("https://dx.doi.org/10.1002/(SICI)1097-0258(19980815)17:15%3C1661::AID-SIM968%3E3.0.CO;2-2",
         "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"),
        ("https://onlinelibrary.wiley.com/doi/full/10.1002/anie.201", "10.1002/anie.201"),
        ("https://www.pnas.org/doi/10.1073/pnas.1/pdf", "10.1073/pnas.1"),
        ("https://link.springer.com/content/pdf/10.1007/s1.pdf", "10.1007/s1"),
        ("https://arxiv.org/abs/2103.00020v2", "10.48550/arXiv.2103.00020"),
        ("https://arxiv.org/pdf/2103.00020.pdf", "10.48550/arXiv.2103.00020"),
        ("https://arxiv.org/abs/hep-th/9901001", "10.48550/arXiv.hep-th/9901001"),
        ("https://zenodo.org/records/123", "10.5281/zenodo.123"),
        ("https://a.org/10.1/x", ""),
        ("https://a.org/?doi=10.1234/x", ""),
        ("file:///10.1234/x", ""),
        ("corpus://x/10.1234/x", ""),
        ("https://[::1", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_an_address_may_name_a_doi(url, doi):
    assert doi_of(url) == doi


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
