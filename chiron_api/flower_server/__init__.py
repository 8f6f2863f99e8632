"""Flower behind a gate of ours, with a configuration of ours."""
