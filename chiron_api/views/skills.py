"""The skills of this machine as rows that commands, routes and the doctor share."""

from typing import Any

from chiron_workers.skills import Skill, skills
from chiron_workers.tools import registry


def skill_rows() -> list[dict[str, Any]]:
    """Every skill of the catalogue, with its `state`: offered, shadowed by one of the same name, or left out."""
    registry()  # Its names decide whether the tools of a skill can be used.
    catalogue = skills().catalogue()
    offered_rows = [_row(skill, "offered") for skill in catalogue.skills.values()]
    shadowed_rows = [_row(skill, "shadowed") for skill in catalogue.shadowed_skills]
    left_out_rows = [
        {"name": entry.folder.name, "state": "left out", "folder": str(entry.folder), "reason": entry.reason}
        for entry in catalogue.rejections
    ]
    return [*offered_rows, *shadowed_rows, *left_out_rows]


def _row(skill: Skill, state: str) -> dict[str, Any]:
    code = skills().codes.get(skill.name) if state == "offered" else None
    return {
        "name": skill.name,
        "state": state,
        "description": skill.description,
        "source": skill.source,
        "folder": str(skill.folder),
        "trusted": skill.is_trusted,
        "tools": [tool.name for tool in code.tools] if code is not None else [],
        "warnings": list(skill.warnings),
    }
