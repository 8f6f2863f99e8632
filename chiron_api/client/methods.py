"""All methods of both clients: one for each act, and those for streams, waiting, files, tools and health."""
# A decorator makes the method:
# mypy: disable-error-code="empty-body"

from typing import Any

from chiron_api.answers.basics import Health
from chiron_api.answers.runs import Batch, Run, RunResult
from chiron_api.answers.subjects import DocumentReceipt
from chiron_api.answers.tools import ToolResult
from chiron_api.client.act_methods import ActMethods, BatchRef, RunRef
from chiron_api.client.call import Call, Wait, get
from chiron_api.client.descriptors import EventMethod, ListMethod, Method
from chiron_api.client.requests import Request
from chiron_api.client.targets import id_of, target_of


def add_document(subject: str, path: str, content: bytes) -> Call[DocumentReceipt]:
    """Add a document to a subject, so that its agents find it, in place of one of the same path.

    Args:
        path: What it is called there; its ending says how it is read: `papers/ice.pdf`.
        content: The file as it is.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/documents",
        DocumentReceipt,
        target=subject,
        query={"path": path},
        content=content,
        headers={"Content-Type": "application/octet-stream"},
        is_repeatable=True,
    )


def call_tool(name: str, arguments: dict[str, Any]) -> Call[Any]:
    """Run a tool and commit what it wrote; what it gave back."""
    return Call("POST", "/v1/tools/{name}", ToolResult, target=name, part="result", body=arguments)


def events(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    after: str | None = None,
    history: bool = False,
    text: bool = False,
) -> Call[Any]:
    """The events of a batch, or of a `run`, to the final one, as they happen.

    A `Snapshot` comes first, whose sums count what came before, then the last 50 events; with `history` or `after` none.
    After a cut the stream is opened again where it ended: none is missing and none comes twice.

    Args:
        after: The id of the last event that is not to come again, `last_id` of an earlier stream.
        history: All events from the first one on.
        text: Also the model's words as they come, which are stored nowhere and lost in a cut.
    """
    folder, target = target_of(batch=batch, run=run)
    query = {name: True for name, is_set in (("history", history), ("text", text)) if is_set}
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
    return get(f"/v1/{folder}/{{id}}/events", None, target=target, query=query, headers=headers)


def results(batch: BatchRef) -> Call[RunResult]:
    """All runs of a batch in the order of its topics, in their present states."""
    return get("/v1/batches/{id}/results", RunResult, target=id_of("batch", batch))


def wait(batch: BatchRef, *, timeout_s: float | None = None) -> Wait[Batch]:
    """Wait until a batch is finished, or paused; return it.

    Raises:
        StillOpen: `timeout_s` have passed before.
    """
    return Wait(get("/v1/batches/{id}", Batch, target=id_of("batch", batch)), timeout_s)


def wait_for_run(run: RunRef, *, timeout_s: float | None = None) -> Wait[Run]:
    """Wait for a run as `wait` does for a batch; return it."""
    return Wait(get("/v1/runs/{id}", Run, target=id_of("run", run)), timeout_s)


class Methods(ActMethods):
    """The methods that both clients have."""

    add_document = Method(add_document)
    call_tool = Method(call_tool)
    events = EventMethod(events)
    results = ListMethod(results)
    wait = Method(wait)
    wait_for_run = Method(wait_for_run)

    @Request("GET /healthz")
    def health(self) -> Health:
        """Whether the server is alive."""

    @Request("GET /readyz")
    def readiness(self) -> Health:
        """Whether Postgres answers and its schema is up to date. Raises Unavailable otherwise, after its patience."""
