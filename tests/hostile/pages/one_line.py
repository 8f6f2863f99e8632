"""A line of five million letters."""

BODY = b"<html><body><p>" + b"tide " * 990_000
TYPE = "text/html"
