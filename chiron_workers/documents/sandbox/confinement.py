"""What a forked parser may still do: compute, read Python's own files, and answer.

seccomp refuses system calls (no network, no programs, no signals, no writing), landlock refuses files. Both are the
kernel's, need no rights, cannot be taken off again, and bind root too. Where one is missing the other holds.
"""

import ctypes
import errno
import os
import platform
import signal
import stat
import struct
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chiron_workers.documents.sandbox import system_calls as calls

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 1, 38, 22, 2
# linux/audit.h: what the kernel says of the architecture of a call.
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
X32_BIT = 0x4000_0000
ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
EPERM, ENOSYS = (0x0005_0000 | code for code in (errno.EPERM, errno.ENOSYS))
# linux/bpf_common.h: load a word; jump if equal, if at least, if any of these bits is set; return.
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CLONE_THREAD = 0x1_0000
O_PATH = getattr(os, "O_PATH", 0)
# linux/landlock.h, by the version of the interface that brought them.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # how many bits of rights to files there are
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
NETWORK_VERSION, NETWORK_RIGHTS = 4, 0b11  # bind and connect
SCOPE_VERSION, SCOPES = 6, 0b11  # abstract sockets and signals
# The last ones are what DuckDB looks at to see how much of the machine it has.
SYSTEM_PLACES = (
    "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types", "/dev/null",
    "/dev/urandom", "/proc/meminfo", "/proc/cpuinfo", "/sys/fs/cgroup", "/sys/devices/system/cpu",
)  # fmt: skip

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds a parser: whether seccomp does, and the version of landlock, 0 for none."""

    has_seccomp: bool = False
    landlock: int = 0


_in_force = Confinement()


def confine() -> None:
    """Confine this process, for good. What the kernel refuses is left out; `describe` tells what is in force."""
    global _in_force  # noqa: PLW0603  # of a process, as the confinement is
    if sys.platform != "linux" or _prctl(PR_SET_NO_NEW_PRIVS, 1) != 0:
        return
    landlock = _restrict_files()
    _in_force = Confinement(refuse_calls(), landlock)


def end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, also if it has just done so."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def describe() -> Confinement:
    """What holds this process: a job for the sandbox."""
    return _in_force


def filter_program(machine: str) -> list[Instruction]:
    """The seccomp filter of an architecture, as instructions of classic BPF; none for one that is not known here."""
    if machine not in ARCHITECTURES:
        return []
    column = list(ARCHITECTURES).index(machine)
    program = [
        (LOAD, 0, 0, ARCHITECTURE), (JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER), (JUMP_AT_LEAST, 0, 1, min(X32_BIT, calls.NEWEST + 1)), (RETURN, 0, 0, ENOSYS),
    ]  # fmt: skip
    for refusal, table in ((EPERM, calls.REFUSED), (ENOSYS, calls.UNKNOWN)):
        for numbers in table.values():
            if (number := numbers[column]) is not None:
                program += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, refusal)]
    program += _judge(calls.OPEN[column], 1, WRITING, is_refused_by_bits=True)
    program += _judge(calls.OPENAT[column], 2, WRITING, is_refused_by_bits=True)
    program += _judge(calls.CLONE[column], 0, CLONE_THREAD, is_refused_by_bits=False)
    for half in (0, 4):  # a new limit is a pointer: either half of it
        program += _judge(calls.PRLIMIT64[column], 2, 0xFFFF_FFFF, is_refused_by_bits=True, offset=half)
    program += _permit(calls.FCNTL[column], 1, calls.FCNTL_COMMANDS)
    program += _permit(calls.IOCTL[column], 1, calls.IOCTL_REQUESTS)
    program += _permit(calls.PRCTL[column], 0, calls.PRCTL_OPTIONS)
    return [*program, (RETURN, 0, 0, ALLOW)]


def _judge(
    number: int | None, argument: int, bits: int, *, is_refused_by_bits: bool, offset: int = 0
) -> list[Instruction]:
    """Refuse a call by the bits of an argument, with the call's number loaded before and afterwards."""
    if number is None:
        return []
    jumps = (0, 1) if is_refused_by_bits else (1, 0)
    return [
        (JUMP_EQUAL, 0, 4, number),
        (LOAD, 0, 0, ARGUMENTS + 8 * argument + offset),
        (JUMP_BITS, *jumps, bits & 0xFFFF_FFFF),
        (RETURN, 0, 0, EPERM),
        (LOAD, 0, 0, NUMBER),
    ]


def _permit(number: int, argument: int, commands: Sequence[int]) -> list[Instruction]:
    """Refuse a call unless an argument is one of `commands`; the kernel takes 32 bits of it."""
    # A jump to the refusal or beyond it counts the instructions that are skipped.
    comparisons = [(JUMP_EQUAL, len(commands) - place, 0, command) for place, command in enumerate(commands)]
    return [
        (JUMP_EQUAL, 0, len(commands) + 3, number),
        (LOAD, 0, 0, ARGUMENTS + 8 * argument),
        *comparisons,
        (RETURN, 0, 0, EPERM),
        (LOAD, 0, 0, NUMBER),
    ]


def refuse_calls() -> bool:
    """Put this process under the filter of its architecture, for good; whether there is one and the kernel takes it."""
    program = filter_program(platform.machine())
    if not program:
        return False
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    return _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(header, len(header))) == 0


def _restrict_files() -> int:
    """Let this process read Python's files alone; the version of landlock that holds it, 0 where none does."""
    version = _syscall(calls.LANDLOCK_RULESET, None, 0, 1)
    if version < 1:
        return 0
    rights = (1 << max(bits for since, bits in FILE_RIGHTS.items() if since <= version)) - 1
    network = NETWORK_RIGHTS if version >= NETWORK_VERSION else 0
    scopes = SCOPES if version >= SCOPE_VERSION else 0
    size = 24 if scopes else 16 if network else 8
    rules = _syscall(calls.LANDLOCK_RULESET, struct.pack("QQQ", rights, network, scopes), size, 0)
    if rules < 0:
        return 0
    for place in (*readable_places(), "/proc/self"):  # which is another folder in each process
        _allow_reading(rules, place)
    outcome = _syscall(calls.LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return version if outcome == 0 else 0


@cache
def readable_places() -> tuple[str, ...]:
    """What imports need that a parser does late: the interpreter, its libraries, and our own packages."""
    schemes = sysconfig.get_paths()
    libraries = [schemes[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    site_packages = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    own_package = str(Path(__file__).parents[2])
    places = {own_package, *libraries, *site_packages, str(Path(sys.base_prefix) / "lib"), *SYSTEM_PLACES}
    return tuple(sorted(place for place in places if Path(place).exists()))


def _allow_reading(rules: int, place: str) -> None:
    try:
        descriptor = os.open(place, O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rights = READ_FILE | READ_FOLDER if stat.S_ISDIR(os.fstat(descriptor).st_mode) else READ_FILE
    _syscall(calls.LANDLOCK_RULE, rules, 1, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)


def _syscall(number: int, *arguments: bytes | int | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [
        ctypes.c_long(argument) if isinstance(argument, int) else ctypes.c_char_p(argument)
        for argument in arguments
    ]
    return int(libc.syscall(ctypes.c_long(number), *words))


def _prctl(option: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in arguments]
    missing_words = [ctypes.c_ulong(0)] * (4 - len(words))
    return int(libc.prctl(ctypes.c_int(option), *words, *missing_words))
