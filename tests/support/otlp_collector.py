"""An OpenTelemetry collector on loopback: takes spans and metrics over OTLP/HTTP as any collector does, and keeps them."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Taken:
    """A span as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    is_error: bool
    status_words: str
    ms: float
    attributes: dict[str, Any]
    service: str


@dataclass
class Collector:
    """The collector's address and what it was sent."""

    url: str
    spans: list[Taken] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)  # of the histograms that arrived, by name
    bodies: list[bytes] = field(default_factory=list)
    goes_on: threading.Event = field(default_factory=threading.Event)

    def named(self, start: str) -> list[Taken]:
        return [span for span in self.spans if span.name.startswith(start)]


@contextmanager
def collector(*, hangs: bool = False) -> Iterator[Collector]:
    """A collector; one that hangs takes a request and never answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if hangs:
                found.bodies.append(body)
                found.goes_on.wait(60)
                return
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            found.bodies.append(body)
            if self.path == "/v1/metrics":
                found.counts |= _counts(body)
            else:
                found.spans += _spans(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield found
    finally:
        found.goes_on.set()
        server.shutdown()
        server.server_close()


def _spans(body: bytes) -> list[Taken]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        Taken(
            span.name,
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.kind,
            span.status.code == 2,
            span.status.message,
            (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6,
            {each.key: _value(each.value) for each in span.attributes},
            {each.key: _value(each.value) for each in of_service.resource.attributes}["service.name"],
        )
        for of_service in request.resource_spans
        for of_scope in of_service.scope_spans
        for span in of_scope.spans
    ]


def _counts(body: bytes) -> dict[str, int]:
    request = ExportMetricsServiceRequest.FromString(body)
    return {
        metric.name: sum(point.count for point in metric.histogram.data_points)
        for of_service in request.resource_metrics
        for of_scope in of_service.scope_metrics
        for metric in of_scope.metrics
    }


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)
