"""Sends spans where the standard OTEL_* variables say; without an exporter among them nothing is recorded."""

import os
from typing import TYPE_CHECKING

import structlog

from chiron_workers.telemetry import spans
from chiron_workers.telemetry.exporters import (
    FLUSH_S,
    TRACES,
    exporter_names,
    load_exporters,
    resource,
    send_last,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

log = structlog.get_logger()

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_providers: "list[TracerProvider]" = []


def start() -> None:
    """Record spans from now on, if the environment names an exporter. One that cannot be loaded is logged and left out."""
    if _providers:
        return
    if exporters := load_exporters(TRACES):
        provider = _provider(exporters)
        _providers.append(provider)
        words = os.environ.get(CAPTURE, "").strip().lower()
        captures_content = words in ("true", "1", "span_only", "span_and_event")
        spans.set_tracer(provider.get_tracer("chiron"), captures=captures_content)
        log.info("tracing.started", exporters=exporter_names(os.environ, TRACES), content=captures_content)


def stop(within_s: float = FLUSH_S) -> None:
    """Stop recording, and send the last spans, for so many seconds at most."""
    spans.set_tracer(None)
    while _providers:
        send_last(_providers.pop().shutdown, TRACES, within_s=within_s)


def _provider(exporters: "list[SpanExporter]") -> "TracerProvider":
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class TraceOfRun(RandomIdGenerator):
        """Puts all executions of a run into one trace."""

        def generate_trace_id(self) -> int:
            return spans.trace_of_execution.get() or super().generate_trace_id()

    provider = TracerProvider(resource=resource(), id_generator=TraceOfRun(), shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
