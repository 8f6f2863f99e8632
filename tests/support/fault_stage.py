"""Workers with a proxy each before Postgres, a model server whose log is the witness, and batches that faults befall."""

import asyncio
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil

from benchmarks.crashes.consistency import LoggedReply, among_rows, disagreements, snapshot
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings
from support.blows import BEAT_S, WAKING_S, Blow, Pulse
from support.loop_thread import LoopThread, loop_thread
from support.own_postgres import OwnPostgres
from support.poisonous_tool import KILLED, write_tool
from support.postgres_faults import PostgresFaults, postgres_faults
from support.private_valkey import OwnValkey
from support.proxy import Partition, Proxy, open_proxy, socket_of
from support.released_worker import running_released
from support.research_script import SUBJECTS, ResearchScript, run_of, side_question, subject_of
from support.scripted_model import Ask, ScriptedModel, scripted_model
from support.worker_processes import Worker, chiron, rows, running

MODEL = "claude-opus-5-5"
TURNS_MAX = 60
LEASE_S = 4.0
WORKERS = 3
SLOTS = 6
PATIENCE_S = 300.0  # keeps a test from hanging
# From the last byte of a reply to its commit, besides the time for which the machine stood still.
COMMITTED_WITHIN_S = 1.0
ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "test",
    "CHIRON_LEASE_S": str(LEASE_S),
    "CHIRON_RENEWAL_S": "1",
    "CHIRON_RESCUE_S": "0.5",
    "CHIRON_RING_AGAIN_S": "2",
    "CHIRON_MAX_TOKENS": "1000",
    "CHIRON_MODEL_TIMEOUT_S": "30",
    "CHIRON_MODEL_PROGRESS_S": "2",
}
LOOK_EVERY_S = 0.5  # whether the rows agree with each other
STATES = "select state, count(*) as n from runs where topic like %s group by 1"
ENDS = (
    "select split_part(topic, ' ', 1) as run, state, error ->> 'kind' as kind from runs where topic like %s"
)
TURNS = "select turns from runs where topic like %s and state = 'paused'"
REPLIES = "select count(*) as n from entries join runs on id = run_id where kind = 'reply' and topic like %s"
PLAYING = "select topic from runs where state = 'running' and topic like %s"
HELD = "select 1 from runs where state = 'running' and worker like %s and topic like %s"
ERRORS = "select name, body from tool_results join runs on id = run_id where is_error and topic like %s"
COMMITTED = """
select body ->> 'request_id' as request_id, extract(epoch from e.at)::float8 as at
  from (select run_id, body, row_number() over (partition by run_id order by n) as turn
          from entries
         where kind = 'reply') as replies
  join (select run_id, at, row_number() over (partition by run_id order by seq) as turn
          from events
         where kind = 'model.replied') as e
 using (run_id, turn)
"""
UNCONFIRMED = "select coalesce(sum(unconfirmed_calls), 0) as n from runs where topic like %s"
STARTED = "select count(*) as n from runs where started_at is not null and topic like %s"
CROWDS = """
select split_part(worker, ':', 2)::int as pid
  from runs
 where state = 'running'
 group by 1
having count(*) >= %s and not bool_or(shared_ends >= 2 or sole_ends > 0)
"""
CALLS_OF_A_RUN = 4  # that may be in flight at one moment: its own, and those of its tools
STORED = "select body ->> 'request_id' as request_id from entries where kind = 'reply'"


