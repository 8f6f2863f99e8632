"""Flower as a server of ours: its options, its gate, its end."""

import ast
import atexit
import logging
import os
import signal
import sys
from typing import Any

from celery.events.state import Task
from flower import command
from flower.app import Flower
from flower.options import options
from flower.urls import settings as tornado_settings
from tornado.httputil import HTTPServerRequest
from tornado.netutil import bind_sockets

from chiron_api.flower_server.connections import LIMITS, BoundedServer
from chiron_api.flower_server.gate import Gate, RefusalHandler
from chiron_api.http.proxies import TrustedProxies
from chiron_api.local_stack.access import FLOWER_USER, flower_password
from chiron_api.local_stack.ports import is_loopback
from chiron_workers.celery import app
from chiron_workers.settings import Settings

TASKS_COLUMNS = "uuid,kwargs,state,received,started,runtime,worker"
SAVE_EVERY_MS = 60_000
PURGE_AFTER_S = 600


class GatedFlower(Flower):  # type: ignore[misc]  # it has no types
    """Flower whose gate decides before any of its handlers is chosen."""

    def __init__(self, gate: Gate, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.gate = gate

    def find_handler(self, request: HTTPServerRequest, **arguments: Any) -> Any:
        """The handler of a request that the gate lets through, else the one that refuses it."""
        if refusal := self.gate.refusal(request):
            return self.get_handler_delegate(request, RefusalHandler, {"refusal": refusal})
        return super().find_handler(request, **arguments)

    def start_http_server(self) -> int:
        """Listen, and return the port."""
        sockets = bind_sockets(self.options.port, address=self.options.address)
        # Without `xheaders`, which would believe everybody: the gate reads the headers of trusted proxies.
        server = BoundedServer(self, ssl_options=self.ssl_options, **LIMITS)
        server.add_sockets(sockets)
        return int(sockets[0].getsockname()[1])


def serve(settings: Settings) -> None:
    """Answer until SIGTERM or Ctrl+C; the current folder is not looked at."""
    os.umask(0o077)  # Flower's file of tasks holds topics.
    _configure(settings)
    app.conf.imports = ()  # Flower would import the tasks, and the current folder comes first in Celery's eyes.
    prefix = f"/{options.url_prefix.strip('/')}" if options.url_prefix else ""
    gate = Gate(
        FLOWER_USER,
        flower_password(settings),
        has_any_name=not is_loopback(settings.flower_host.strip("[]")),
        prefix=prefix,
        proxies=TrustedProxies.of(settings.trusted_proxies),
    )
    server = GatedFlower(gate, capp=app, options=options, **tornado_settings)
    atexit.register(server.stop)  # where it fails
    # By the loop: an exception that a handler raises is lost where it interrupts what may raise none, such as a `__del__`.
    signal.signal(
        signal.SIGTERM, lambda *_: server.io_loop.asyncio_loop.call_soon_threadsafe(server.io_loop.stop)
    )
    port = server.start_http_server()
    command.print_banner(app, "ssl_options" in tornado_settings, port)
    code = 0
    try:
        server.start()
    except KeyboardInterrupt:
        code = 130
    server.stop()
    logging.shutdown()
    sys.stdout.flush()
    os._exit(code)  # Threads that wait for a Redis which is away would be waited for.


def _configure(settings: Settings) -> None:
    """Set Flower's options: defaults of ours, FLOWER_ variables, and then what nothing changes; no file is read."""
    options.tasks_columns = TASKS_COLUMNS
    options.format_task = with_readable_labels
    options.persistent = True
    options.db = str(settings.home / "flower.db")
    options.state_save_interval = SAVE_EVERY_MS
    options.purge_offline_workers = PURGE_AFTER_S
    command.apply_env_options()
    options.address = settings.flower_host
    options.port = settings.flower_port
    options.unix_socket = ""
    options.read_only = True
    options.basic_auth = [f"{FLOWER_USER}:{flower_password(settings)}"]
    options.parse_command_line([sys.argv[0]])  # sets up the log
    command.extract_settings()
    command.setup_logging()


def with_readable_labels(task: Task) -> Task:
    """A task as the list shows it: `role: research · subject: Physics · topic: Tides` in place of Python's notation."""
    try:
        labels = ast.literal_eval(task.kwargs or "")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return task  # cut by Celery, or not a task of ours
    if isinstance(labels, dict):
        task.kwargs = " · ".join(f"{name}: {label}" for name, label in labels.items())
    return task
