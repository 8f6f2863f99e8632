"""Fetch web pages: from checked addresses only, as robots.txt allows, and once for all runs of a batch."""
