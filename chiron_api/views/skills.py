"""What people are told of the skills of this machine."""

from typing import Any

from chiron_workers.skills import Skill, skills
from chiron_workers.tools import registry


def listed() -> list[dict[str, Any]]:
    """Every skill that was found, with its `state`: offered, shadowed by one of the same name, or left out."""
    registry()  # whose names decide whether the tools of a skill can be used
    found = skills().catalogue()
    offered = [_row(skill, "offered") for skill in found.skills.values()]
    shadowed = [_row(skill, "shadowed") for skill in found.shadowed_skills]
    left_out = [
        {"name": each.folder.name, "state": "left out", "folder": str(each.folder), "reason": each.reason}
        for each in found.rejections
    ]
    return [*offered, *shadowed, *left_out]


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
