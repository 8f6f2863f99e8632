"""Each character stands for three."""

BODY = "…".encode() * 1_600_000
TYPE = "text/plain; charset=utf-8"
