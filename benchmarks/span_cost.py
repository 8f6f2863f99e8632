"""What a span costs while nobody asked for traces, and while they are recorded and thrown away."""

import argparse
import timeit

from cpu import load_average
from figures import begin, table

from chiron_workers.runs.entries import ToolCall
from chiron_workers.telemetry import spans

CALLS = 100_000
CALL = ToolCall("toolu_1", "web_fetch", {"url": "https://example.org/" + "x" * 200})


def nothing() -> None:
    pass


def tool_call() -> None:
    with spans.tool_call(CALL):
        pass


def chat() -> None:
    with spans.chat(
        "claude-opus-5-5", 16_000, "system", [], history=0, server=lambda: "https://api.anthropic.com"
    ):
        pass


def main() -> None:
    with begin(argparse.ArgumentParser(description=__doc__)) as (_, report):
        from opentelemetry.sdk.trace import TracerProvider

        for state, tracer in (("off", None), ("recorded", TracerProvider().get_tracer("chiron"))):
            spans.set_tracer(tracer)
            for work in (nothing, tool_call, chat):
                repeats = timeit.repeat(work, number=CALLS // (1 if tracer is None else 10), repeat=5)
                each = [{"us": 1e6 * seconds * (1 if tracer is None else 10) / CALLS} for seconds in repeats]
                report.figures[f"{work.__name__}, {state}"] = each
        spans.set_tracer(None)
        rows = [[name, f"{min(one['us'] for one in each):.2f}"] for name, each in report.figures.items()]
        table(f"best of 5, load {load_average()}", ["span", "us each"], rows)


if __name__ == "__main__":
    main()
