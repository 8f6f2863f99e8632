"""A quiz on the page: one question at a time."""
