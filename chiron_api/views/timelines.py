"""The time of a run by activity, with names for people."""

from chiron_api.answers.runs import TimedTurns, Waits

SHOWN_FROM_S = 0.05


def time_sums(turns: TimedTurns) -> dict[str, float]:
    """Seconds by activity: the model, tools, and each kind of waiting that occurred."""
    return {"model": turns.model_s, "tools": turns.tools_s} | wait_sums(turns.waits)


def wait_sums(waits: Waits) -> dict[str, float]:
    """Seconds by kind of waiting, of each kind that occurred."""
    spans = {
        "in the queue": waits.queue_s,
        "waiting for the model": waits.cooldown_s,
        "paused": waits.pause_s,
        "changing workers": waits.handover_s,
    }
    return {name: seconds for name, seconds in spans.items() if seconds >= SHOWN_FROM_S}
