"""The role that has facts from outside of runs held to their quotes."""
