from enum import StrEnum


class RowFormat(StrEnum):
    """What rows can be written as."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
