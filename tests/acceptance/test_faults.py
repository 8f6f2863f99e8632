"""Faults that befall workers in the midst of a batch, by seed: nothing is lost, nothing is asked twice, all rows agree.

The witness is the model server's log. `CHIRON_FAULT_SEEDS=20` plays twenty seeds from that of the run on instead of one, and
`-k seed7` the seventh.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from redis import Redis
from support.databases import Databases
from support.fault_stage import LEASE_S, MODEL, WORKERS, FaultStage, fault_stage
from support.own_postgres import own_postgres
from support.private_valkey import own_valkey
from support.proxy import Partition
from support.refusing_redis import disk_full, memory_full, password_changed, read_only
from support.released_worker import NUMBERED_LEASES, unpack_commit
from support.research_script import ResearchScript
from support.scripted_model import Ending, Fails
from support.worker_processes import rows

from chiron_workers.agent.stagnation import STUCK_TURNS
from chiron_workers.db.migrate import migrate
from chiron_workers.settings import Settings

SEEDS = range(1, int(os.environ.get("CHIRON_FAULT_SEEDS", "1")) + 1)
# A frozen worker may keep others waiting for the 2 s that the transaction of a tool may idle; any other may idle for 30 s.
OTHERS_GO_ON_WITHIN_S = 25.0
PAGES = (
    Fails(page="<!DOCTYPE html><html><body>Sign in</body></html>"),
    Fails(page='{"status": "maintenance"}', page_type="application/json"),
    Fails(page="<html></html>", page_type="text/event-stream"),
    Fails(status=307, page="", headers={"location": "/login"}),
)
pytestmark = [pytest.mark.timeout(600)]


@pytest.fixture(scope="module", params=SEEDS, ids=[f"seed{seed}" for seed in SEEDS])
def stage(
    request: pytest.FixtureRequest, seed: int, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FaultStage]:
    home = tmp_path_factory.mktemp("faults")
    with databases.lend() as url, own_valkey(home / "valkey") as valkey:
        settings = Settings(
            _env_file=None, home=home, database_url=url, redis_url=valkey.url, model="claude-opus-5-5"
        )  # type: ignore[call-arg]
        with fault_stage(settings, valkey, seed=seed + request.param - 1) as stage:
            yield stage


@pytest.mark.parametrize("number", SEEDS, ids=[f"seed{seed}" for seed in SEEDS])
def test_a_failover_to_a_standby_that_lagged_has_no_run_played_twice(
    seed: int, number: int, short_dir: Path, tmp_path: Path
) -> None:
    folder = short_dir / f"failover{number}"
    with own_postgres(folder) as postgres, own_valkey(tmp_path / "valkey") as valkey:
        migrate(postgres.url)
        settings = Settings(
            _env_file=None, home=tmp_path, database_url=postgres.url, redis_url=valkey.url, model=MODEL
        )  # type: ignore[call-arg]
        with fault_stage(settings, valkey, seed=seed + number - 1) as stage:
            stage.begin("failover to a standby that lagged", runs=48)
            # On a busy machine all of them would have started meanwhile.
            stage.script.slow_runs = frozenset(f"{stage.batch}r{n}" for n in range(48))
            stage.stop_replication(postgres)
            stage.script.slow_runs = frozenset()
            # These acquisitions are lost, and their numbers are given out again.
            lost = stage.started() + stage.chance.randint(2, 6)
            stage.until(lambda: stage.started() >= lost, f"the start of {lost} runs")
            stage.wait_for(stage.chance.uniform(0.0, 1.0))
            stage.fail_over(postgres, started=lost)
            stage.finish()


def past_the_lease(stage: FaultStage) -> float:
    return LEASE_S + stage.chance.uniform(1.5, 3.0)


def test_a_frozen_worker_that_holds_locks_keeps_the_others_waiting_for_seconds_only(
    stage: FaultStage,
) -> None:
    stage.begin("frozen with locks")
    with stage.faults.closed_gate():
        stage.script.slow_runs = frozenset(f"{stage.batch}r{n}" for n in range(12))
        stage.until(stage.faults.waiting_at_gate, "a worker in the midst of a transaction")
        victim = stage.chance.choice(stage.faults.waiting_at_gate())
        stage.script.slow_runs = frozenset()
        stage.freeze(victim)
    try:
        frozen_at = time.time()
        others = stage.runs_of_others(victim)
        stage.until(
            lambda: others <= stage.answered_since(frozen_at),
            f"a reply to each run of the workers beside {victim}",
            patience_s=OTHERS_GO_ON_WITHIN_S,
        )
        stage.wait_for(stage.chance.choice((0.0, past_the_lease(stage))))
    finally:
        stage.thaw(victim)
    stage.finish()


def test_workers_that_all_lose_postgres_for_longer_than_a_lease_repeat_nothing(stage: FaultStage) -> None:
    stage.begin("all partitioned")
    partition = stage.chance.choice(tuple(Partition))
    with stage.partitioned(*stage.workers, partition=partition):
        stage.wait_for(past_the_lease(stage))
    stage.finish()


def test_a_worker_that_loses_postgres_for_longer_than_a_lease_writes_nothing_of_what_it_lost(
    stage: FaultStage,
) -> None:
    stage.begin("partitioned")
    victim = stage.chance.choice(tuple(stage.workers))
    with stage.partitioned(victim, partition=stage.chance.choice(tuple(Partition))):
        stage.wait_for(past_the_lease(stage))
    stage.finish()


def test_a_postgres_that_stands_still_is_asked_over_no_more_connections_than_a_worker_may_have(
    stage: FaultStage,
) -> None:
    stage.begin("Postgres stands still")
    most = stage.settings.pool_size + 3  # of a worker, as docs/operations.md says
    with stage.partitioned(*stage.workers, partition=Partition.SILENT):
        stage.reset_connections()
        ends_at = time.monotonic() + stage.chance.uniform(22.0, 30.0)
        peaks = dict.fromkeys(stage.workers, 0)
        while time.monotonic() < ends_at:
            peaks = {name: max(peak, stage.sockets(name)) for name, peak in peaks.items()}
            stage.wait_for(1.0)
    print(f"connections of each worker at most: {peaks}")
    assert 0 < max(peaks.values()) <= most
    stage.finish()


def test_a_full_disk_that_is_cleared_repeats_nothing(stage: FaultStage) -> None:
    stage.begin("disk full")
    with stage.faults.full_disk():
        stage.wait_for(stage.chance.choice((stage.chance.uniform(0.5, 2.5), past_the_lease(stage))))
    stage.finish()


def test_a_database_that_is_read_only_for_a_while_repeats_nothing(stage: FaultStage) -> None:
    stage.begin("read-only")
    with stage.faults.read_only():
        stage.wait_for(stage.chance.choice((stage.chance.uniform(0.5, 2.5), past_the_lease(stage))))
    stage.finish()


def test_streams_that_end_badly_once_the_reply_is_complete_repeat_nothing(stage: FaultStage) -> None:
    stage.begin("bad endings")
    stage.script.bad = (Ending.CLOSED, Ending.RESET, Ending.LATE)
    stage.finish()


def test_replies_that_are_cut_in_a_calls_json_are_kept_if_they_are_complete(stage: FaultStage) -> None:
    stage.begin("cut in JSON")
    stage.script.bad = ("cut", "drop_in_call")
    stage.finish()


def test_empty_replies_and_calls_without_their_stop_reason_cost_no_run(stage: FaultStage) -> None:
    stage.begin("empty replies")
    stage.script.bad = ("empty", "end_turn")
    stage.finish()


def test_a_model_that_gets_nowhere_pauses_its_runs_after_as_many_turns_though_workers_are_killed(
    stage: FaultStage,
) -> None:
    stage.begin("no progress")
    stage.script.weak_runs = frozenset(f"{stage.batch}r{n}" for n in range(0, 12, 3))
    stage.wait_for(stage.chance.uniform(0.0, 1.0))
    stage.kill(stage.chance.choice(tuple(stage.workers)))
    stage.finish()
    # Before they became weak they had some turns of real work; the first of the same calls brings a new result.
    assert stage.turns_of_paused()
    assert all(turns <= stage.script.turns + STUCK_TURNS + 2 for turns in stage.turns_of_paused())


def test_a_killed_worker_costs_each_run_the_call_in_flight_at_most(stage: FaultStage) -> None:
    stage.begin("killed", runs=15)
    for _ in range(2):
        stage.wait_for(stage.chance.uniform(0.0, 1.0))
        stage.kill(stage.chance.choice(tuple(stage.workers)))
    stage.finish()


def test_seven_kills_of_workers_within_the_steps_of_their_runs_fail_and_pause_none(stage: FaultStage) -> None:
    # Three times as many as the workers have room for, and each has eight replies to wait for: on a machine that starts a
    # worker in half a minute, too, there are runs left for the seventh.
    stage.begin("killed seven times", runs=54)
    latency_s, stage.script.latency_s = stage.script.latency_s, 16.0
    try:
        for _ in range(7):
            # A run that is alone on two workers that are killed may be why, for all that Chiron can see.
            stage.kill(stage.chance.choice(stage.crowded(3)))
            stage.wait_for(stage.chance.uniform(0.0, 2.0))
    finally:
        stage.script.latency_s = latency_s
    stage.finish()


def test_a_run_that_kills_its_workers_pauses_and_costs_the_others_calls_in_flight_only(
    stage: FaultStage,
) -> None:
    stage.begin("poisonous run")
    stage.script.poisonous_runs = frozenset({f"{stage.batch}r{stage.chance.randrange(12)}"})
    stage.finish()
    assert len(stage.turns_of_paused()) <= 1


def test_a_worker_of_an_earlier_commit_is_fenced_as_others_are_and_repeats_nothing(
    stage: FaultStage, tmp_path: Path
) -> None:
    code = unpack_commit(NUMBERED_LEASES, tmp_path / "code")
    victim = stage.start_worker(WORKERS + 1, code=code)
    try:
        # It starts in an interpreter of its own, which the others would not wait for.
        stage.until(lambda: stage.workers[victim].has_said("ready."), f"the start of {victim}")
        stage.begin("earlier commit", runs=24)
        stage.until(lambda: stage.held_by(victim), f"a run that {victim} plays")
        stage.freeze(victim)
        stage.wait_for(past_the_lease(stage))
        stage.until(lambda: not stage.held_by(victim), f"the rescue of what {victim} had")
        stage.thaw(victim)
        stage.wait_for(stage.chance.uniform(0.5, 2.0))
    finally:
        stage.thaw(victim)
        stage.kill(victim, is_replaced=False)
    stage.finish()


def test_a_valkey_that_is_killed_and_comes_back_empty_costs_nothing(stage: FaultStage) -> None:
    stage.begin("Valkey killed")
    stage.valkey.kill()
    stage.wait_for(stage.chance.uniform(0.5, 3.0))
    stage.valkey.start()
    with Redis.from_url(stage.valkey.url) as redis:
        assert redis.ping()
    stage.finish()


def test_a_valkey_that_refuses_ends_no_worker_and_costs_nothing(stage: FaultStage) -> None:
    refusal = stage.chance.choice((read_only, disk_full, memory_full, password_changed))
    stage.begin(f"Valkey refuses ({refusal.__name__})")
    with refusal(stage.valkey):
        stage.wait_for(stage.chance.uniform(2.0, 6.0))
    stage.finish()


def test_a_bad_item_of_a_duty_ends_no_worker_and_costs_nothing(stage: FaultStage) -> None:
    stage.begin("bad item of a duty")
    recheck_id = str(uuid4())
    with refusing(stage.settings, "rechecks", f"new.id = '{recheck_id}'"):  # before a worker can see it
        order = "insert into rechecks (id, subject_id) select %s, id from subjects limit 1 returning id"
        assert rows(stage.settings, order, [recheck_id])
        failed = "select 1 from duty_failures where duty = 'rechecks' and item = %s"
        stage.until(lambda: rows(stage.settings, failed, [recheck_id]), "the failure of the recheck")
        stage.wait_for(stage.chance.uniform(0.5, 2.0))
    stage.finish()


@contextmanager
def refusing(settings: Settings, table: str, condition: str) -> Iterator[None]:
    """Postgres refuses to update these rows of a table."""
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute(
            "create or replace function refuse_item() returns trigger language plpgsql as"
            " $$ begin raise 'refused by the test'; end $$"
        )
        connection.execute(
            f"create trigger refuse_item before update on {table} for each row when ({condition})"
            " execute function refuse_item()"
        )
        yield
        connection.execute(f"drop trigger refuse_item on {table}")


def test_a_gateway_that_answers_with_pages_costs_nothing_and_ends_no_run(stage: FaultStage) -> None:
    stage.begin("pages of a gateway")
    before = stage.unconfirmed_calls()
    stage.script.gateway = stage.chance.choice(PAGES)
    stage.wait_for(stage.chance.uniform(2.0, 8.0))
    stage.script.gateway = None
    stage.finish()
    assert stage.unconfirmed_calls() == before


def test_a_key_that_is_refused_for_seconds_costs_nothing_and_ends_no_run(stage: FaultStage) -> None:
    stage.begin("refused key")
    before = stage.unconfirmed_calls()
    stage.script.gateway = Fails(status=stage.chance.choice((401, 403)), type="authentication_error")
    stage.wait_for(8.0)
    stage.script.gateway = None
    stage.resume()  # or one run tries the key a minute after the first refusal
    stage.finish()
    assert stage.unconfirmed_calls() == before


def test_streams_of_nothing_but_pings_are_cut_and_asked_for_again(stage: FaultStage) -> None:
    stage.begin("nothing but pings")
    stage.script.bad, stage.script.bad_share = ("pings",), 0.1
    try:
        stage.finish()
    finally:
        stage.script.bad_share = ResearchScript.bad_share
