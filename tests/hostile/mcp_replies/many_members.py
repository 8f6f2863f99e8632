"""Members by the hundred thousand."""

RESULT = {"content": [], "structuredContent": {f"k{n}": n for n in range(180_000)}}
