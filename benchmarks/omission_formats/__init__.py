"""Formats whose readers are tried with generated documents: a module a format, found by its place, with a `FORMAT`."""
