"""What the time of a run went to, by the names that people read."""

from chiron_api.answers.runs import TimedTurns

SHOWN_FROM_S = 0.05


def time_sums(turns: TimedTurns) -> dict[str, float]:
    """Seconds by what they went to: the model and tools, and each kind of waiting that took any."""
    waiting = turns.waiting
    waits = {
        "in the queue": waiting.queue_s,
        "waiting for the model": waiting.cooldown_s,
        "paused": waiting.pause_s,
        "changing workers": waiting.handover_s,
    }
    shown_waits = {name: seconds for name, seconds in waits.items() if seconds >= SHOWN_FROM_S}
    return {"model": turns.model_s, "tools": turns.tools_s} | shown_waits
