"""What a run is told by Chiron itself, as a question in its journal; nobody said it, so it begins no count anew."""

RESULT_MISSING = (
    "You have not handed in your result: call `{tool}` for that, and mend what it refuses. The run ends only then, since "
    "words alone are not kept."
)
STUCK = (
    "You were paused, since your last turns brought nothing new, and are to go on now. Do not make the same calls again: try "
    "another way, or finish with what you have. An answer that was cut off goes on from where it stopped."
)


def is_reminder(text: str) -> bool:
    """Whether a question is one of these, and leaves the count of turns as it is."""
    return text.startswith(RESULT_MISSING.partition("`")[0])
