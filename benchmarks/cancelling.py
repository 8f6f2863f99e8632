"""How soon a cancel takes effect: `uv run python benchmarks/cancelling.py [--runs 60] [--json FILE]`.

Every run waits for a reply that is streamed for minutes. They are cancelled one after the other, as `chiron cancel` does it;
a cancel has taken effect when the model server sees its stream cut, and when the run's event says so.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import psycopg
from cpu import load_average
from crashes.batch import start_batch
from crashes.fleet import fleet
from crashes.services import services
from crashes.witness import Witness
from figures import begin, median_and_worst, table
from psycopg.rows import DictRow, dict_row
from recovery import PATIENCE_S, TURNS, wait_for_load

from chiron_api.acts.steering import cancel_run
from chiron_api.services import open_services
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings

SQL = load(__file__)
WORKERS = 2
LATENCY_S = 600.0  # no reply is whole before it is cut


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Seconds from a cancel until the stream was cut, and until the run was cancelled."""

    run: str
    cut: float
    cancelled: float


def measure(*, runs: int) -> list[Cancelled]:
    """Cancel run after run in mid-stream."""
    with (
        services(seed=0, turns=TURNS, latency_s=LATENCY_S) as at,
        fleet(at, workers=WORKERS, slots=runs) as workers,
    ):
        batch_id = start_batch(at.settings, runs=runs, turns=TURNS)
        witness = Witness(at.log)
        wait_for_load(witness, workers.current, runs)
        return [
            _cancelled(at.settings, witness, row) for row in _rows(at.settings, "playing", batch_id=batch_id)
        ]


def _cancelled(settings: Settings, witness: Witness, row: DictRow) -> Cancelled:
    run_id: UUID = row["id"]
    [call] = [call for call in witness.calls.values() if call.run == row["run"]]
    began = time.time()
    asyncio.run(_cancel(settings, run_id))
    while not (call.ended_at and (found := _rows(settings, "cancelled", run_id=run_id))):
        if time.time() > began + PATIENCE_S:
            raise TimeoutError(f"{row['run']} was not cancelled")
        time.sleep(0.01)
        witness.look()
    assert call.became == "cut", call
    return Cancelled(
        row["run"], round(call.ended_at - began, 3), round(found[0]["at"].timestamp() - began, 3)
    )


async def _cancel(settings: Settings, run_id: UUID) -> None:
    async with open_services(settings, pool_size=1) as services:
        await cancel_run(services, run_id)


def _rows(settings: Settings, query: str, **args: Any) -> list[DictRow]:
    with psycopg.connect(settings.database_url, autocommit=True, row_factory=dict_row) as connection:
        return connection.execute(SQL[query], args).fetchall()


def shown(found: Sequence[Cancelled]) -> list[list[str]]:
    parts = {
        "until the stream is cut": [each.cut for each in found],
        "until the run is cancelled": [each.cancelled for each in found],
    }
    return median_and_worst(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    with begin(parser) as (arguments, report):
        found = measure(runs=arguments.runs)
        report.figures = {"cancels": [asdict(each) for each in found]}
        title = f"{len(found)} cancels, load {load_average()}"
        table(title, ["seconds after the cancel", "median", "worst"], shown(found))


if __name__ == "__main__":
    main()
