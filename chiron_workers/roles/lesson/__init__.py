"""The role that teaches a node of a coverage map from stored facts alone."""
