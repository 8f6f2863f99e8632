"""The JSON of a report holds all that its other documents are made of, so a check can make them again."""

import pytest
from support.report_writing import researched_batch, written_report

from chiron_api.crate.active_content import check_page
from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.packing import pack
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.crate.remaking import write_annotations, write_json, write_page
from chiron_api.reports.crate.rereading import ReportUnreadable, reread
from chiron_api.reports.crate.verification import PageState, verify
from chiron_api.reports.gathering import gather


@pytest.mark.parametrize("scope", ["subject", "batch", "run"])
async def test_a_report_read_again_gives_the_same_documents(sea_ice, pool, scope):
    target = {"subject": "sea-ice", "batch": sea_ice.batch, "run": sea_ice.run}[scope]
    report = await gather(pool, target, with_candidates=True, with_selections=True)
    for write in (write_json, write_page, write_annotations):
        assert b"".join(write(reread(b"".join(write_json(report))))) == b"".join(write(report))


async def test_a_crate_with_a_written_answer_has_the_page_of_its_report(shelf, pool, tmp_path):
    batch = researched_batch(shelf)
    written_report(shelf, batch, ("Summary", [("Old ice is <b>thick</b>.", [batch.age])]))
    report = await gather(pool, batch.id, with_selections=True)
    assert report.answer
    await pack(pool, report, tmp_path / "crate", PackingOptions(TextChoice.ALL))
    result = verify(tmp_path / "crate")
    assert (result.faults, result.page, result.answers) == ((), PageState.SAME, 2)


async def test_no_page_of_chiron_looks_as_if_it_ran_something(sea_ice, pool):
    report = await gather(pool, "sea-ice", with_candidates=True)
    assert list(check_page(b"".join(write_page(report)))) == []


@pytest.mark.parametrize(
    "content", [b"{}", b"[]", b"null", b'{"sections": 1}', b'{"unchecked_agent_words": ""}']
)
def test_what_is_no_report_is_refused(content):
    with pytest.raises(ReportUnreadable):
        reread(content)
