"""Each part is JSON that is compared with the structured content."""

RESULT = {
    "content": [{"type": "text", "text": "[" + "1," * 3_500 + "1]"}] * 500,
    "structuredContent": {"result": [1] * 3_500 + [2]},
}
