"""Lessons on the nodes of coverage maps, written from stored facts alone."""
