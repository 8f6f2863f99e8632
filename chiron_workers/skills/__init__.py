"""Skills: folders with a SKILL.md that teach an agent a kind of work, with code of their own where they are trusted."""

from chiron_workers.skills.base_skill import BaseSkill
from chiron_workers.skills.process_skills import Skills, skills
from chiron_workers.skills.skill import Skill

__all__ = ["BaseSkill", "Skill", "Skills", "skills"]
