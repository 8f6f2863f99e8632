"""Each of them is compared with the known ones."""

TOOL = "store_knowledge"
ARGUMENTS = {f"contents{n}": n for n in range(19_000)}