@dataclass
class FaultStage:
    """What the scenarios of one seed share."""

    seed: int
    settings: Settings
    script: ResearchScript
    model: ScriptedModel
    faults: PostgresFaults
    valkey: OwnValkey
    pulse: Pulse
    loop: LoopThread
    resources: ExitStack
    chance: random.Random
    tools: str  # what CHIRON_TOOLS names
    workers: dict[str, Worker] = field(default_factory=dict)
    proxies: dict[str, Proxy] = field(default_factory=dict)
    blows: list[Blow] = field(default_factory=list)
    batch: str = ""
    batches: int = 0
    failovers: list[tuple[float, float]] = field(
        default_factory=list
    )  # since when a standby lagged, and until when
    _lags_since: float = 0.0
    _frozen_at: dict[str, float] = field(default_factory=dict)
    _alive_at: dict[str, float] = field(default_factory=dict)
    _lost_before: set[str] = field(default_factory=set)
    _sentences: set[str] = field(default_factory=set)  # that an earlier scenario has reported
    _looked_at: float = 0.0

    def start_worker(self, place: int, *, code: Path | None = None) -> str:
        """Start a worker with a name and a proxy of its own, with the code of this checkout or of that folder; its name."""
        number = sum(name.startswith(f"w{place}-") for name in self.proxies) + 1
        name = f"w{place}-{number}"
        target = self.settings.database_url
        proxy = self.resources.enter_context(self.loop.entered(open_proxy(socket_of(target))))
        self.proxies[name] = proxy
        url = proxy.postgres_url(target, application_name=name)
        settings = self.settings.model_copy(update={"database_url": url})
        address = {"ANTHROPIC_BASE_URL": f"{self.model.url}/{name}"}
        env = ENVIRONMENT | {"CHIRON_TOOLS": self.tools} | address
        worker = (
            running(settings, "-c", str(SLOTS), name=name, **env)
            if code is None
            else running_released(code, settings, "-c", str(SLOTS), name=name, **env)
        )
        self.workers[name] = self.resources.enter_context(worker)
        self._alive_at[name] = time.time()
        return name

    def begin(self, scenario: str, *, runs: int = 12) -> None:
        """Submit a batch and wait until all workers play it; prints what the chance was."""
        self.chance = random.Random(f"{self.seed}:{scenario}")
        self.batches += 1
        self.batch = f"b{self.batches}"
        self.blows = []
        self.script.bad, self.script.slow_runs, self.script.gateway = (), frozenset(), None
        self.script.weak_runs = self.script.poisonous_runs = frozenset()
        print(f"scenario {scenario}, seed {self.seed}, batch {self.batch}")
        self.replace_ended()
        asyncio.run(self._submit(runs))
        share = self.chance.uniform(0.1, 0.4)
        least = int(share * runs * self.script.turns)
        self.until(lambda: self.replies() >= least, f"{least} replies of {self.batch}")

    def replace_poisoned(self) -> None:
        """Start a worker for each that one of its runs has killed."""
        for name, worker in tuple(self.workers.items()):
            looked_at = time.time()
            if self.script.poisonous_runs and worker.process.poll() == KILLED:
                self.blows.append(Blow(name, self._alive_at[name], looked_at, is_kill=True))
                print(f"a run has killed {name}")
                del self.workers[name]
                self.start_worker(int(name[1]))
            else:
                self._alive_at[name] = looked_at

    def replace_ended(self) -> dict[str, int]:
        """Start a worker for each that has ended by itself; their exit codes."""
        codes = {name: worker.process.poll() for name, worker in self.workers.items()}
        ended = {name: code for name, code in codes.items() if code is not None}
        for name in ended:
            del self.workers[name]
            self.start_worker(int(name[1]))
        return ended

    async def _submit(self, runs: int) -> None:
        budget = self.chance.choice((Budget(), Budget(Decimal(10_000))))
        async with open_pool(self.settings.database_url, size=1) as pool:
            names = [f"{self.batch}r{n}" for n in range(runs)]
            new = [
                NewRun(f"{name} of seed {self.seed}", "research", subject_of(name), MODEL, TURNS_MAX)
                for name in names
            ]
            await submit(pool, NewBatch(new, SUBJECTS[0], name=self.batch, budget=budget))

    def resume(self) -> None:
        """As a person does who has put the key in order; where its runs go on by themselves already, nothing is held."""
        [row] = rows(self.settings, "select id from batches where name = %s", [self.batch])
        chiron(self.settings, "resume", str(row["id"]))

    def turns_of_paused(self) -> list[int]:
        """How many replies each run of the batch had that is paused."""
        return [row["turns"] for row in rows(self.settings, TURNS, [f"{self.batch}r%"])]

    def replies(self) -> int:
        """How many replies of the batch are committed."""
        return int(rows(self.settings, REPLIES, [f"{self.batch}r%"])[0]["n"])

    def until(self, condition: Callable[[], Any], what: str, *, patience_s: float = PATIENCE_S) -> None:
        """Wait for a condition; the rows must agree with each other all the while."""
        give_up_at = time.monotonic() + patience_s
        while not condition():
            assert time.monotonic() < give_up_at, f"not within {patience_s:g} s: {what}; {self.state()}"
            self.replace_poisoned()
            assert self.has_workers(), f"all workers ended by themselves while waiting for {what}"
            if time.monotonic() > self._looked_at + LOOK_EVERY_S:
                self._looked_at = time.monotonic()
                with snapshot(self.settings.database_url) as connection:
                    fresh = set(among_rows(connection)) - self._sentences
                    assert not fresh, f"while waiting for {what}: {sorted(fresh)}"
            time.sleep(BEAT_S)

    def has_workers(self) -> bool:
        return any(worker.process.poll() is None for worker in self.workers.values())

    def runs_of_others(self, name: str) -> set[str]:
        """The runs that workers other than this one play."""
        client_by_run = {run_of(ask.request): ask.client for ask in self.model.asks}
        playing = {row["topic"].split()[0] for row in rows(self.settings, PLAYING, [f"{self.batch}r%"])}
        return {run for run in playing if client_by_run.get(run, name) != name}

    def held_by(self, name: str) -> bool:
        """Whether a worker has runs of the batch."""
        worker = f"%:{self.workers[name].process.pid}"
        return bool(rows(self.settings, HELD, [worker, f"{self.batch}r%"]))

    def answered_since(self, at: float) -> set[str]:
        """The runs that got a complete reply since then."""
        return {run_of(ask.request) for ask in self.model.asks if ask.complete_at > at}

    def state(self) -> str:
        """What helps to find out why something does not come."""
        states = {row["state"]: row["n"] for row in rows(self.settings, STATES, [f"{self.batch}r%"])}
        ended = {name: worker.process.poll() for name, worker in self.workers.items()}
        return f"states {states}, exit codes of workers {ended}"

    def wait_for(self, seconds: float) -> None:
        """Let a fault last, and look all the while."""
        ends_at = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= ends_at, "the end of the fault")

    def freeze(self, name: str) -> None:
        """SIGSTOP a worker."""
        self.workers[name].send(signal.SIGSTOP)
        self._frozen_at[name] = time.time()

    def thaw(self, name: str) -> None:
        """Let a frozen worker go on; nothing if it is not frozen."""
        if name in self._frozen_at:
            self.blows.append(Blow(name, self._frozen_at.pop(name), time.time()))
            self.workers[name].send(signal.SIGCONT)

    @contextmanager
    def partitioned(self, *names: str, partition: Partition) -> Iterator[None]:
        """Cut workers off from Postgres until the block ends; only where some are left can that cost a reply."""
        print(f"{', '.join(names)}: {partition}")
        at = time.time()
        for name in names:
            self.loop.run(self.proxies[name].cut(partition))
        try:
            yield
        finally:
            for name in names:
                self.loop.run(self.proxies[name].heal())
            if len(names) < len(self.workers):
                self.blows += [Blow(name, at, time.time()) for name in names]

    def reset_connections(self) -> None:
        """Reset the connections of all workers to Postgres, so that they open new ones."""
        for name in self.workers:
            self.loop.run(self.proxies[name].reset_now())

    def sockets(self, name: str) -> int:
        """How many connections to Postgres a worker has open, unanswered ones included."""
        process = psutil.Process(self.workers[name].process.pid)
        port = self.proxies[name].port
        peers = [
            connection.raddr
            for each in (process, *process.children(recursive=True))
            for connection in each.net_connections("tcp")
        ]
        return sum(bool(peer) and peer.port == port for peer in peers)

    def stop_replication(self, postgres: OwnPostgres) -> None:
        """Have a standby that gets nothing more."""
        self._lags_since = time.time()
        postgres.stop_replication()

    def started(self) -> int:
        """How many runs of the batch were acquired."""
        return int(rows(self.settings, STARTED, [f"{self.batch}r%"])[0]["n"])

    def fail_over(self, postgres: OwnPostgres, *, started: int) -> None:
        """Lose Postgres and promote the standby, which all workers then reach under the same address.

        One of them reaches it first. The others follow once so many runs of the batch are started again.
        """
        for proxy in self.proxies.values():
            self.loop.run(proxy.cut(Partition.REFUSED))
        postgres.fail_over()
        self.settings = self.settings.model_copy(update={"database_url": postgres.url})
        first = self.chance.choice(tuple(self.workers))
        for name in sorted(self.proxies, key=lambda name: name != first):
            self.proxies[name].upstream = socket_of(postgres.url)
            self.loop.run(self.proxies[name].heal())
            self.until(lambda: self.started() >= started, f"the start of {started} runs")
        self.failovers.append((self._lags_since, time.time()))

    def may_be_forgotten(self, ask: Ask) -> bool:
        """Whether a failover explains that the rows know nothing of an ask."""
        return any(
            ask.ended_at >= lagged_at - COMMITTED_WITHIN_S and ask.received_at <= until + WAKING_S
            for lagged_at, until in self.failovers
        )

    def crowded(self, least: int) -> list[str]:
        """The workers that play so many runs and no suspect, once there is such a worker."""
        names: list[str] = []

        def look() -> bool:
            crowds = {row["pid"] for row in rows(self.settings, CROWDS, [least])}
            names[:] = [name for name, worker in self.workers.items() if worker.process.pid in crowds]
            return bool(names)

        self.until(look, f"a worker with {least} runs")
        return names

    def kill(self, name: str, *, is_replaced: bool = True) -> None:
        """SIGKILL a worker and start another in its place."""
        at = time.time()
        self.workers[name].kill()
        self.blows.append(Blow(name, at, time.time(), is_kill=True))
        del self.workers[name]
        if is_replaced:
            self.start_worker(int(name[1]))

    def finish(self) -> None:
        """Wait until all runs are completed, and hold everything against the log."""
        self.until(self.is_over, f"the end of {self.batch}")
        self.print_times()
        stored = {row["request_id"] for row in rows(self.settings, STORED)}
        forgotten = [ask for ask in self.model.asks if self.may_be_forgotten(ask)]
        # Of an answer to a tool no row says whether it was stored.
        lost = self.lost() | {ask.request_id for ask in forgotten if side_question(ask.request)}
        gone = {ask.request_id for ask in forgotten} - stored - lost
        log = [self.logged(ask) for ask in self.model.asks if ask.request_id not in gone]
        # The rows of a standby that lagged have calls in flight of which it never got the replies.
        cut = CALLS_OF_A_RUN * len(self.failovers)
        with snapshot(self.settings.database_url) as connection:
            sentences = set(disagreements(connection, log, lost=lost, outages=cut))
        fresh, self._sentences = sorted(sentences - self._sentences), sentences
        assert not fresh, "\n".join(fresh)
        errors = rows(self.settings, ERRORS, [f"{self.batch}r%"])
        assert not errors, f"the model was told of the fault: {errors[:3]}"
        ended = self.replace_ended()
        assert not ended, f"workers ended by themselves, with {ended}"

    def unconfirmed_calls(self) -> int:
        """How many calls of the batch may be billed without a reply."""
        return int(rows(self.settings, UNCONFIRMED, [f"{self.batch}r%"])[0]["n"])

    def print_times(self) -> None:
        """Print how soon replies were committed, and how long before a blow those were complete that are not stored."""
        complete_at = {ask.request_id: ask.complete_at for ask in self.model.asks if ask.is_complete}
        stored = {row["request_id"]: row["at"] for row in rows(self.settings, COMMITTED)}
        ms = sorted(
            1_000 * (at - complete_at[request_id])
            for request_id, at in stored.items()
            if request_id in complete_at
        )
        print(
            f"committed after p50 {ms[len(ms) // 2]:.0f} ms, p99 {ms[len(ms) * 99 // 100]:.0f} ms, at most {ms[-1]:.0f} ms"
        )
        for blow in self.blows:
            print(f"{blow}, {self.pulse.still_s(blow.at - 5, blow.until):.2f} s of it still")
            for ask in self.model.asks:
                is_lost = ask.request_id in complete_at and ask.request_id not in stored
                if is_lost and ask.client == blow.worker and not side_question(ask.request):
                    print(f"  {run_of(ask.request)}: complete {blow.at - ask.complete_at:.3f} s before")

    def is_over(self) -> bool:
        weak_runs, poisonous_runs = self.script.weak_runs, self.script.poisonous_runs
        ends = rows(self.settings, ENDS, [f"{self.batch}r%"])
        states = {row["state"] for row in ends if row["run"] not in weak_runs | poisonous_runs}
        assert not states & {"failed", "cancelled", "paused"}, self.state()
        weak = {(row["state"], row["kind"]) for row in ends if row["run"] in weak_runs}
        poisonous = {(row["state"], row["kind"]) for row in ends if row["run"] in poisonous_runs}
        if not poisonous <= {("paused", "ended_workers"), ("completed", None)}:
            return False
        return states == {"completed"} and weak <= {("paused", "no_progress"), ("completed", None)}

    def logged(self, ask: Ask) -> LoggedReply:
        return ask.logged(run_of(ask.request), side_question=side_question(ask.request))

    def lost(self) -> set[str]:
        """The complete replies that a blow explains; fails if one cost a run two replies of its conversation."""
        stored = {row["request_id"] for row in rows(self.settings, STORED)}
        lost: set[str] = set(self._lost_before)
        for blow in self.blows:
            within_s = COMMITTED_WITHIN_S + self.pulse.still_s(blow.at - 5 * COMMITTED_WITHIN_S, blow.at)
            explained = [
                ask
                for ask in self.model.asks
                if ask.is_complete and blow.explains(ask, committed_within_s=within_s)
            ]
            lost |= {ask.request_id for ask in explained}
            repeats = Counter(
                run_of(ask.request)
                for ask in explained
                if ask.request_id not in stored and not side_question(ask.request)
            )
            assert set(repeats.values()) <= {1}, f"{blow} cost a run more than the call in flight: {repeats}"
        self._lost_before = lost
        return lost


@contextmanager
def fault_stage(settings: Settings, valkey: OwnValkey, *, seed: int) -> Iterator[FaultStage]:
    """Three workers, played by one batch after the other."""
    script = ResearchScript(seed)
    pulse = Pulse()
    with ExitStack() as resources:
        resources.callback(pulse.stop)
        threading.Thread(target=pulse.beat, name="pulse", daemon=True).start()
        loop = resources.enter_context(loop_thread())
        model = resources.enter_context(loop.entered(scripted_model(script)))
        faults = resources.enter_context(postgres_faults(settings.database_url))
        chance = random.Random(seed)
        tools = write_tool(settings.home)
        stage = FaultStage(
            seed, settings, script, model, faults, valkey, pulse, loop, resources, chance, tools
        )
        for place in range(1, WORKERS + 1):
            stage.start_worker(place)
        yield stage
