"""The programs behind the figures that are published: the sizes at which they are taken, and tiny ones."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """One program of this folder, with its arguments. `minutes` is about what it takes on two quiet cores."""

    name: str
    minutes: float
    quick: str = ""
    full: str = ""
    file: str = ""  # where it is not called by its name
    needs_rivals: bool = False
    has_json: bool = True

    def command(self, *, is_quick: bool) -> list[str]:
        """The program and its arguments."""
        return [f"{self.file or self.name}.py", *(self.quick if is_quick else self.full).split()]


PROGRAMS = (
    Program("turn_overhead", 4, "--turns 12 --repeats 1 --real-turns 6 --real-repeats 1", "--repeats 5"),
    Program(
        "turn_overhead_stream",
        2,
        "--turns 12 --repeats 1 --turn cheapest --all-tools",
        "--repeats 5 --turn cheapest --all-tools",
        file="turn_overhead",
    ),
    Program("concurrency", 12, "--runs 3 --turns 8 --latency-ms 100 --repeats 1 --real-turns 6"),
    Program("long_run", 4, "--turns 60 --context-tokens 16000"),
    Program("run_memory", 6, "--runs 4 --turns 24 --latency-ms 20"),
    Program(
        "rivals",
        25,
        "--turns 12 --repeats 1 --runs 3 --turns-at-once 8 --latency-ms 100",
        "--repeats 3",
        needs_rivals=True,
    ),
    Program(
        "rivals_real",
        12,
        "--turn real --turns 6 --repeats 1 --runs 2 --turns-at-once 6 --latency-ms 100 --loops absurd pipeline",
        "--turn real --turns 60 --repeats 2 --runs 100",
        file="rivals",
        needs_rivals=True,
    ),
    Program(
        "rivals_crash",
        15,
        "--kills 1 --zombies 0 --runs 2 --turns 12 --seed 1 --loops langgraph pipeline",
        "--seed 286",
        needs_rivals=True,
    ),
    Program("shared_rows", 6, "--runs 8 --batches 2 --turns 5 --latency-ms 100 --commit-ms 2 --repeats 1"),
    Program("worker_processes", 6, "--processes 1 2 --runs 4 --turns 8 --latency-ms 100 --repeats 1"),
    Program("fact_writers", 4, "--runs 2 --facts 8 --calls 2 --commit-ms 2 --repeats 1"),
    Program("knowledge", 15, "--facts 20000 --repeats 5"),
    Program("word_searches", 5, "--facts 1000 --repeats 2", "--repeats 20"),
    Program("reading", 6, "--runs 20 --events 400 --facts 20 --repeats 1"),
    Program("submit", 2, "--topics 300 --repeats 1", "--repeats 3"),
    Program("order", 2, "--queued 300 --batches 3 --playing 10 --large 50 --slots 10 --repeats 1"),
    Program("cancelling", 1, "--runs 3", "--runs 60"),
    Program("commit_delay", 2, "--runs 4 --workers 2 --latency-s 0.4 --seconds 3"),
    Program("outage", 2, "--runs 3 --workers 1 --latency-s 1 --down-s 2 --repeats 1"),
    Program("soak", 22, "--minutes 0.75 --every-s 5"),
    Program("recovery", 6, "--kills 1 --runs 4 --latency-s 0.5", "--kills 6 --runs 30"),
    Program("rolling_restart", 4, "--rounds 1"),
    Program("streams", 4, "--streams 3 --rate 5 --seconds 2", "--seconds 10"),
    Program("page", 2, "--runs 50 --facts 50 --events 50 --repeats 3 --seconds 2"),
    Program("starts", 3, "--repeats 1"),
    Program("metrics", 5, "--runs 2000 --every-s 0.1"),
    Program("span_cost", 0.2),
    Program("omissions", 0.3, "--documents 3"),
    Program("cache_economy", 0.5),
    Program("contradictions", 1, "--buildings 4"),
    Program("canaries", 10, "--files 1"),
    Program("verdicts", 5, "--repeats 1"),
    Program("window_cost", 0.2),
    Program("merging", 0.2, "held_out", "held_out", has_json=False),
    Program("chaos", 20, "--seed 11 --latency-s 1", "--seeds 5 --seed 1"),
)

# What needs files that are not here, with the day on which its figures were taken: benchmarks/README.md says how to get them.
ELSEWHERE = {
    "retrieval": "questions and answers of packages and public repositories (`--set`)",
    "verdicts --set": "published claims (WiCE, SciFact), and any real model (`--model`)",
}
