"""Sends spans where the standard OTEL_* variables say; without an exporter among them nothing is recorded."""

import os
import threading
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import structlog

from chiron_workers.telemetry import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

log = structlog.get_logger()

FLUSH_S = 3.0  # for the last spans when a worker stops; a collector that does not answer holds up nothing
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ENTRY_POINTS = {"otlp": "otlp_proto_http"}  # what the standard calls an exporter, and what its package does
OVER_HTTP = "http/protobuf"

_providers: "list[TracerProvider]" = []


def exporter_names(environment: Mapping[str, str]) -> list[str]:
    """The exporters that the environment asks for: those it names, or OTLP where it names an endpoint only."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    setting = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    if not setting:
        setting = "otlp" if any(environment.get(name) for name in ENDPOINTS) else ""
    return [name for part in setting.split(",") if (name := part.strip()) not in ("", "none")]


def start() -> None:
    """Record spans from now on, if the environment names an exporter. One that cannot be loaded is logged and left out."""
    names = exporter_names(os.environ)
    if not names or _providers:
        return
    exporters = [exporter for name in names if (exporter := _exporter(name)) is not None]
    if exporters:
        provider = _provider(exporters)
        _providers.append(provider)
        words = os.environ.get(CAPTURE, "").strip().lower()
        captures_content = words in ("true", "1", "span_only", "span_and_event")
        spans.set_tracer(provider.get_tracer("chiron"), captures=captures_content)
        log.info("tracing.started", exporters=names, content=captures_content)


def stop(within_s: float = FLUSH_S) -> None:
    """Stop recording, and send the last spans, for so many seconds at most."""
    spans.set_tracer(None)
    while _providers:
        # In a thread that no exit waits for: the SDK's own limit is half a minute.
        sender = threading.Thread(target=_providers.pop().shutdown, name="last-spans", daemon=True)
        sender.start()
        sender.join(within_s)
        if sender.is_alive():
            log.warning(
                "tracing.unsent", reason=f"The collector did not take the last spans in {within_s:g} s."
            )


def _exporter(name: str) -> "SpanExporter | None":
    protocol = next((value for variable in PROTOCOLS if (value := os.environ.get(variable))), OVER_HTTP)
    if name == "otlp" and protocol != OVER_HTTP:
        log.error("tracing.no_exporter", exporter=name, reason=f"It speaks {OVER_HTTP} and not {protocol}.")
        return None
    for entry_point in entry_points(group="opentelemetry_traces_exporter", name=ENTRY_POINTS.get(name, name)):
        try:
            exporter: SpanExporter = entry_point.load()()
        except Exception:  # an exporter is somebody's code, and no reason not to work
            log.exception("tracing.no_exporter", exporter=name)
            return None
        return exporter
    log.error("tracing.no_exporter", exporter=name, reason="No installed package brings it.")
    return None


def _provider(exporters: "list[SpanExporter]") -> "TracerProvider":
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class TraceOfRun(RandomIdGenerator):
        """Puts all executions of a run into one trace."""

        def generate_trace_id(self) -> int:
            return spans.trace_of_execution.get() or super().generate_trace_id()

    has_name = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    resource = Resource.create({} if has_name else {"service.name": "chiron-worker"})
    provider = TracerProvider(resource=resource, id_generator=TraceOfRun(), shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
