"""The role that composes a report from stored facts alone."""
