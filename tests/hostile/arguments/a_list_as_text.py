"""JSON within a text, of as many values as it has room for."""

TOOL = "store_knowledge"
ARGUMENTS = {"contradictions": "[" + "1," * 400_000 + "1]"}
