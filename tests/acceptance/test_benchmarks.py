"""Each benchmark runs, tiny, on services of its own, and says what it measured."""

import json
import math
import random
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support import forked_python

from benchmarks.calls import Again, Noted, answered_again, until_next_call
from benchmarks.footprints import PART_MEASURES, Series, measures_of
from benchmarks.programs import ELSEWHERE, PROGRAMS
from benchmarks.relevance import ndcg, recall

HERE = Path(__file__).parents[2] / "benchmarks"
RIVALS = ("dbos", "langgraph", "absurd")
needs_rivals = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("dbos", "langgraph", "absurd_sdk", "absurdctl")),
    reason="The rivals are not installed; `uv run --group benchmarks pytest -m acceptance` has them.",
)


def figures(name: str, folder: Path, *arguments: str) -> dict[str, list[dict[str, Any]]]:
    file = folder / "figures.json"
    command = [sys.executable, "-m", "support.program_of_forks", str(HERE), name, *arguments]
    done = forked_python.run([*command, "--json", str(file)], timeout=280, cwd=HERE.parent / "tests")
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(file.read_text())
    assert found["machine"]["cores"] >= 1
    return dict(found["figures"])


def test_the_overhead_of_a_turn_is_measured_early_and_late(tmp_path: Path) -> None:
    # Real turns do what the cheapest do, and more; those are played below.
    found = figures("turn_overhead", tmp_path, "--turn", "real", "--real-turns", "6", "--real-repeats", "1")
    loops = {"bare real", "bare same work real", "pipeline real"}
    assert found.keys() == {"commit", "sandbox"} | {
        f"{name} {when}" for name in loops for when in ("early", "late")
    }
    (early,) = found["pipeline real early"]
    assert early["wall"] > 0
    assert early["client"] > 0
    assert early["postgres"] > 0


def test_a_real_worker_is_measured_against_a_bare_loop(tmp_path: Path) -> None:
    sizes = ("--turn", "cheapest", "--runs", "3", "--turns", "8", "--latency-ms", "100", "--repeats", "1")
    found = figures("concurrency", tmp_path, *sizes)
    assert found.keys() == {"bare 3", "pipeline 3"}
    for (measured,) in found.values():
        assert measured["turns_per_s"] > 0
        assert measured["peak_mb"] > 0


def test_a_run_of_many_windows_is_measured_from_its_first_turns_to_its_last(tmp_path: Path) -> None:
    found = figures("long_run", tmp_path, "--turns", "50", "--context-tokens", "16000")
    assert found["epochs"][0]["count"] > 2
    assert found["parts"][0]["first"] == 10
    assert found["parts"][-1]["last"] == 40
    assert all(part["client"] > 0 and part["mb"] > 0 for part in found["parts"])


def test_what_a_run_holds_is_measured_against_what_it_sends(tmp_path: Path) -> None:
    [found] = figures("run_memory", tmp_path, "--runs", "4", "--turns", "24", "--latency-ms", "100")[
        "run memory"
    ]
    assert found["sent_bytes_a_turn"] > 1_000
    assert found["peak_mb"] > 0
    assert found["turns"] > 4


def test_every_view_and_report_of_the_page_is_measured(tmp_path: Path) -> None:
    sizes = ("--runs", "8", "--facts", "8", "--events", "9", "--repeats", "1", "--seconds", "1")
    found = figures("page", tmp_path, *sizes)
    assert {
        "/",
        "/batches/ID",
        "/batches/ID/diff?against=ID",
        "/runs/ID",
        "/batches/ID/report.html",
        "/subjects/benchmark/report.docx",
    } <= found.keys()
    assert all(found[name][0]["kb"] > 0 for name in found if name.startswith("/batches"))


def test_starts_of_commands_are_measured(tmp_path: Path) -> None:
    found = figures("starts", tmp_path, "--repeats", "1", "--commands", "facts --help", "doctor")
    assert {name.partition(",")[0] for name in found} == {"facts --help", "doctor"}
    assert all(repeat["cpu_s"] > 0 for repeats in found.values() for repeat in repeats)


