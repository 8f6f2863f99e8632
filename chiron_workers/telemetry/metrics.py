"""Sends metrics where the standard OTEL_* variables say; without an exporter among them nothing is recorded."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from chiron_workers.instruments import STALL_BUCKETS_S
from chiron_workers.telemetry.exporters import (
    FLUSH_S,
    METRICS,
    exporter_names,
    load_exporters,
    resource,
    send_last,
)

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.sdk.metrics import MeterProvider

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Recorder:
    provider: "MeterProvider"
    stalls: "Histogram"


_recorders: list[_Recorder] = []


def start() -> None:
    """Record from now on, if the environment names an exporter of metrics or its endpoint."""
    if _recorders:
        return
    if exporters := load_exporters(METRICS):
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        readers = [PeriodicExportingMetricReader(exporter) for exporter in exporters]
        provider = MeterProvider(readers, resource=resource(), shutdown_on_exit=False)
        stalls = provider.get_meter("chiron").create_histogram(
            "chiron.loop.stall.duration",
            unit="s",
            description="How long the event loop of a worker stood still.",
            explicit_bucket_boundaries_advisory=STALL_BUCKETS_S,
        )
        _recorders.append(_Recorder(provider, stalls))
        log.info("metrics.started", exporters=exporter_names(os.environ, METRICS))


def stop(within_s: float = FLUSH_S) -> None:
    """Stop recording, and send the last numbers, for so many seconds at most."""
    while _recorders:
        send_last(_recorders.pop().provider.shutdown, METRICS, within_s=within_s)


def record_stall(seconds: float) -> None:
    """Count a stall of the event loop; callable from any thread."""
    for recorder in _recorders:
        recorder.stalls.record(seconds)
