"""Reading web pages: with manners towards hosts, and once for all runs of a batch."""
