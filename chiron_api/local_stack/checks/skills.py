from chiron_api.local_stack.checks.check import Check
from chiron_api.views.skills import skill_rows
from chiron_workers.settings import Settings


def skill_checks(_: Settings) -> list[Check]:
    """How many skills there are, which one shadows another, and each that is left out."""
    found = skill_rows()
    offered = {row["name"]: row for row in found if row["state"] == "offered"}
    checks = [
        Check(
            "skills", f"{row['folder']} is left out: {row['reason']}", "Correct it, or take the folder away."
        )
        for row in found
        if row["state"] == "left out"
    ]
    words = f"{len(offered)} are offered to agents."
    for row in found:
        if row["state"] == "shadowed":
            words += f" {offered[row['name']]['folder']} is taken for {row['name']}, and not {row['folder']}."
    return checks or [Check("skills", words)]
