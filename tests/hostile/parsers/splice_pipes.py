"""Moves pages instead of bytes, by which kernels have let others write to files that are only read."""

import os


def attempt(folder: str) -> None:
    (source, filled), (_, target) = os.pipe(), os.pipe()
    os.write(filled, b"x")
    os.splice(source, target, 1)
