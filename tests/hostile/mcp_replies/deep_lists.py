"""Lists in lists."""

RESULT = {"content": [], "structuredContent": {"x": eval("[" * 90 + "]" * 90)}}  # noqa: S307