def test_all_figures_are_made_by_one_command_that_says_what_failed(tmp_path: Path) -> None:
    files = {"--json": tmp_path / "report.json", "--markdown": tmp_path / "report.md"}
    command = [sys.executable, str(HERE / "report.py"), "--quick", "--only", "merging", "span_cost"]
    command += [str(part) for option in files.items() for part in option]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(files["--json"].read_text())
    assert found["machine"]["cores"] >= 1
    assert set(found["programs"]) == {"merging", "span_cost"}
    assert "tool_call, off" in found["programs"]["span_cost"]["figures"]
    text = files["--markdown"].read_text()
    assert found["commit"] in text
    assert "281 pairs of the held_out half" in text
    assert "| MB at 300 runs | not measured | at most 200 |" in text


def test_each_program_that_measures_is_played_by_the_report() -> None:
    listed = {program.file or program.name for program in PROGRAMS} | set(ELSEWHERE)
    files = [file for file in HERE.glob("*.py") if file.stem != "report"]
    measuring = {file.stem for file in files if "with begin(" in file.read_text()}
    assert measuring <= listed
    assert listed - {"verdicts --set"} <= {file.stem for file in files}


def test_what_the_prompt_cache_saves_is_measured_against_the_least_possible(tmp_path: Path) -> None:
    found = figures("cache_economy", tmp_path)
    for name, (measured,) in found.items():
        if name.endswith("pipeline"):
            assert measured["times_the_least"] <= 1.1, name
    assert found["12 calls a turn, top-level mark only"][0]["times_the_least"] > 10


def test_no_element_of_a_generated_document_is_lost(tmp_path: Path) -> None:
    measurements = figures("omissions", tmp_path, "--documents", "20")
    assert "HTML" in measurements
    for name, (measurement,) in measurements.items():
        assert (measurement["documents"], measurement["lost"]) == (20, 0), name


def test_cancels_are_timed_until_the_model_server_sees_the_stream_cut(tmp_path: Path) -> None:
    found = figures("cancelling", tmp_path, "--runs", "3")
    assert [len({each["run"] for each in found["cancels"]}), len(found["cancels"])] == [3, 3]
    assert all(each["cut"] > 0 and each["cancelled"] > 0 for each in found["cancels"])


def test_the_delay_of_a_commit_is_measured_from_the_last_byte_of_its_reply(tmp_path: Path) -> None:
    sizes = ("--runs", "4", "--workers", "2", "--latency-s", "0.4", "--seconds", "3")
    found = figures("commit_delay", tmp_path, *sizes)
    assert {each["run"] for each in found["delays"]} == {f"r{n:03}" for n in range(4)}
    assert len(found["bare"]) > 1


def test_runs_of_one_batch_are_measured_beside_those_of_several(tmp_path: Path) -> None:
    sizes = ("--runs", "4", "--batches", "2", "--turns", "5", "--latency-ms", "200", "--repeats", "1")
    found = figures("shared_rows", tmp_path, *sizes)
    assert found.keys() == {
        f"{batches}, {money}" for batches in ("one batch", "2 batches") for money in ("no budget", "a budget")
    }
    assert all(measured["turns_per_s"] > 0 for (measured,) in found.values())


def test_several_workers_are_measured_by_what_a_turn_takes(tmp_path: Path) -> None:
    sizes = ("--processes", "2", "--runs", "4", "--turns", "8", "--latency-ms", "200", "--repeats", "1")
    [measured] = figures("worker_processes", tmp_path, *sizes)["2 processes"]
    assert measured["transactions"] >= 2
    assert measured["client"] > 0


def test_the_writers_of_one_subject_are_measured_at_both_speeds_of_a_commit(tmp_path: Path) -> None:
    found = figures("fact_writers", tmp_path, "--runs", "3", "--facts", "20", "--repeats", "1")
    assert found.keys() == {"a call", "commits +0 ms", "commits +20 ms"}
    (call,) = found["a call"]
    assert 1 <= call["round_trips"] <= 8
    assert all(
        pace["facts_per_s"] > 0 for name in ("commits +0 ms", "commits +20 ms") for pace in found[name]
    )


def test_the_way_of_an_event_is_measured_beside_redis_alone(tmp_path: Path) -> None:
    found = figures("streams", tmp_path, "--streams", "3", "--rate", "5", "--seconds", "2")
    assert found.keys() == {"3 streams", "3 subscribers"}
    assert all(0 < measured["ms"] < 60_000 for parts in found.values() for measured in parts)


