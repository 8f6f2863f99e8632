"""Each of them is a problem."""

TOOL = "store_knowledge"
ARGUMENTS = {"contradictions": [[]] * 19_000}
