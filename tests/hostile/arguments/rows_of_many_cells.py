"""Rows with more cells than a table has columns, each of another form."""

TOOL = "hand_in_rows"
CELL = {"value": "1" * 2_000, "facts": ["x" * 500] * 12, "reason": "=" * 2_000}
ARGUMENTS = {"rows": [{"cells": {f"c{n}": CELL for n in range(200)}, "replaces": "x"} for _ in range(50)]}