def test_reading_back_is_measured_by_command_and_over_http(tmp_path: Path) -> None:
    sizes = ("--runs", "60", "--events", "1200", "--facts", "30", "--repeats", "1", "--starts", "show")
    found = figures("reading", tmp_path, *sizes)
    assert {
        "show --help",
        "show BATCH",
        "watch BATCH --history --json",
        "GET /v1/batches/BATCH/events",
    } <= found.keys()
    (snapshot,), (history,) = found["watch BATCH --json"], found["watch BATCH --history --json"]
    assert history["kb"] > 5 * snapshot["kb"]
    assert all(measured["peak_mb"] > 10 for name, (measured,) in found.items() if "GET" not in name)


def test_a_scrape_is_measured_before_and_after_vacuum_and_over_http(tmp_path: Path) -> None:
    found = figures("metrics", tmp_path, "--runs", "2000", "--every-s", "0.1")
    counts = {"counted, before vacuum", "counted, after vacuum"}
    assert found.keys() == counts | {
        "/metrics over HTTP, first",
        "/metrics over HTTP, later",
        "/healthz over HTTP",
    }
    assert all(measured["ms"] > 0 for parts in found.values() for measured in parts)


def test_every_planted_conflict_is_asked_about_and_linked(tmp_path: Path) -> None:
    [found] = figures("contradictions", tmp_path, "--buildings", "8")["contradictions"]
    assert found["conflicts"] == found["asked or decided by rules"] == found["linked"] == 8
    assert found["linked wrongly"] == 0


def test_whatever_a_perfect_judge_doubts_is_kept_out_of_sight(tmp_path: Path) -> None:
    wice: list[dict[str, Any]] = [
        {"label": label, "claim": claim, "evidence": ["The title", quote], "meta": meta}
        for label, claim, quote, meta in (
            ("supported", "The tower is 330 m tall.", "The tower is 330 metres tall.", {}),
            ("not_supported", "The tower cost 7 million.", "The tower is tall.", {"oracle_idx": []}),
            ("supported", "The tower has 4 gates.", "The tower has four gates, of which 四 are open.", {}),
        )
    ]
    for number, row in enumerate(wice):
        row["meta"] = {"id": f"test{number}", "chunk_idx": [0, 5], "oracle_idx": [5]} | row["meta"]
    (tmp_path / "wice.jsonl").write_text("".join(json.dumps(row) + "\n" for row in wice))
    found = figures("verdicts", tmp_path, "--repeats", "1", "--set", f"wice={tmp_path / 'wice.jsonl'}")
    rules, perfect = found["wice, rules alone"][0], found["wice, with a perfect judge"][0]
    assert (rules["not supported"], rules["caught"], rules["supported"], rules["confirmed"]) == (1, 1, 2, 0)
    assert (perfect["caught"], perfect["caught wrongly"], perfect["verdict as labelled"]) == (1, 0, 1.0)
    [judged], [alone] = found["mutations, with a perfect judge"], found["mutations, rules alone"]
    assert (judged["not supported"], judged["recall"]) == (130, 1.0)
    assert judged["caught wrongly"] == alone["caught wrongly"] == 0
    costs = [found[f"cost, {name}"][0] for name in ("asked alone", "one question a reply", "again")]
    assert costs[0]["calls a fact"] > costs[1]["calls a fact"] > costs[2]["calls a fact"] == 0


def test_what_a_shared_page_saves_is_measured(tmp_path: Path) -> None:
    found = figures("window_cost", tmp_path)
    names = ("each fact", "a reply, page each", "a reply, one page", "a reply, one section")
    tokens = [found[f"window, {name}"][0]["tokens in a fact"] for name in names]
    assert tokens == sorted(tokens, reverse=True)
    assert found["characters of a window"][0]["most"] <= 6_000
    assert found["window of a page of a megabyte"][0]["ms"] < 20


def test_submitting_is_measured_against_copy(tmp_path: Path) -> None:
    found = figures("submit", tmp_path, "--topics", "300", "--repeats", "1")
    assert {"copy", "submit", "submit and hint", "ring, batched", "ring, one by one"} == found.keys()
    assert all(step["wall"] > 0 for (step,) in found.values())


def test_deciding_who_runs_next_is_measured_with_few_and_many_queued(tmp_path: Path) -> None:
    sizes = ("--queued", "300", "--batches", "3", "--playing", "10", "--large", "50", "--slots", "10")
    found = figures("order", tmp_path, *sizes, "--repeats", "1")
    assert {"bare claim, 300 queued", "claim, 300 queued", "5 started behind 50, slots free"} <= found.keys()
    assert all(measured["ms"] > 0 for each in found.values() for measured in each)


