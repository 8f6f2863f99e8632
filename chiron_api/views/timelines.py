"""What the time of a run went to, by the names that people read."""

from chiron_api.answers.runs import TimedTurns

SHOWN_FROM_S = 0.05


def time_sums(turns: TimedTurns) -> dict[str, float]:
    """Seconds by what they went to: the model and tools, and each kind of waiting that took any."""
    waits = turns.waits
    spans = {
        "in the queue": waits.queue_s,
        "waiting for the model": waits.cooldown_s,
        "paused": waits.pause_s,
        "changing workers": waits.handover_s,
    }
    long_spans = {name: seconds for name, seconds in spans.items() if seconds >= SHOWN_FROM_S}
    return {"model": turns.model_s, "tools": turns.tools_s} | long_spans
