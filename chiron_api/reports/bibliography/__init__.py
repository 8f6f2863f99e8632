"""Bibliographic records of the sources that a report cites; `formats/` has how they are written."""
