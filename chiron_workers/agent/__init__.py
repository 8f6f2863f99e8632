"""The agent loop: what a run does with its journal, the model and its tools."""
