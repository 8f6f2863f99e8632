"""What a run is told to be: each file `<role>.md` here is the system prompt of a role, and makes that role."""

from chiron_workers.roles.prompts import PROMPTS, RoleName, first_question, role_names, system_prompt

__all__ = ["PROMPTS", "RoleName", "first_question", "role_names", "system_prompt"]
