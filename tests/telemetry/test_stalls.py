"""What a worker says of an event loop that stands still."""

import asyncio
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.otlp_collector import collector

from chiron_workers.telemetry import metrics
from chiron_workers.telemetry import stalls as telemetry_stalls
from chiron_workers.telemetry.stalls import StallWatch


@contextmanager
def watched_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    watch = StallWatch(loop)
    watch.start()
    try:
        yield loop
    finally:
        watch.stop()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def stalls(lines: list[Any]) -> list[Any]:
    return [line for line in lines if line["event"] == "loop.stalled"]


def block_the_loop(released: threading.Event) -> None:
    released.wait()


def stall_once(loop: asyncio.AbstractEventLoop) -> None:
    released, is_free = threading.Event(), threading.Event()
    loop.call_soon_threadsafe(block_the_loop, released)
    loop.call_soon_threadsafe(is_free.set)
    time.sleep(1)
    released.set()
    assert is_free.wait(60)
    time.sleep(0.5)


def test_a_call_that_blocks_the_loop_is_logged_once_with_its_stack() -> None:
    def named() -> list[Any]:
        return [line for line in stalls(lines) if "in block_the_loop" in line["stack"]]

    with capture_logs() as lines, watched_loop() as loop:
        for _ in range(20):  # where the machine gave the watcher no time either, there was no stall
            stall_once(loop)
            if named():
                break
    (line,) = named()
    assert line["ms"] > 200
    assert "released.wait()" in line["stack"]


def test_a_stall_that_lasts_is_logged_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry_stalls, "LASTING_S", 0.5)
    released = threading.Event()
    with capture_logs() as lines, watched_loop() as loop:
        loop.call_soon_threadsafe(block_the_loop, released)
        give_up_at = time.monotonic() + 60
        while not lines and time.monotonic() < give_up_at:
            time.sleep(0.01)
        lasting = lines.copy()
        released.set()
    assert [line["event"] for line in lasting] == ["loop.stands_still"]
    assert "released.wait()" in lasting[0]["stack"]


def test_a_call_that_lets_no_other_thread_go_on_is_a_stall_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # As where the call used the processor all the while; a busy machine may give it less.
    monkeypatch.setattr("time.process_time", time.monotonic)
    with capture_logs() as lines, watched_loop() as loop:
        loop.call_soon_threadsafe(ctypes.PyDLL(None).usleep, 900_000)
        give_up_at = time.monotonic() + 60
        while not stalls(lines) and time.monotonic() < give_up_at:
            time.sleep(0.01)
    assert max(line["ms"] for line in stalls(lines)) >= 900


def test_stalls_are_counted_as_a_metric_where_an_exporter_of_metrics_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    with collector() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_METRICS_EXPORTER", "otlp")
        metrics.start()
        try:
            metrics.record_stall(0.3)
            metrics.record_stall(2)
        finally:
            metrics.stop(within_s=60)
        assert receiver.counts["chiron.loop.stall.duration"] == 2


def test_no_metrics_are_sent_where_only_traces_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    threads = set(threading.enumerate())
    metrics.start()
    assert set(threading.enumerate()) <= threads


STOPPED = """
import asyncio, sys, threading, time
import structlog
from chiron_workers.telemetry.stalls import StallWatch
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
watch = StallWatch(loop)
watch.start()
time.sleep(0.3)
print("ready", flush=True)
sys.stdin.readline()
time.sleep(0.3)
watch.stop()
print("end", flush=True)
"""


def test_a_process_that_was_stopped_had_no_stall() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    lines: list[str] = []
    while "ready\n" not in lines:
        lines.append(process.stdout.readline())
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)
    rest, _ = process.communicate("\n")
    assert rest.endswith("end\n")
    assert [ms for ms in re.findall(r"loop.stalled.* ms.*?=.*?(\d+)", rest) if int(ms) >= 1000] == []
