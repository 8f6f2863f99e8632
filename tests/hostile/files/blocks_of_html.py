"""Millions of paragraphs."""

NAME = "a.html"
CONTENT = b"<html><body>" + b"<p>a b</p>" * 900_000
