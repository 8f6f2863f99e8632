"""What a run is told to be: each folder here is a role, with its prompt, its first question and what it may do."""

from chiron_workers.roles.assignment import PlannedRun
from chiron_workers.roles.background import background_of
from chiron_workers.roles.prompts import first_question, system_prompt
from chiron_workers.roles.role import HAND_IN_ROWS, STORE_FACTS, Role, RoleName, role_names, role_of

__all__ = [
    "HAND_IN_ROWS",
    "STORE_FACTS",
    "PlannedRun",
    "Role",
    "RoleName",
    "background_of",
    "first_question",
    "role_names",
    "role_of",
    "system_prompt",
]
