"""The time of a run by activity, with names for people."""

from chiron_api.answers.runs import TimedTurns

SHOWN_FROM_S = 0.05


def time_sums(turns: TimedTurns) -> dict[str, float]:
    """Seconds by activity: the model, tools, and each kind of waiting that occurred."""
    waits = turns.waits
    spans = {
        "in the queue": waits.queue_s,
        "waiting for the model": waits.cooldown_s,
        "paused": waits.pause_s,
        "changing workers": waits.handover_s,
    }
    long_spans = {name: seconds for name, seconds in spans.items() if seconds >= SHOWN_FROM_S}
    return {"model": turns.model_s, "tools": turns.tools_s} | long_spans
