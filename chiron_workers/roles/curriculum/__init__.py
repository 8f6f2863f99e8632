"""The role that draws up the coverage map of a subject from its learning goal."""
