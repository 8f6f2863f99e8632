"""The client for asyncio."""

from chiron_api.answers.runs import Batch, Run, RunResult
from chiron_api.client.calls import batches as batch_calls
from chiron_api.client.calls import facts as fact_calls
from chiron_api.client.calls import keys as key_calls
from chiron_api.client.calls import learning as learning_calls
from chiron_api.client.calls import lessons as lesson_calls
from chiron_api.client.calls import reports as report_calls
from chiron_api.client.calls import rows as row_calls
from chiron_api.client.calls import runs as run_calls
from chiron_api.client.calls import steering as steering_calls
from chiron_api.client.calls import subjects as subject_calls
from chiron_api.client.calls import subscriptions as subscription_calls
from chiron_api.client.calls import tools as tool_calls
from chiron_api.client.calls import webhooks as webhook_calls
from chiron_api.client.concurrent import AsyncEventStream, AsyncItems, AsyncShell, listing, value
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

    submit = value(batch_calls.submit)
    batch = value(batch_calls.batch)
    start = value(run_calls.start)
    run = value(run_calls.run)
    runs = listing(run_calls.runs)
    say = value(run_calls.say)
    batches = listing(batch_calls.batches)
    rows = listing(row_calls.rows)
    rows_document = value(row_calls.rows_document)

    delete = value(steering_calls.delete)

    search = value(fact_calls.search)

    subjects = value(subject_calls.subjects)
    subject = value(subject_calls.subject)
    subject_facts = listing(subject_calls.subject_facts)
    documents = value(subject_calls.documents)
    add_document = value(subject_calls.add_document)
    difference = value(subject_calls.difference)
    check = value(subject_calls.check)
    order_recheck = value(subject_calls.order_recheck)
    recheck = value(subject_calls.recheck)

    coverage_map = value(learning_calls.coverage_map)
    map_document = value(learning_calls.map_document)

    report = value(report_calls.report)
    report_document = value(report_calls.report_document)
    write_report = value(report_calls.write_report)

    lesson = value(lesson_calls.lesson)
    lesson_document = value(lesson_calls.lesson_document)
    lessons = value(lesson_calls.lessons)
    write_lesson = value(lesson_calls.write_lesson)

    subscribe = value(subscription_calls.subscribe)
    subscription = value(subscription_calls.subscription)
    subscription_times = value(subscription_calls.subscription_times)
    pause_subscription = value(subscription_calls.pause_subscription)
    resume_subscription = value(subscription_calls.resume_subscription)
    delete_subscription = value(subscription_calls.delete_subscription)
    subscriptions = listing(subscription_calls.subscriptions)

    create_webhook = value(webhook_calls.create_webhook)
    webhooks = listing(webhook_calls.webhooks)
    webhook = value(webhook_calls.webhook)
    remove_webhook = value(webhook_calls.remove_webhook)
    send_webhook_test = value(webhook_calls.send_webhook_test)
    deliveries = listing(webhook_calls.deliveries)
    resend_delivery = value(webhook_calls.resend_delivery)

    create_key = value(key_calls.create_key)
    keys = value(key_calls.keys)
    revoke_key = value(key_calls.revoke_key)
    audit_trail = listing(key_calls.audit_trail)

    tools = value(tool_calls.tools)
    call_tool = value(tool_calls.call_tool)
    skills = value(tool_calls.skills)
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
        call = run_calls.events(batch, run=run, after=after, history=history, text=text)
        return AsyncEventStream(EventFlow(self._server, call), self._wire())

    def results(self, batch: BatchRef) -> AsyncItems[RunResult]:
        """All runs of a batch in the order of its topics, as far as they have come."""
        return self._items(result_flow(self._server, batch_calls.results(batch)))

    async def wait(self, batch: BatchRef, *, timeout_s: float | None = None) -> Batch:
        """The batch once it goes on no more by itself: it is finished, or paused until somebody does something.

        Raises:
            StillOpen: `timeout_s` have passed before.
        """
        return await self._value(wait_for_end(self._server, batch_calls.batch(batch), timeout_s))

    async def wait_for_run(self, run: RunRef, *, timeout_s: float | None = None) -> Run:
        """The run once it goes on no more by itself, as `wait` has it for a batch."""
        return await self._value(wait_for_end(self._server, run_calls.run(run), timeout_s))
