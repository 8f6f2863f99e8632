"""The part of CSL's schema of input data that our records may use; what is not in it is refused, as there."""

NAME = {
    "type": "object",
    "properties": {
        name: {"type": "string", "minLength": 1}
        for name in ("family", "given", "non-dropping-particle", "suffix", "literal")
    },
    "additionalProperties": False,
    "anyOf": [{"required": ["family"]}, {"required": ["literal"]}],
}
DATE = {
    "type": "object",
    "properties": {
        "date-parts": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
            "minItems": 1,
            "maxItems": 2,
        }
    },
    "additionalProperties": False,
}
TEXTS = ("title", "URL", "DOI", "container-title", "keyword", "note")
CSL_DATA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {
                "enum": ["article", "article-journal", "book", "dataset", "document", "report", "webpage"]
            },
            "id": {"type": "string"},
            "author": {"type": "array", "items": NAME},
            "issued": DATE,
            "accessed": DATE,
            "custom": {"type": "object"},
            **{name: {"type": "string"} for name in TEXTS},
        },
        "required": ["type", "id"],
        "additionalProperties": False,
    },
}
