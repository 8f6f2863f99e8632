"""What the project aims at, held against the figures of the programs that measure it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

Repeats = Sequence[Mapping[str, Any]]
Measured = Mapping[str, Mapping[str, Repeats]]  # each program's figures, by program
RIVALS = ("dbos", "langgraph", "langgraph-delta", "absurd")


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure and its bound. `of` raises LookupError where it was not measured."""

    name: str
    bound: float
    of: Callable[[Measured], float]
    is_least: bool = False

    def row(self, measured: Measured) -> list[str]:
        """What was measured, what is aimed at, and whether it is met."""
        sign = "at least" if self.is_least else "at most"
        try:
            value = self.of(measured)
        except (LookupError, ZeroDivisionError):
            return [self.name, "not measured", f"{sign} {self.bound:g}", ""]
        is_met = value >= self.bound if self.is_least else value <= self.bound
        return [self.name, f"{value:.2f}", f"{sign} {self.bound:g}", "yes" if is_met else "no"]


def aims(measured: Measured) -> list[list[str]]:
    """A row for each aim, and two for each size of subject that is searched."""
    searches = [
        Aim(f"vector search against bare SQL, {name}, {percentile}", bound, _search(name, percentile))
        for name, repeats in measured.get("knowledge", {}).items()
        if repeats and "vector_p50_ratio" in repeats[0]
        for percentile, bound in (("p50", 1.3), ("p99", 1.5))
    ]
    return [aim.row(measured) for aim in (*AIMS, *searches)]


def _of(measured: Measured, program: str, name: str, figure: str) -> float:
    """The median of a figure over the repeats."""
    return median(float(repeat[figure]) for repeat in measured[program][name])


def _ratio(program: str, ours: str, theirs: str, figure: str) -> Callable[[Measured], float]:
    """The median of pairs: ours as a share of theirs."""

    def ratio(measured: Measured) -> float:
        figures = measured[program]
        pairs = zip(figures[ours], figures[theirs], strict=True)
        return median(_value(one, figure) / _value(other, figure) for one, other in pairs)

    return ratio


def _over(program: str, when: str, figure: str) -> Callable[[Measured], float]:
    """The median of pairs: what the pipeline takes more than the bare loop."""

    def over(measured: Measured) -> float:
        figures = measured[program]
        pairs = zip(figures[f"pipeline {when}"], figures[f"bare {when}"], strict=True)
        return median(_value(one, figure) - _value(other, figure) for one, other in pairs)

    return over


def _value(repeat: Mapping[str, Any], figure: str) -> float:
    if figure == "cpu":
        return float(repeat["client"]) + float(repeat["postgres"])
    return float(repeat[figure])


def _best_rival(measured: Measured) -> float:
    """Turns a second at 300 runs, of those of the best rival that did not fail."""
    figures = measured["rivals"]
    rivals = [
        median(float(repeat["turns_per_s"]) for repeat in repeats)
        for name in RIVALS
        if (repeats := figures.get(f"throughput {name} 300")) and not any("failed" in one for one in repeats)
    ]
    return _of(measured, "rivals", "throughput pipeline 300", "turns_per_s") / max(rivals, default=0.0)


def _of_rival(name: str) -> Callable[[Measured], float]:
    """CPU a turn over the bare loop, early, as a share of a rival's."""

    def share(measured: Measured) -> float:
        costs = {
            loop: median(_value(repeat["early"], "cpu") for repeat in measured["rivals"][f"overhead {loop}"])
            for loop in ("bare", "pipeline", name)
        }
        return (costs["pipeline"] - costs["bare"]) / (costs[name] - costs["bare"])

    return share


def _late_over_early(figure: str) -> Callable[[Measured], float]:
    """The last part of a long run as a share of its first."""

    def share(measured: Measured) -> float:
        parts = measured["long_run"]["parts"]
        return _value(parts[-1], figure) / _value(parts[0], figure)

    return share


def _one_of_several(measured: Measured) -> float:
    """Turns a second of one batch as a share of those of several, without a budget."""
    several = next((name for name in measured["shared_rows"] if name.endswith("batches, no budget")), "")
    return _ratio("shared_rows", "one batch, no budget", several, "turns_per_s")(measured)


def _facts_per_s(ms: int) -> Callable[[Measured], float]:
    return lambda measured: _of(measured, "fact_writers", f"commits +{ms} ms", "facts_per_s")


def _search(name: str, percentile: str) -> Callable[[Measured], float]:
    return lambda measured: _of(measured, "knowledge", name, f"vector_{percentile}_ratio")


AIMS = (
    Aim(
        "turns/s at 300 runs, 500 ms, one process, of the bare loop",
        0.85,
        _ratio("concurrency", "pipeline 300", "bare 300", "turns_per_s"),
        is_least=True,
    ),
    Aim("the same, of the best rival's", 1.5, _best_rival, is_least=True),
    Aim("CPU ms a turn over the bare loop, early", 1.5, _over("turn_overhead", "early", "cpu")),
    Aim("the same, of absurd's", 1.0, _of_rival("absurd")),
    Aim("the same, of DBOS's", 0.25, _of_rival("dbos")),
    Aim("wall ms a turn over the bare loop, zero latency", 2.5, _over("turn_overhead", "early", "wall")),
    *(
        Aim(
            f"CPU of a turn with all tools and deltas of 16 characters, of the bare loop's, {of}",
            1.2,
            _ratio("turn_overhead_stream", "pipeline early", "bare early", figure),
        )
        for of, figure in (("client", "client"), ("client and Postgres", "cpu"))
    ),
    Aim(
        "CPU of a real turn, of a bare loop's with the same work, client and Postgres",
        1.2,
        _ratio("turn_overhead", "pipeline real late", "bare same work real late", "cpu"),
    ),
    Aim("MB at 300 runs", 200, lambda measured: _of(measured, "concurrency", "pipeline 300", "peak_mb")),
    Aim("one batch against several, slow commits", 0.95, _one_of_several, is_least=True),
    *(
        Aim(f"facts a second in one subject, commits {ms} ms slower", least, _facts_per_s(ms), is_least=True)
        for ms, least in ((0, 120), (20, 100))
    ),
    Aim(
        "memory a run holds, of its conversation as sent",
        1.3,
        lambda measured: _of(measured, "run_memory", "run memory", "times"),
    ),
    Aim("the last of 1,000 turns against the first, CPU", 1.1, _late_over_early("cpu")),
    Aim("the last of 1,000 turns against the first, memory", 1.1, _late_over_early("mb")),
)
