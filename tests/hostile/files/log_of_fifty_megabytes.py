"""A text of fifty megabytes, as long as a file may be."""

NAME = "a.txt"
CONTENT = "The tide rises, and one letter is wide: 🌊\n".encode() * 1_050_000
