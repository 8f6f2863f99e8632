"""Reading web pages: politely towards hosts, and once for all runs of a batch."""
