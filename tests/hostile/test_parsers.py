"""What a subverted parser may try: each file of `parsers/` has one attempt, which works elsewhere and not in the sandbox."""

import errno
import importlib
import multiprocessing
import os
import sys
from functools import partial
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import ModuleType

import pytest

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.confinement import (
    Confinement,
    describe,
    filter_program,
    refuse_calls,
)
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync

MEMBERS = sorted(file.stem for file in (Path(__file__).parent / "parsers").glob("*.py"))


@pytest.fixture(scope="module")
def confinement() -> Confinement:
    return run_sandboxed_sync(partial(describe), limits=Limits())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "private.txt").write_text("the secret word is xyzzy")
    return tmp_path


@pytest.fixture(scope="module")
def forks() -> ForkServerContext:
    """Processes that are not confined, forked from one that has imported the attempts."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *(f"hostile.parsers.{name}" for name in MEMBERS)])
    return context


def member(name: str) -> ModuleType:
    return importlib.import_module(f"hostile.parsers.{name}")


@pytest.mark.parametrize("name", MEMBERS)
def test_a_subverted_parser_reaches_nothing(name: str, confinement: Confinement, folder: Path) -> None:
    if not (confinement.landlock if hasattr(member(name), "NEEDS") else confinement.has_seccomp):
        pytest.skip("this kernel has no such confinement")
    with pytest.raises(
        UnreadableError, match=r"it cannot be parsed \((PermissionError|OSError|ValueError)\)"
    ):
        run_sandboxed_sync(partial(member(name).attempt, str(folder)), limits=Limits())
    assert [file.name for file in folder.iterdir()] == ["private.txt"]
    assert (folder / "private.txt").read_text() == "the secret word is xyzzy"


def attempt_by_seccomp_alone(name: str, folder: str) -> None:
    """End with the number of the error that the attempt has, 0 for none."""
    attempt = member(name).attempt
    assert refuse_calls()
    try:
        attempt(folder)
    except OSError as error:
        os._exit(error.errno or 0)
    os._exit(0)


@pytest.mark.parametrize("name", [name for name in MEMBERS if not hasattr(member(name), "NEEDS")])
def test_seccomp_refuses_an_attempt_where_landlock_is_missing(
    name: str, confinement: Confinement, folder: Path, forks: ForkServerContext
) -> None:
    if not confinement.has_seccomp:
        pytest.skip("this kernel has no seccomp")
    process = forks.Process(target=attempt_by_seccomp_alone, args=(name, str(folder)))
    process.start()
    process.join(60)
    assert process.exitcode in (errno.EPERM, errno.ENOSYS)
    assert [file.name for file in folder.iterdir()] == ["private.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="its calls are those of Linux")
@pytest.mark.parametrize("name", MEMBERS)
def test_the_same_attempt_succeeds_elsewhere(name: str, folder: Path, forks: ForkServerContext) -> None:
    process = forks.Process(target=member(name).attempt, args=(str(folder),))
    process.start()
    process.join(60)
    assert process.exitcode == 0


def test_linux_of_today_confines_parsers(confinement: Confinement) -> None:
    if sys.platform != "linux":
        assert confinement == Confinement()
    elif confinement.has_seccomp:
        assert confinement.landlock >= 0
    else:
        pytest.skip("this kernel, or the container, refuses seccomp")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_jumps_nowhere_beyond_its_end(machine: str) -> None:
    program = filter_program(machine)
    assert len(program) < 4_096
    for place, (code, if_true, if_false, _) in enumerate(program):
        if code & 0x07 == 0x05:
            assert place + 1 + max(if_true, if_false) < len(program)
    assert program[-1] == (0x06, 0, 0, 0x7FFF_0000)


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("sparc64") == []
