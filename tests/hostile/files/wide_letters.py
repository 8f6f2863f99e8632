"""Four bytes for each letter, here as there."""

NAME = "a.md"
CONTENT = "🌊".encode() * 12_000_000
