"""The stack of one home: start its parts in order, look at them, stop them in order."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chiron_api.local_stack import leftovers, postgres, valkey
from chiron_api.local_stack import programs as lines
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.ports import refuse_open_flower, refuse_taken
from chiron_api.local_stack.programs import Kind, Program
from chiron_api.local_stack.readiness import answers
from chiron_api.local_stack.supervision import State, Supervisor
from chiron_workers.db.migrate import migrate
from chiron_workers.errors import ChironError, Conflict
from chiron_workers.settings import Settings
from chiron_workers.settings.local_services import Addresses, read_addresses, write_addresses

EVERYTHING = frozenset({Kind.WORKER, Kind.API, Kind.FLOWER})
SERVICES = frozenset({Kind.POSTGRES, Kind.REDIS})
# A part that ends while it starts is noticed at once; this is for machines so busy that imports take minutes.
STARTS_WITHIN_S = 300
BESIDE_THE_POOL = 3  # connections of a process for renewal, rescue and a question in between


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a running stack; `pid` is 0 while it does not run, `address` never holds a password."""

    name: str
    kind: Kind
    pid: int
    state: str
    address: str


class LocalStack:
    """The stack of `settings.home`, whether it runs already or not.

    Args:
        settings: As read from the environment. A service whose URL is set there is used and not started.
        workers: Worker processes.
        concurrency: Runs that one of them plays at once; by default the setting.
        kinds: Which of worker, api and flower take part.
        migrates: Whether starting brings the schema up to date.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        workers: int = 2,
        concurrency: int | None = None,
        kinds: frozenset[Kind] = EVERYTHING,
        migrates: bool = True,
    ) -> None:
        self.home = Home(settings.home.expanduser().absolute())
        self._supervisor = Supervisor(self.home)
        self._settings = _without_own_addresses(settings, self.home)
        self._workers = workers
        self._concurrency = concurrency or settings.concurrency
        self._kinds = kinds
        self._migrates = migrates

    def start(self, tell: Callable[[str], object] = lambda _: None) -> Settings:
        """Start everything and return once each part answers; the settings with all addresses filled in.

        Args:
            tell: Is handed a sentence for each step.

        Raises:
            Conflict: It runs already.
            ChironError: A part does not start; nothing is left running.
        """
        with self.home.lock():
            self._refuse_running()
            refuse_open_flower(self._settings)
            leftovers.end(leftovers.leftovers(self.home))
            refuse_taken(self._settings, frozenset(self._kinds))
            self._prepare(tell)
            try:
                return self._start_parts(tell)
            except BaseException:
                self.stop()
                raise

    def parts(self) -> list[Part]:
        """The parts that the supervisor of this home keeps, services first; none where nothing runs."""
        found = [self._part(state) for state in self._supervisor.states()]
        return sorted(found, key=lambda part: (lines.PRIORITY[part.kind], part.name))

    def changes(self, *, every_s: float = 0.5) -> Iterator[str]:
        """A sentence for each part that ends or comes back from now on; ends when the stack was stopped."""
        return self._changes(self.parts(), every_s)

    def stop(self) -> bool:
        """Drain the workers, stop all parts in order, end what outlived a supervisor; whether anything ran."""
        ran = self._supervisor.pid() is not None
        self._supervisor.stop(within_s=self._settings.drain_s + 120)
        remaining = leftovers.leftovers(self.home)
        leftovers.end(remaining)
        self._supervisor.reap()
        return ran or bool(remaining)

    def kill(self) -> None:
        """End everything at once; no run is lost, but the workers' calls in flight are."""
        leftovers.kill(leftovers.leftovers(self.home))
        self._supervisor.reap()

    def _changes(self, before: list[Part], every_s: float) -> Iterator[str]:
        while now := self.parts():
            yield from _differences(before, now, self.home)
            before = now
            time.sleep(every_s)

    def _refuse_running(self) -> None:
        if pid := self._supervisor.pid():
            raise Conflict(
                f"Chiron already runs in {self.home.folder} (supervisor pid {pid}). "
                "Look at it with `chiron status`, stop it with `chiron down`."
            )

    def _prepare(self, tell: Callable[[str], object]) -> None:
        self.home.prepare()
        if not self._settings.database_url:
            if not self.home.postgres.exists():
                tell(f"Making a database in {self.home.postgres} ...")
            postgres.prepare(self.home)
        if not self._settings.redis_url:
            valkey.prepare(self.home)

    def _start_parts(self, tell: Callable[[str], object]) -> Settings:
        programs = self._programs()
        self._supervisor.launch(programs, lines.environment(self._settings, home=str(self.home.folder)))
        filled = self._settings
        services = [program for program in programs if program.kind in SERVICES]
        self._start(services, filled, tell)
        write_addresses(self.home.folder, self._addresses())
        filled = filled.model_copy(
            update={name: url for name, url in self._addresses().model_dump().items() if url}
        )
        if self._migrates and (applied := migrate(filled.database_url)):
            tell(f"Database schema: applied {', '.join(applied)}.")
        self._start([program for program in programs if program.kind not in SERVICES], filled, tell)
        return filled

    def _programs(self) -> list[Program]:
        found = self._settings
        processes = self._workers + 1
        connections = processes * (found.pool_size + BESIDE_THE_POOL)
        own = [] if found.database_url else [lines.postgres_program(self.home, connections=connections)]
        own += [] if found.redis_url else [lines.valkey_program(self.home)]
        if Kind.WORKER in self._kinds:
            own += lines.worker_programs(found, workers=self._workers, concurrency=self._concurrency)
        own += [lines.api_program(found)] if Kind.API in self._kinds else []
        own += [lines.flower_program(found)] if Kind.FLOWER in self._kinds else []
        return own

    def _addresses(self) -> Addresses:
        return Addresses(
            database_url="" if self._settings.database_url else postgres.url(self.home),
            redis_url="" if self._settings.redis_url else valkey.url(self.home),
        )

    def _start(self, programs: list[Program], filled: Settings, tell: Callable[[str], object]) -> None:
        if programs:
            tell(f"Starting {', '.join(program.name for program in programs)} ...")
        for program in programs:
            self._supervisor.start(program.name)
        for program in programs:
            self._await(program, filled)

    def _await(self, program: Program, filled: Settings) -> None:
        deadline = time.monotonic() + STARTS_WITHIN_S
        first_pid = 0
        while True:
            state = self._supervisor.state(program.name)
            first_pid = first_pid or state.pid
            # A service may need a second try while the last of a killed one is still leaving its memory.
            is_gone = program.kind not in SERVICES and (state.pid != first_pid or state.word == "restarting")
            if is_gone or state.word == "failed" or time.monotonic() > deadline:
                raise ChironError(f"{program.name} does not start: {self._last_words(program.name)}")
            if state.pid and self._answers(program, state, filled):
                return
            time.sleep(0.1)

    def _answers(self, program: Program, state: State, filled: Settings) -> bool:
        worker = lines.node_name(program.name, state.pid)
        return answers(program.kind, home=self.home, address=program.address, worker=worker, settings=filled)

    def _last_words(self, name: str) -> str:
        log = self.home.logs / f"{name}.log"
        written = [line for line in _tail(log).splitlines() if line.strip()]
        return f"{written[-1].strip() if written else 'it says nothing.'} (all of its log: {log})"

    def _part(self, state: State) -> Part:
        kind = self._supervisor.kind(state.name)
        node = lines.node_name(state.name, state.pid) if state.pid else ""
        address = node if kind is Kind.WORKER else self._supervisor.address(state.name)
        return Part(state.name, kind, state.pid, state.word, address)


def _without_own_addresses(settings: Settings, home: Home) -> Settings:
    """Settings in which a URL means a service of somebody else, even if the own ones were filled in."""
    own = read_addresses(home.folder) or Addresses()
    mine = {name: "" for name, url in own.model_dump().items() if getattr(settings, name) == url}
    return settings.model_copy(update=mine)


def _differences(before: list[Part], now: list[Part], home: Home) -> Iterator[str]:
    known = {part.name: part for part in before}
    for part in now:
        was = known[part.name]
        if part.pid and was.pid and part.pid != was.pid:
            yield f"{part.name} ended and was started again (pid {part.pid})."
        elif part.pid and not was.pid:
            yield f"{part.name} runs again (pid {part.pid})."
        elif was.pid and not part.pid:
            yield f"{part.name} ended and is started again; its log: {home.logs / part.name}.log"
        elif part.state == "failed" != was.state:
            yield f"{part.name} cannot be started; its log: {home.logs / part.name}.log"


def _tail(log: Path, *, bytes_max: int = 8192) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - bytes_max))
        return file.read().decode(errors="replace")
