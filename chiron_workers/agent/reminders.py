"""Questions that Chiron itself adds to a journal. They are not messages of a person, so they reset no count."""

# Journals are searched for these texts: a run that was reminded in other words counts as not reminded.

RESULT_MISSING = (
    "You have not handed in your result: call `{tool}` for that, and mend what it refuses. The run ends only then, since "
    "words alone are not kept."
)
# Anthropic's page on stop reasons advises a new message after an empty reply.
EMPTY = "Please continue: your last reply had no text and no tool call. Call a tool, or write your answer."
WRITTEN_CALL = (
    "Please continue: your last reply was a tool call written as text, so no tool ran. Make it a real tool call, or write "
    "your answer."
)
NO_CALLS = (
    "You have not called any tool, so your answer has no source and no fact is stored. Do the research with your tools "
    "before you answer."
)
TRY_ANOTHER_WAY = (
    "You were paused because your last turns brought nothing new, and may go on now. Do not make the same calls again: try "
    "another way, or finish with what you have. If your answer was cut off, continue it from where it stopped."
)


def is_reminder(text: str) -> bool:
    """Whether a question is a reminder, which leaves the count of turns without progress as it is."""
    return text in (EMPTY, WRITTEN_CALL, NO_CALLS) or text.startswith(RESULT_MISSING.partition("`")[0])
