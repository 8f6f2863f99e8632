"""What one command takes: `python benchmarks/command_usage.py COMMAND ...` prints its seconds, its CPU, its memory, its output.

A process of its own and with few imports: a child's peak of memory is at least that of the process it was forked from.
"""

import io
import json
import os
import subprocess
import sys
import time


def main() -> None:
    began = time.perf_counter()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert isinstance(process.stdout, io.BufferedReader)
        size = first_s = 0.0
        while piece := process.stdout.read1(65_536):
            first_s = first_s or time.perf_counter() - began
            size += len(piece)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    figures = {
        "wall_s": round(time.perf_counter() - began, 3),
        "first_s": round(first_s, 3),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_mb": round(usage.ru_maxrss / 1024, 1),  # Linux counts in KB
        "kb": round(size / 1024, 1),
        "exit": process.returncode,
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
