"""The client for asyncio."""

from chiron_api.answers.runs import Batch, Run, RunResult
from chiron_api.client import derived_calls
from chiron_api.client.calls import batches as batch_calls
from chiron_api.client.calls import documents as document_calls
from chiron_api.client.calls import learning as learning_calls
from chiron_api.client.calls import tools as tool_calls
from chiron_api.client.concurrent import AsyncEventStream, AsyncItems, AsyncShell, value
from chiron_api.client.derived_methods import ActMethods
from chiron_api.client.flows.requests import wait_for_end
from chiron_api.client.flows.streams import EventFlow
from chiron_api.client.flows.streams import results as result_flow
from chiron_api.client.targets import BatchRef, RunRef


class AsyncChiron(ActMethods, AsyncShell):
    """Chiron over HTTP. Use it as `async with AsyncChiron() as chiron`, or close it.

    Args:
        base_url: Where the API is; without it that of CHIRON_API_URL, else the one of this machine.
        key: Without it that of CHIRON_API_KEY, else for this machine the one that CHIRON_HOME keeps.
        timeout_s: How long an answer may take.
        patience_s: How long a server that has answered before is waited for when it is away.

    Every method raises a ChironError: Refused, NotFound, RateLimited, Unavailable or Unreadable.
    """

    add_document = value(document_calls.add_document)

    coverage_map = value(learning_calls.coverage_map)
    map_document = value(learning_calls.map_document)

    report_document = value(document_calls.report_document)
    lesson_document = value(document_calls.lesson_document)
    rows_document = value(document_calls.rows_document)

    call_tool = value(tool_calls.call_tool)
    health = value(tool_calls.health)
    readiness = value(tool_calls.readiness)

    def events(
        self,
        batch: BatchRef | None = None,
        *,
        run: RunRef | None = None,
        after: str | None = None,
        history: bool = False,
        text: bool = False,
    ) -> AsyncEventStream:
        """The events of a batch, or of a `run`, to the final one, as they happen.

        A `Snapshot` comes first, whose sums count what came before, then the last 50 events; with `history` or `after` none.
        After a cut the stream is opened again where it ended: none is missing and none comes twice.

        Args:
            after: The id of the last event that is not to come again, `last_id` of an earlier stream.
            history: All events from the first one on.
            text: Also the model's words as they come, which are stored nowhere and lost in a cut.
        """
        call = batch_calls.events(batch, run=run, after=after, history=history, text=text)
        return AsyncEventStream(EventFlow(self._server, call), self._wire())

    def results(self, batch: BatchRef) -> AsyncItems[RunResult]:
        """All runs of a batch in the order of its topics, as far as they have come."""
        return self._items(result_flow(self._server, batch_calls.results(batch)))

    async def wait(self, batch: BatchRef, *, timeout_s: float | None = None) -> Batch:
        """The batch once it goes on no more by itself: it is finished, or paused until somebody does something.

        Raises:
            StillOpen: `timeout_s` have passed before.
        """
        return await self._value(wait_for_end(self._server, derived_calls.batch(batch), timeout_s))

    async def wait_for_run(self, run: RunRef, *, timeout_s: float | None = None) -> Run:
        """The run once it goes on no more by itself, as `wait` has it for a batch."""
        return await self._value(wait_for_end(self._server, derived_calls.run(run), timeout_s))