MOONS = {
    "io": "The innermost of the four large moons has more than four hundred active volcanoes, fed by tidal heating.",
    "europa": "Below a shell of ice lies an ocean of salt water with twice the volume of the seas of Earth.",
    "ganymede": "The largest moon of the solar system, wider than Mercury, and the only one with a magnetic field.",
    "callisto": "Its surface is the most heavily cratered known, and has hardly changed in four billion years.",
    "titan": "A dense orange haze of nitrogen and methane hides lakes of liquid hydrocarbons near its poles.",
    "enceladus": "Geysers at the south pole throw grains of ice into space, which feed the E ring of Saturn.",
    "triton": "It goes round Neptune the wrong way, so it was captured; nitrogen freezes out on its pale surface.",
    "phobos": "It comes closer to Mars by two metres a century and will break up into a ring.",
}
ABOUT_MOONS = {
    "Where does lava erupt because of gravity's squeeze?": "io",
    "On which world could there be life in deep water under a frozen crust?": "europa",
    "Which satellite generates magnetism of its own?": "ganymede",
    "Where does it rain natural gas?": "titan",
    "What supplies Saturn's E ring?": "enceladus",
    "Which one orbits backwards?": "triton",
}


def test_questions_are_ranked_beside_bm25_and_full_text(tmp_path: Path) -> None:
    texts = [{"_id": name, "title": "", "text": text} for name, text in MOONS.items()]
    questions = [{"_id": name, "text": question} for question, name in ABOUT_MOONS.items()]
    (tmp_path / "qrels").mkdir()
    for file, rows in (("corpus", texts), ("queries", questions)):
        (tmp_path / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = "".join(f"{name}\t{name}\t1\n" for name in ABOUT_MOONS.values())
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + answers)
    found = figures("retrieval", tmp_path, "--set", f"beir={tmp_path}")
    ndcg = {name.partition(": ")[2]: measured["ndcg"] for name, (measured,) in found.items()}
    others = [score for name, score in ndcg.items() if not name.startswith("Chiron")]
    assert len(others) == 4
    assert ndcg["Chiron, hybrid"] >= max(others) > 0


def test_gains_are_discounted_by_place_and_held_against_the_best_order() -> None:
    grades = {"good": 2, "fair": 1}
    assert ndcg(["good", "fair"], grades) == 1
    assert ndcg(["fair", "poor", "good"], grades) == pytest.approx((1 + 2 / 2) / (2 + 1 / math.log2(3)))
    assert ndcg(["poor"] * 10 + ["good"], grades) == 0
    assert recall(["poor", "fair"], grades) == 0.5


def test_searches_among_many_facts_find_what_is_nearest(tmp_path: Path) -> None:
    found = figures("knowledge", tmp_path, "--facts", "25000", "--repeats", "40")
    searches = {name: measured for name, (measured, *_) in found.items() if "recall" in measured}
    assert searches.keys() == {"subjects up to 2,000", "subjects up to 10,000", "all subjects"}
    for name, measured in searches.items():
        assert measured["recall"] >= 0.95, name
        assert measured["recall_stated"] >= 0.95, name
    assert [one["facts"] for one in found["load"]] == [250, 2_250, 22_504]
    assert {one["name"] for one in found["disk"]} >= {"facts", "facts_words"}
    assert all(one["p50"] > 0 for one in found["store a fact"])


@needs_rivals
def test_each_rival_is_measured_beside_the_bare_loop_and_the_pipeline(tmp_path: Path) -> None:
    sizes = ("--turns", "12", "--repeats", "1", "--runs", "3", "--turns-at-once", "8", "--latency-ms", "100")
    found = figures("rivals", tmp_path, *sizes)
    for name in ("bare", *RIVALS, "langgraph-delta", "pipeline"):
        (turn,) = found[f"overhead {name}"]
        assert turn["early"]["wall"] > 0
        assert turn["written_long"] > 0 or name == "bare"
        (at_once,) = found[f"throughput {name} 3"]
        assert at_once["turns_per_s"] > 0


@needs_rivals
def test_each_rival_is_killed_and_keeps_every_row(tmp_path: Path) -> None:
    sizes = ("--kills", "1", "--zombies", "0", "--runs", "2", "--turns", "12", "--seed", "1")
    found = figures("rivals_crash", tmp_path, *sizes, "--loops", *RIVALS, "pipeline")
    for name in (*RIVALS, "pipeline"):
        (outcome,) = found[f"kill {name}"]
        assert outcome["missing"] == 0
        assert outcome["next_call_s"]


