"""Which OpenTelemetry exporters the standard OTEL_* variables ask for, for traces and for metrics."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

log = structlog.get_logger()

# For the last spans or metrics of a worker that stops: a collector that does not answer must not hold it up for longer.
FLUSH_S = 3.0
ENTRY_POINTS = {"otlp": "otlp_proto_http"}  # the standard's name of an exporter, and its package's
OVER_HTTP = "http/protobuf"


@dataclass(frozen=True, slots=True)
class Signal:
    """Traces or metrics: its part in the names of variables, and the endpoints of which any turns it on."""

    name: str
    endpoints: tuple[str, ...]

    @property
    def exporter_variable(self) -> str:
        """The variable that names exporters."""
        return f"OTEL_{self.name.upper()}_EXPORTER"

    @property
    def protocol_variables(self) -> tuple[str, str]:
        """The variables that name a protocol, the first before the second."""
        return f"OTEL_EXPORTER_OTLP_{self.name.upper()}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"


TRACES = Signal("traces", ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
# Not by the general endpoint: many collectors of traces refuse metrics, and the SDK would log that every minute.
METRICS = Signal("metrics", ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",))


def exporter_names(environment: Mapping[str, str], signal: Signal) -> list[str]:
    """The exporters that the environment asks for: those it names, or OTLP where it names an endpoint only."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    setting = environment.get(signal.exporter_variable, "").strip()
    if not setting:
        setting = "otlp" if any(environment.get(name) for name in signal.endpoints) else ""
    return [name for part in setting.split(",") if (name := part.strip()) not in ("", "none")]


def load_exporters(signal: Signal) -> list[Any]:
    """The exporters that the environment asks for. One that cannot be loaded is logged and left out."""
    names = exporter_names(os.environ, signal)
    return [exporter for name in names if (exporter := _exporter(name, signal)) is not None]


def resource() -> "Resource":
    """Who sends: `chiron-worker`, unless the environment says otherwise."""
    from opentelemetry.sdk.resources import Resource

    has_name = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return Resource.create({} if has_name else {"service.name": "chiron-worker"})


def send_last(shutdown: Callable[[], None], signal: Signal, *, within_s: float) -> None:
    """Have a provider send what it still has, for so many seconds at most."""
    # In a thread that no exit waits for: the SDK's own limit is half a minute.
    sender = threading.Thread(target=shutdown, name=f"last-{signal.name}", daemon=True)
    sender.start()
    sender.join(within_s)
    if sender.is_alive():
        log.warning(
            f"{signal.name}.unsent", reason=f"The collector did not take the last of them in {within_s:g} s."
        )


def _exporter(name: str, signal: Signal) -> Any:
    protocol = next(
        (value for name in signal.protocol_variables if (value := os.environ.get(name))), OVER_HTTP
    )
    event = f"{signal.name}.no_exporter"
    if name == "otlp" and protocol != OVER_HTTP:
        log.error(event, exporter=name, reason=f"It speaks {OVER_HTTP} and not {protocol}.")
        return None
    group = f"opentelemetry_{signal.name}_exporter"
    for entry_point in entry_points(group=group, name=ENTRY_POINTS.get(name, name)):
        try:
            return entry_point.load()()
        except Exception:  # An exporter is code of others; the worker works without it.
            log.exception(event, exporter=name)
            return None
    log.error(event, exporter=name, reason="No installed package brings it.")
    return None
