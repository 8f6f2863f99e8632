import asyncio
from uuid import uuid4

import pytest

from chiron_api.reports.gathering import gather
from chiron_workers.errors import NotFound
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.facts.confidences import Confidences
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus


def contents(report) -> list[str]:
    return [finding.content for finding in report.findings]


async def test_a_run_reports_what_it_found_and_what_it_confirmed(sea_ice, pool):
    shelf = sea_ice.shelf
    elsewhere = shelf.fact("sea-ice", "Ice floats.", "https://e.org/")
    assert "Ice floats." not in contents(await gather(pool, sea_ice.batch))
    assert contents(await gather(pool, sea_ice.other_run)) == [
        "In winter 2023 Arctic sea ice was 1.9 m thick on average."
    ]
    shelf.confirm(elsewhere, "Ice swims.", "https://f.org/", run_id=sea_ice.run)
    assert "Ice floats." in contents(await gather(pool, sea_ice.batch))
    assert "Ice floats." in contents(await gather(pool, "Sea Ice"))


async def test_each_citation_resolves_to_the_passage_and_its_source(sea_ice, pool):
    report = await gather(pool, sea_ice.batch)
    [finding] = [one for one in report.findings if one.fact_id == str(sea_ice.mean)]
    first, second, third = finding.citations
    sources = {source.number: source for source in report.sources}
    assert (first.quote, first.is_verified, first.wording) == (
        "In winter 2023 the mean thickness was 1.9 m.",
        True,
        "",
    )
    source = sources[first.source]
    assert (source.url, source.title, source.author, source.licence) == (
        "https://a.org/ice", "Ice | <today>", "A. Ice", "CC BY 4.0"
    )  # fmt: skip
    assert f"{source.published_at:%Y-%m-%d} {source.fetched_at:%Y-%m-%d}" == "2025-05-05 2026-03-01"
    assert source.cited_by == (finding.number,)
    assert (second.quote, second.is_verified, second.wording) == (
        "1.9 m in winter", False, "The mean thickness was 1.9 m in winter 2023."
    )  # fmt: skip
    assert sources[third.source].fetched_at is None
    assert [source.number for source in report.sources] == list(range(1, len(report.sources) + 1))


async def test_the_independent_sources_of_a_finding_are_those_that_its_confidence_counts(sea_ice, pool):
    shelf = sea_ice.shelf
    backed = shelf.fact("sea-ice", "Drifting ice is thinner.", "https://g.org/", run_id=sea_ice.run)
    backing = shelf.fact("sea-ice", "Ice that drifts is thin.", "https://h.org/", run_id=sea_ice.run)
    shelf.link(backing, backed, "supports")
    shelf.fact("sea-ice", "Ice is salty.", "https://i.org/", run_id=sea_ice.run, verdict="silent")
    report = await gather(pool, "sea-ice", with_candidates=True)
    origins = {finding.fact_id: finding.origins for finding in report.findings}
    assert origins == await Confidences(Session(pool)).origin_counts(list(origins))
    assert set(origins.values()) >= {0, 1, 2}


async def test_candidates_stay_out_unless_they_are_asked_for_and_withdrawn_facts_always(sea_ice, pool):
    quiet, open_ = await gather(pool, "sea-ice"), await gather(pool, "sea-ice", with_candidates=True)
    candidate = "The figure of 1.9 m is for February."
    assert candidate not in contents(quiet)
    assert [one.content for one in quiet.asides] == [
        candidate
    ]  # it qualifies a finding, so it is shown apart
    assert candidate in contents(open_)
    assert open_.asides == ()
    assert quiet.counts[FactStatus.CANDIDATE] == quiet.counts[FactStatus.WITHDRAWN] == 1
    assert "TAKEN OUT" not in str(open_)


async def test_both_sides_of_a_contradiction_are_there_even_where_one_is_no_finding(sea_ice, pool):
    report = await gather(pool, sea_ice.batch)
    [pair] = report.contradictions
    sides = {report.by_number()[number].content for number in (pair.number, pair.other)}
    assert sides == {
        "In winter 2023 Arctic sea ice was 1.9 m thick on average.",
        "In winter 2023 Arctic sea ice was 2.4 m thick on average.",
    }
    confirmed_only = await gather(pool, sea_ice.other_run)
    assert [one.fact_id for one in confirmed_only.asides] == [str(sea_ice.opposite), str(sea_ice.candidate)]
    assert len(confirmed_only.contradictions) == 1


async def test_statements_without_a_fact_are_kept_apart(sea_ice, pool):
    run = await gather(pool, sea_ice.run)
    assert run.agent_words == "I think it is **thin**.\n\nAsk <b>me</b>."
    assert (await gather(pool, sea_ice.batch)).agent_words == ""
    [noted] = [one for one in run.findings if one.objections]
    assert (noted.fact_id, noted.objections) == (str(sea_ice.opposite), ("Some say it is 3 m.",))


async def test_the_coverage_map_says_what_is_missing_goal_critical_nodes_first(sea_ice, pool):
    [subject] = (await gather(pool, sea_ice.batch)).subjects
    assert subject.purpose.startswith("Know how much ice there is")
    assert [node.title for node in subject.missing] == ["Albedo", "Drilling", "Biology"]
    found = {node.title: (node.level, node.facts, node.facts_below) for node in subject.nodes}
    assert found["Thickness"] == (0, 2, 7)
    assert found["Satellites"] == (1, 7, 0)


async def test_cost_tokens_and_failures_are_those_of_the_runs(sea_ice, pool):
    work = (await gather(pool, sea_ice.batch)).work
    assert (work.run_count, float(work.spent_usd), float(work.unconfirmed_usd)) == (2, 1.0, 0.01)
    assert (work.input_tokens, work.output_tokens) == (2_400, 600)
    assert [(run.state, run.error) for run in work.runs] == [
        ("failed", "max_turns: Too long | by far."), ("completed", "")
    ]  # fmt: skip
    assert (await gather(pool, sea_ice.run)).work.run_count == 1
    assert (await gather(pool, "sea-ice")).work.run_count == 2


async def test_findings_of_a_batch_with_several_subjects_stay_apart(sea_ice, pool):
    sea_ice.shelf.subject("birds", "Birds")
    run = sea_ice.shelf.run("birds", sea_ice.batch, "What flies?")
    sea_ice.shelf.fact("birds", "Ducks dive.", "https://birds.org/", run_id=run)
    report = await gather(pool, sea_ice.batch)
    assert [subject.subject_id for subject in report.subjects] == ["sea-ice", "birds"]
    assert {section.subject_id for section in report.sections} == {"sea-ice", "birds"}


async def test_a_subject_of_which_nothing_is_known_has_a_report_too(shelf, pool):
    shelf.subject("empty", "Nothing yet")
    report = await gather(pool, "empty")
    assert (list(report.findings), report.sources, report.work.run_count) == ([], (), 0)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [(uuid4(), "There is no batch|No batch and no run"), ("no such subject", "There is no subject")],
)
async def test_what_is_unknown_is_said(pool, wanted, words):
    with pytest.raises(NotFound, match=words):
        await gather(pool, wanted)


async def test_whoever_cannot_sum_up_the_runs_reads_no_facts_on(sea_ice, pool, monkeypatch):
    async def refuse(*_: object) -> None:
        raise NotFound("gone")

    monkeypatch.setattr(report_rows, "counts", refuse)
    others = asyncio.all_tasks()
    with pytest.raises(NotFound, match="gone"):
        await gather(pool, "sea-ice")
    assert asyncio.all_tasks() == others
