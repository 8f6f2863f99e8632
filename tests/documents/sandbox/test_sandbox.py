import asyncio
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from support import sandbox_jobs
from support.event_loop_delay import beating
from support.worker_processes import wait_until

from chiron_workers.documents.document import Block, Document, UnreadableError
from chiron_workers.documents.sandbox import fork_server
from chiron_workers.documents.sandbox.sandbox import (
    JOBS_MAX,
    Limits,
    load_and_run_sandboxed,
    run_sandboxed,
    run_sandboxed_sync,
)

LIMITS = Limits(timeout_s=60, memory_bytes=500_000_000)


def jobs_of(pid: int) -> tuple[list[int], list[int]]:
    """The ids of a process's fork servers, and of the jobs that these have forked."""
    servers, jobs = [], []
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):  # It ended meanwhile.
            if any("fork_server" in word for word in child.cmdline()):
                servers.append(child.pid)
                jobs.extend(job.pid for job in child.children())
    return servers, jobs


async def test_what_a_function_returns_comes_back_from_another_process() -> None:
    output = await run_sandboxed(partial(sandbox_jobs.says, "Größe 火星 \n"), limits=LIMITS)
    assert output == Document("a title", (Block("Größe 火星 \n"),))
    first, second = [await run_sandboxed(partial(sandbox_jobs.process_id), limits=LIMITS) for _ in range(2)]
    assert first != second
    await asyncio.to_thread(wait_until, lambda: not psutil.pid_exists(first))


async def test_the_parsers_have_been_used_before_a_process_is_forked_for_a_job() -> None:
    used = [await run_sandboxed(partial(sandbox_jobs.made_before), limits=LIMITS) for _ in range(2)]
    assert used == [2, 2]  # for a page and a robots.txt, and for no job before


def test_a_parser_that_does_not_work_keeps_no_others_from_being_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(ModuleType):
        def warm_up(self) -> None:
            raise ValueError

    used = []
    works = ModuleType("works")
    works.warm_up = lambda: used.append(1)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "broken", Broken("broken"))
    monkeypatch.setitem(sys.modules, "works", works)
    monkeypatch.setattr(fork_server, "PARSERS", ("broken", "missing_parser", "works"))
    fork_server.load_parsers()
    assert used == [1]


def test_it_works_without_an_event_loop_too() -> None:
    assert run_sandboxed_sync(partial(sandbox_jobs.says, "word"), limits=LIMITS).blocks[0].text == "word"


async def test_a_hang_is_ended_at_its_time_and_the_event_loop_goes_on_meanwhile() -> None:
    began = time.monotonic()
    async with beating() as pulse:
        with pytest.raises(UnreadableError, match="reading it took more than 1 s"):
            await run_sandboxed(partial(sandbox_jobs.hangs), limits=Limits(timeout_s=1))
    assert time.monotonic() - began < 30
    assert pulse.worked_s < 0.5


async def test_cancelling_the_wait_kills_the_process() -> None:
    await asyncio.to_thread(wait_until, lambda: not jobs_of(os.getpid())[1])  # of the test before
    job = asyncio.create_task(run_sandboxed(partial(sandbox_jobs.hangs), limits=LIMITS))
    [pid] = await asyncio.to_thread(wait_until, lambda: jobs_of(os.getpid())[1])
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    await asyncio.to_thread(wait_until, lambda: not psutil.pid_exists(pid))


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (sandbox_jobs.crashes, "its parser crashed, perhaps for want of memory"),
        (sandbox_jobs.leaves, "its parser crashed"),
        (sandbox_jobs.exits, "its parser crashed"),
        (sandbox_jobs.eats_memory, "more than 500 MB of memory"),
        (sandbox_jobs.eats_memory_in_c, "perhaps for want of memory"),
        pytest.param(
            sandbox_jobs.eats_memory_in_a_file,
            r"it cannot be parsed \(OSError\)",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="files in memory are Linux's"),
        ),
        (sandbox_jobs.refuses, "^it is a picture$"),
        (sandbox_jobs.stumbles, r"^it cannot be parsed \(RecursionError\)$"),
        (sandbox_jobs.lies, "an answer that is none"),
        (sandbox_jobs.answers_with_too_much, "it holds more text than can be read"),
    ],
)
async def test_whatever_happens_to_the_process_is_a_sentence(job, sentence: str) -> None:
    limits = (
        Limits(timeout_s=60, memory_bytes=2_000_000_000)
        if job is sandbox_jobs.answers_with_too_much
        else LIMITS
    )
    with pytest.raises(UnreadableError, match=sentence):
        await run_sandboxed(partial(job), limits=limits)
    assert (await run_sandboxed(partial(sandbox_jobs.says, "still here"), limits=LIMITS)).text == "still here"


