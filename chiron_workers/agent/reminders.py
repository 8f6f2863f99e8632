"""What a run is told by Chiron itself, as a question in its journal; nobody said it, so it begins no count anew."""

RESULT_MISSING = (
    "You have not handed in your result: call `{tool}` for that, and mend what it refuses. The run ends only then, since "
    "words alone are not kept."
)
# An empty end of a turn is continued by a new message, as Anthropic's page on stop reasons advises.
EMPTY = "Please continue: your last reply had no words and made no tool call. Call a tool, or give your answer in words."
WRITTEN_CALL = (
    "Please continue: your last reply was a tool call written as text, which calls nothing. Make it as a tool call, or give "
    "your answer in words."
)
NO_CALLS = (
    "You have not called a single tool, so nothing that you say rests on a source and no fact is stored. Do the research with "
    "your tools before you answer."
)
STUCK = (
    "You were paused, since your last turns brought nothing new, and are to go on now. Do not make the same calls again: try "
    "another way, or finish with what you have. An answer that was cut off goes on from where it stopped."
)


def is_reminder(text: str) -> bool:
    """Whether a question is one of these, and leaves the count of turns as it is."""
    return text in (EMPTY, WRITTEN_CALL, NO_CALLS) or text.startswith(RESULT_MISSING.partition("`")[0])
