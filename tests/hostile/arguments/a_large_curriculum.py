"""Nodes by the thousand, each with a wrong member."""

TOOL = "save_curriculum"
ARGUMENTS = {"subject_id": "moon", "nodes": [{"id": n, "titel": "x"} for n in range(6_000)]}