async def test_the_process_has_no_environment_and_no_way_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    assert "secret" not in str(await run_sandboxed(partial(sandbox_jobs.environment), limits=LIMITS))
    await run_sandboxed(partial(sandbox_jobs.chatters), limits=LIMITS)
    assert capfd.readouterr() == ("", "")


async def test_more_jobs_than_places_take_turns() -> None:
    jobs = [run_sandboxed(partial(sandbox_jobs.says, str(n)), limits=LIMITS) for n in range(3 * JOBS_MAX)]
    assert [output.text for output in await asyncio.gather(*jobs)] == [str(n) for n in range(3 * JOBS_MAX)]


async def test_what_waits_for_a_place_has_loaded_nothing_and_is_not_loaded_once_it_is_cancelled() -> None:
    loaded, may_end = [], threading.Event()

    def load(n: int) -> "partial[Document]":
        loaded.append(n)
        assert may_end.wait(60)
        return partial(sandbox_jobs.says, str(n))

    jobs = [
        asyncio.create_task(load_and_run_sandboxed(partial(load, n), limits=LIMITS))
        for n in range(3 * JOBS_MAX)
    ]
    await asyncio.to_thread(wait_until, lambda: len(loaded) == JOBS_MAX)
    assert jobs[-1].cancel()
    await asyncio.wait(jobs[-1:])
    assert len(loaded) == JOBS_MAX
    may_end.set()
    output = await asyncio.gather(*jobs[:-1])
    assert [document.text for document in output] == [str(n) for n in range(3 * JOBS_MAX - 1)]
    assert sorted(loaded) == list(range(3 * JOBS_MAX - 1))


async def test_what_loading_raises_is_raised() -> None:
    def load() -> "partial[Document]":
        raise UnreadableError("it is gone")

    with pytest.raises(UnreadableError, match="it is gone"):
        await load_and_run_sandboxed(load, limits=LIMITS)


async def test_a_server_that_was_killed_is_started_again() -> None:
    alive = [process for process in psutil.Process().children() if process.status() != psutil.STATUS_ZOMBIE]
    [server] = [
        process for process in alive if "chiron_workers.documents.sandbox.fork_server" in process.cmdline()
    ]
    server.kill()
    await asyncio.to_thread(wait_until, lambda: server.status() == psutil.STATUS_ZOMBIE)
    assert (await run_sandboxed(partial(sandbox_jobs.says, "again"), limits=LIMITS)).text == "again"
    assert not psutil.pid_exists(server.pid)


async def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from functools import partial\nfrom support import sandbox_jobs\n"
        "from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync\n"
        "print(run_sandboxed_sync(partial(sandbox_jobs.says, 'once'), limits=Limits()).text)\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parents[3])])
    process = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        check=False,
    )
    assert (process.stdout, process.stderr) == ("once\n", "")


def test_nothing_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    # Elsewhere than on Linux the alarm alone ends a job, and here it has to be there when we look.
    is_linux = sys.platform == "linux"
    jobs, timeout_s = (["sleeps", "sleeps_without_alarm"], 60) if is_linux else (["sleeps"], 2)
    script = tmp_path / "script.py"
    script.write_text(
        "from functools import partial\nfrom threading import Thread\nfrom support import sandbox_jobs\n"
        "from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync\n"
        f"for name in {jobs!r}:\n"
        "    job = partial(getattr(sandbox_jobs, name))\n"
        f"    Thread(target=run_sandboxed_sync, args=(job,), kwargs={{'limits': Limits({timeout_s})}}).start()\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parents[3])])
    with subprocess.Popen([sys.executable, script], env=os.environ | {"PYTHONPATH": paths}) as worker:
        [server], processes = wait_until(lambda: len((ids := jobs_of(worker.pid))[1]) == len(jobs) and ids)
        worker.kill()
    for process in (server, *processes):
        wait_until(lambda pid=process: not psutil.pid_exists(pid))
