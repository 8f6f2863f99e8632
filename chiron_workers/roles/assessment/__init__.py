"""The role that writes questions about a node from stored facts alone."""
