from typing import Any

from chiron_workers.knowledge.facts.fact_details import FactDetails


def fact_page(fact: FactDetails) -> dict[str, Any]:
    """The fields of a fact; the explanation of its confidence is called `reckoning`, as it always was."""
    return {
        "reckoning" if name == "explanation" else name: getattr(fact, name) for name in FactDetails.__slots__
    }
