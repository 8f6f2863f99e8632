"""The rows of a batch as files: CSV, JSON and XLSX."""
