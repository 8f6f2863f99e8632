"""The rows in which workers save what they count."""

import pytest
from prometheus_client import Metric
from support.worker_processes import rows

from chiron_workers import instruments
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings
from chiron_workers.telemetry.worker_metrics import WorkerMetrics, read_families

DURATION = "gen_ai_client_inference_duration_seconds"


def look() -> None:
    instruments.set_slots(3, busy=1)


def value_of(families: list[Metric], name: str) -> float:
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


def age(settings: Settings) -> None:
    rows(settings, "update worker_metrics set saved_at = saved_at - interval '2 days' returning 1")


async def test_counters_of_a_worker_that_is_long_gone_stay_in_one_row_and_count_once_if_it_lives(
    settings: Settings,
) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        frozen, other = WorkerMetrics(pool, "w1", look=look), WorkerMetrics(pool, "w2", look=look)
        instruments.record_lease_loss()
        await frozen.save()
        sum_before = value_of(await read_families(pool), "chiron_lease_losses_total")
        assert sum_before >= 1
        age(settings)
        await other.save()  # it is of this process, too, and has the same counters
        assert value_of(await read_families(pool), "chiron_lease_losses_total") == 2 * sum_before
        assert len(rows(settings, "select 1 from worker_metrics where worker <> ''")) == 1
        instruments.record_lease_loss()
        await frozen.save()
        assert value_of(await read_families(pool), "chiron_lease_losses_total") == 2 * sum_before + 1
        age(settings)
        await WorkerMetrics(pool, "w3", look=look).save()
        assert len(rows(settings, "select 1 from worker_metrics")) == 2
        families = await read_families(pool)
        assert value_of(families, "chiron_lease_losses_total") == 2 * sum_before + 1 + sum_before + 1
        assert value_of(families, "chiron_workers") == 1


async def test_gauges_are_those_of_living_workers_and_counters_those_of_all(settings: Settings) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        first, second = WorkerMetrics(pool, "w1", look=look), WorkerMetrics(pool, "w2", look=look)
        await first.save()
        await second.save()
        families = await read_families(pool)
        assert value_of(families, "chiron_workers") == 2
        assert value_of(families, "chiron_slots") == 6
        assert value_of(families, "chiron_busy_slots") == 2
        turns = value_of(families, "chiron_turns_total")
        await first.save(is_last=True)
        families = await read_families(pool)
        assert value_of(families, "chiron_workers") == 1
        assert value_of(families, "chiron_slots") == 3
        assert value_of(families, "chiron_turns_total") == turns


async def test_buckets_stand_in_the_order_of_their_bounds(settings: Settings) -> None:
    instruments.record_stall(0.3)
    async with open_pool(settings.database_url, size=2) as pool:
        await WorkerMetrics(pool, "w1", look=look).save()
        families = {family.name: family for family in await read_families(pool)}
    stalls = families["chiron_loop_stall_duration_seconds"].samples
    bounds = [float(sample.labels["le"]) for sample in stalls if sample.name.endswith("_bucket")]
    assert bounds == [*instruments.STALL_BUCKETS_S, float("inf")]


def labels_of_models() -> set[str]:
    families = [family for family in instruments.REGISTRY.collect() if family.name == DURATION]
    return {sample.labels["gen_ai_request_model"] for family in families for sample in family.samples}


def test_models_that_somebody_invents_make_no_labels_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruments, "_models", set())
    before = labels_of_models()
    for n in range(100):
        with instruments.timed_model_call(f"invented-{n}"):
            pass
    assert len(labels_of_models() - before - {instruments.OTHER_LABEL}) == instruments.MODELS_MAX
    assert instruments.OTHER_LABEL in labels_of_models()
