"""The stack of one home: start its parts in order, list them, stop them in order."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chiron_api.local_stack import leftovers, postgres, valkey
from chiron_api.local_stack.access import api_key, flower_password
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.ports import refuse_taken_ports
from chiron_api.local_stack.programs import Kind, Program, stack_programs
from chiron_api.local_stack.readiness import is_ready
from chiron_api.local_stack.shutdown import ending_parts
from chiron_api.local_stack.supervision import Part, Supervisor
from chiron_workers.db.connect import require_url
from chiron_workers.db.migrate import migrate
from chiron_workers.errors import ChironError, Conflict
from chiron_workers.settings import Settings, read_settings, settings
from chiron_workers.settings.cores import worker_count
from chiron_workers.settings.local_services import Addresses, read_addresses, write_addresses
from chiron_workers.settings.variables import process_environment

ALL_KINDS = frozenset({Kind.WORKER, Kind.API, Kind.FLOWER})
SERVICES = frozenset({Kind.POSTGRES, Kind.REDIS})
# A part that ends while it starts is noticed at once; a busy machine may take minutes to import everything.
START_TIMEOUT_S = 300


class LocalStack:
    """The stack of `settings.home`, whether it runs already or not.

    Args:
        settings: As read from the environment. A service whose URL is set there is used and not started.
        workers: Worker processes; by default the setting, or one for each core.
        concurrency: Runs that one of them plays at once; by default the setting.
        kinds: Which of worker, api and flower take part.
        migrates: Whether starting brings the schema up to date.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        workers: int | None = None,
        concurrency: int | None = None,
        kinds: frozenset[Kind] = ALL_KINDS,
        migrates: bool = True,
    ) -> None:
        self.home = Home(settings.home.expanduser().absolute())
        self._supervisor = Supervisor(self.home)
        self._settings = _without_own_addresses(settings, self.home)
        self._workers = workers or worker_count(settings)
        self._concurrency = concurrency or settings.concurrency
        self._kinds = kinds
        self._migrates = migrates

    def start(self, tell: Callable[[str], object] = lambda _: None) -> Settings:
        """Start everything and return once each part answers; the settings with all addresses filled in.

        Args:
            tell: Called with a sentence for each step.

        Raises:
            Conflict: It runs already, or is just stopping.
            ChironError: A part does not start; nothing is left running.
        """
        with self.home.lock():
            self._refuse_running()
            self._prepare_access()
            leftovers.terminate(leftovers.leftovers(self.home))
            refuse_taken_ports(self._settings, frozenset(self._kinds))
            self._prepare(tell)
            try:
                return self._start_parts(tell)
            except BaseException:
                self.stop()
                raise

    def parts(self) -> list[Part]:
        """The parts that the supervisor of this home keeps, services first; none where nothing runs."""
        return self._supervisor.parts()

    def ending_parts(self) -> list[Part] | None:
        """The parts that a stop under way still waits for; None where nothing is being stopped."""
        pid = self._supervisor.pid() if self._supervisor.is_stopping() else None
        return None if pid is None else ending_parts(self.home, pid)

    def changes(self, *, every_s: float = 0.5) -> Iterator[str]:
        """A sentence for each part that ends or comes back from now on; ends when the stack was stopped."""
        return self._changes_since(self.parts(), every_s)

    def _changes_since(self, before: list[Part], every_s: float) -> Iterator[str]:
        while now := self.parts():
            yield from _part_changes(before, now, self.home)
            before = now
            time.sleep(every_s)

    def stop(self) -> bool:
        """Drain the workers, stop all parts in order, end processes that outlived a supervisor; whether anything ran."""
        ran = self._supervisor.pid() is not None
        self._supervisor.stop(within_s=self._settings.drain_s + 120)
        processes = leftovers.leftovers(self.home)
        leftovers.terminate(processes)
        self._supervisor.reap()
        return ran or bool(processes)

    def has_failed(self) -> bool:
        """Whether the supervisor of a stack that was started here, and has ended, ended in another way than by a stop."""
        return self._supervisor.has_failed()

    def kill(self) -> None:
        """End everything at once; no run is lost, but the workers' calls in flight are."""
        leftovers.kill(leftovers.leftovers(self.home))
        self._supervisor.reap()

    def _refuse_running(self) -> None:
        pid = self._supervisor.pid()
        if pid and self._supervisor.is_stopping():
            raise Conflict(
                f"Chiron is just stopping in {self.home.folder} (supervisor pid {pid}). Start it again once it has: "
                "`chiron down` waits for that."
            )
        if pid:
            raise Conflict(
                f"Chiron already runs in {self.home.folder} (supervisor pid {pid}). "
                "Look at it with `chiron status`, stop it with `chiron down`."
            )

    def _prepare_access(self) -> None:
        if Kind.API in self._kinds:
            api_key(self._settings)
        if Kind.FLOWER in self._kinds:
            flower_password(self._settings)

    def _prepare(self, tell: Callable[[str], object]) -> None:
        self.home.prepare()
        if not self._settings.database_url:
            if not self.home.postgres.exists():
                tell(f"Making a database in {self.home.postgres} ...")
            postgres.prepare(self.home)
        if not self._settings.redis_url:
            valkey.prepare(self.home)

    def _start_parts(self, tell: Callable[[str], object]) -> Settings:
        programs = stack_programs(
            self._settings,
            self.home,
            workers=self._workers,
            concurrency=self._concurrency,
            kinds=self._kinds,
        )
        self._supervisor.launch(programs, process_environment(self._settings, home=str(self.home.folder)))
        settings = self._settings
        services = [program for program in programs if program.kind in SERVICES]
        self._start(services, settings, tell)
        write_addresses(self.home.folder, self._addresses())
        settings = settings.model_copy(
            update={name: url for name, url in self._addresses().model_dump().items() if url}
        )
        if self._migrates and (names := migrate(settings.database_url)):
            tell(f"Database schema: applied {', '.join(names)}.")
        self._start([program for program in programs if program.kind not in SERVICES], settings, tell)
        return settings

    def _addresses(self) -> Addresses:
        return Addresses(
            database_url="" if self._settings.database_url else postgres.url(self.home),
            redis_url="" if self._settings.redis_url else valkey.url(self.home),
        )

    def _start(self, programs: list[Program], settings: Settings, tell: Callable[[str], object]) -> None:
        if programs:
            tell(f"Starting {', '.join(program.name for program in programs)} ...")
        for program in programs:
            self._supervisor.start(program)
        for program in programs:
            self._wait_until_ready(program, settings)

    def _wait_until_ready(self, program: Program, settings: Settings) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        first_pid = 0
        while True:
            part = self._supervisor.part(program.name)
            first_pid = first_pid or part.pid
            # A service may need a second try while a killed one still holds its shared memory.
            is_gone = part.kind not in SERVICES and (part.pid != first_pid or part.state == "restarting")
            if is_gone or part.state == "failed" or time.monotonic() > deadline:
                raise ChironError(f"{program.name} does not start: {self._last_log_line(program.name)}")
            if part.pid and is_ready(part, self.home, settings):
                return
            time.sleep(0.1)

    def _last_log_line(self, name: str) -> str:
        log = self.home.logs / f"{name}.log"
        lines = [line for line in _tail(log).splitlines() if line.strip()]
        return f"{lines[-1].strip() if lines else 'it says nothing.'} (all of its log: {log})"


@contextmanager
def database() -> Iterator[str]:
    """The URL of the database. The embedded one is started for the block if it does not run, without migrating it.

    Raises:
        ChironError: No database is configured, or it does not start.
    """
    own_settings = read_settings()
    stack = LocalStack(own_settings, kinds=frozenset(), migrates=False)
    if own_settings.database_url or stack.parts() or not stack.home.folder.exists():
        yield require_url(settings().database_url)
        return
    try:
        yield stack.start().database_url
    finally:
        stack.stop()


def _without_own_addresses(settings: Settings, home: Home) -> Settings:
    """The settings without the URLs of this stack's own services: those left name services of somebody else."""
    addresses = read_addresses(home.folder)
    overrides = {name: "" for name, url in addresses.model_dump().items() if getattr(settings, name) == url}
    return settings.model_copy(update=overrides)


def _part_changes(before: list[Part], now: list[Part], home: Home) -> Iterator[str]:
    parts_before = {part.name: part for part in before}
    for part in now:
        was = parts_before[part.name]
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