@needs_rivals
def test_a_stopped_rival_is_taken_over_and_goes_on_beside_its_successor(tmp_path: Path) -> None:
    sizes = ("--kills", "0", "--zombies", "1", "--runs", "2", "--turns", "12", "--seed", "1")
    found = figures("rivals_crash", tmp_path, *sizes, "--loops", "langgraph", "pipeline")
    (theirs,), (ours,) = found["zombie langgraph"], found["zombie pipeline"]
    assert theirs["missing"] == ours["missing"] == 0
    assert ours["doubled"] == 0
    assert ours["again"]["after"] == 0


def test_an_answer_given_twice_is_counted_by_when_the_first_was_given() -> None:
    def turn(number: int, *times: tuple[float, float]) -> list[Noted]:
        call = ("talk", number)
        return [
            Noted(at, event, call)
            for pair in times
            for at, event in zip(pair, ("received", "answered"), strict=True)
        ]

    once, before, in_flight, after = (
        turn(0, (1, 2)),
        turn(1, (3, 4), (12, 13)),
        turn(2, (4, 6), (14, 15)),
        turn(3, (16, 18), (17, 19)),
    )
    cut = [Noted(20, "received", ("other", 0)), Noted(21, "cut", ("other", 0))]
    log = [*once, *before, *in_flight, *after, *cut]
    assert answered_again(log, stopped_at=5) == Again(before=1, before_by_s=1, in_flight=1, after=1)
    assert until_next_call(log, stopped_at=5) == [7, 15]


def test_no_canary_reaches_a_search_provider_and_innocent_queries_do(tmp_path: Path) -> None:
    found = figures("canaries", tmp_path, "--files", "1")
    [innocent] = found.pop("innocent")
    assert {measured["reached"] for [measured] in found.values()} == {0}
    assert {measured["secrets"] for [measured] in found.values()} == {10}
    assert innocent["refused"] <= innocent["queries"] / 3


def test_a_disturbed_stack_is_counted_part_by_part(tmp_path: Path) -> None:
    found = figures("soak", tmp_path, "--minutes", "0.75", "--every-s", "3")
    [totals] = found.pop("totals")
    assert totals["completed"] > 0
    assert totals["failed"] == 0
    assert min(totals[event] for event in ("batches", "streams", "events", "looks", "kills", "outages")) > 0
    parts = {
        f"{part}: {name}" for part in ("worker-1", "worker-2", "api", "flower") for name in PART_MEASURES
    }
    assert found.keys() == parts | {"Postgres: connections", "Redis: connections"}
    assert all(value > 0 for _, value in found["worker-1: descriptors"][0]["points"])


def over_time(values: Sequence[float], *, is_judged: bool = True) -> Series:
    return Series(is_judged, [(10.0 * n, value) for n, value in enumerate(values)])


def test_what_comes_and_goes_does_not_grow_and_what_stays_open_does(chance: random.Random) -> None:
    busy = [50 + chance.choice((0, 0, 1, 40)) for _ in range(120)]
    assert not over_time(busy).grows()
    # Six outages, each of which leaves a few sockets open.
    assert over_time([value + 3 * (n // 20) for n, value in enumerate(busy)]).grows()
    assert over_time([50 + n / 10 for n in range(120)]).per_hour() == pytest.approx(36)


def test_memory_and_too_few_counts_are_not_judged() -> None:
    assert not over_time([float(n) for n in range(120)], is_judged=False).grows()
    assert not over_time([1.0, 100.0, 200.0]).grows()


def test_what_a_program_holds_is_counted_with_all_below_it(tmp_path: Path) -> None:
    opens = "import sys; files = [open(__file__) for _ in range(50)]; print(1, flush=True); sys.stdin.read()"
    script = tmp_path / "opens.py"
    script.write_text(opens)
    parent = f"import subprocess, sys; subprocess.run([sys.executable, {str(script)!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        measures = measures_of(process.pid, redis_port=1)
        process.communicate()
    assert 50 < measures["descriptors"] < 100
    assert measures["RSS, MB"] > measures["PSS, MB"] > 0
    assert measures_of(process.pid, redis_port=1) == {}
