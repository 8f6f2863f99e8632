"""What each kind of event says: the fields of its `data`, as the page of events lists them."""

from collections.abc import Mapping

from chiron_workers.states import EventKind

QUEUE_FIELDS = {
    "role": "the role of the run",
    "topic": "its topic",
    "reason": "why it goes on, where somebody asked for that",
    "continued": "true where a message continues a run that had ended",
}
START_FIELDS = {
    "worker": "the worker that plays it",
    "attempt": "how often it was started after a failure, from 1",
}
STOP_FIELDS = {"reason": "why"}

REMEDIES = {
    "remedies": "remedies, each with its `action`, its target (`noun`, `target`, empty for the run) and its `arguments`"
}

FIELDS: Mapping[EventKind, Mapping[str, str]] = {
    EventKind.RUN_QUEUED: QUEUE_FIELDS,
    EventKind.RUN_STARTED: START_FIELDS,
    EventKind.RUN_RESUMED: START_FIELDS,
    EventKind.MODEL_THOUGHT: {
        "turn": "the number of the reply that was thought about, from 1",
        "text": "the first 2,000 characters of what the model shows of its thinking",
    },
    EventKind.MODEL_REPLIED: {
        "turn": "the number of the reply, from 1",
        "stop": "why it ended, as the Messages API says it, such as tool_use or end_turn",
        "input_tokens": "of the request, neither read from the prompt cache nor written to it",
        "output_tokens": "of the reply",
        "cache_write_tokens": "written to the prompt cache",
        "cache_read_tokens": "read from it",
        "cost_usd": "of the call; null where the price of the model is not known",
        "text": "its first 300 characters",
        "usage_unknown": "true where the server does not say what the call took: then all that was reserved for it counts",
        "reported": "what the server reports, where that is more than was charged: `tokens`, and `usd` at the model's price",
        "waited_ms": "how long the call waited before the request that brought the reply, from half a second on: for rate "
        "limits, cool-downs, money that other calls had reserved, or after tries that failed",
        "folds": "true for a summary that ends an epoch",
    },
    EventKind.TOOL_CALLED: {
        "call_id": "the id of the call",
        "name": "the tool",
        "arguments": "at most 20 of them, each with at most 300 characters",
    },
    EventKind.TOOL_RETURNED: {
        "call_id": "the id of the call",
        "name": "the tool",
        "is_error": "whether it failed; the run goes on",
        "ms": "how long it took",
        "chars": "the length of what the model is shown",
        "error": "the first 300 characters of an error",
        "confirmed": "how many facts it met that another run had stored, if any",
        "model_calls": "how often it asked the model; with the tokens and the cost of these calls, as in model.replied",
        "input_tokens": "of these calls, neither read from the prompt cache nor written to it",
        "output_tokens": "of their replies",
        "cache_write_tokens": "written to the prompt cache",
        "cache_read_tokens": "read from it",
        "cost_usd": "of these calls; null where that of one is not known",
        "service_calls": "how often it asked hosted embedding models and search providers that cost something",
        "services_usd": "what these charge; null where the price of one is not known",
    },
    EventKind.FACT_STORED: {
        "fact_id": "the fact",
        "content": "its statement",
        "source_url": "the source it rests on",
        "confidence": "from 0 to 1",
        "topic_path": "where it belongs",
        "status": "accepted, disputed or candidate",
        "quote_state": "verified where the quote stands in what was read, else unverified",
        "verdict": "whether the quote supports the statement: supported or partly; unchecked where no model has judged it",
        "contradicts": "ids of the facts that it contradicts",
    },
    EventKind.NODE_SAVED: {
        "status": "saved or updated",
        "node_id": "the node of the coverage map",
        "subject_id": "its subject",
        "title": "its title",
        "depth": "its distance from the root",
        "is_goal_critical": "whether the learning goal needs it",
    },
    EventKind.RUN_PAUSED: STOP_FIELDS | REMEDIES,
    EventKind.RUN_HANDED_BACK: {
        "reason": "why another worker takes it up, or the same one later",
        "worker": "the worker that it was taken from",
        "waits_for": "model, where its model is unavailable",
        "ready_in_s": "seconds until it may be taken up",
    },
    EventKind.RUN_COMPLETED: {
        "answer": "the first 300 characters of the answer",
        "silent": "true where nothing new was found",
        "cited": "how many facts that it neither stored nor confirmed its answer and its rows cite, if any",
        "nothing_found": "true where it stored, confirmed and cites no fact",
    },
    EventKind.RUN_FAILED: {
        "kind": "the kind of failure, in one word",
        "message": "what happened",
        **REMEDIES,
    },
    EventKind.RUN_CANCELLED: STOP_FIELDS,
    EventKind.BATCH_COMPLETED: {
        "runs": "how many of its runs are in each state",
        "silent": "how many of them found nothing new",
        "nothing_found": "how many of them completed and stored, confirmed and cite no fact",
    },
    EventKind.BUDGET_REACHED: STOP_FIELDS,
    EventKind.TEXT_DELTA: {"text": "words of a reply as they come; published only, never stored"},
    # Where a stream begins; never stored. `seq` is null, and of a batch `run_id` too.
    EventKind.SNAPSHOT: {
        "runs": "how many runs are in each state",
        "events": "how many events there are so far",
        "left_out": "how many of them are older than those that follow",
        "facts": "how many facts the runs have stored first",
        "confirmed": "how often they met one that another run had stored",
        "cited": "how many further facts their answers and rows cite",
        "nothing_found": "how many runs completed and stored, confirmed and cite no fact",
        "turns": "how many replies the model has given",
        "input_tokens": "of all requests, neither read from the prompt cache nor written to it",
        "output_tokens": "of all replies",
        "cache_write_tokens": "written to the prompt cache",
        "cache_read_tokens": "read from it",
        "spent_usd": "what it has cost; null where the price of a call is not known",
        "spent_usd_min": "what is known of it",
        "unpriced_calls": "how many calls nobody knows the price of",
        "services_usd": "what hosted embedding models and search providers cost of it; null where a price is not known",
        "services_usd_min": "what is known of that",
        "unconfirmed_usd": "what calls may have cost whose replies are lost; null where nobody knows",
        "unconfirmed_calls": "how many of them there are",
        "reserved_usd": "what calls in flight may cost",
        "started_at": "when the first run started; null where none has",
    },
}
