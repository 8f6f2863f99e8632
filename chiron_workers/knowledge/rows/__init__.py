"""Answers in rows: what a run hands in for the columns of its batch, each cell held to its facts."""
