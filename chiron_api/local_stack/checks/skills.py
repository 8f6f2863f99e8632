from chiron_api.local_stack.checks import Check
from chiron_api.views.skills import skill_rows
from chiron_workers.settings import Settings

ORDER = 50


def checks(_: Settings) -> list[Check]:
    """How many skills there are, which one shadows another, and each that is left out."""
    rows = skill_rows()
    offered_by_name = {row["name"]: row for row in rows if row["state"] == "offered"}
    results = [
        Check(
            "skills", f"{row['folder']} is left out: {row['reason']}", "Correct it, or take the folder away."
        )
        for row in rows
        if row["state"] == "left out"
    ]
    finding = f"{len(offered_by_name)} are offered to agents."
    for row in rows:
        if row["state"] == "shadowed":
            finding += f" {offered_by_name[row['name']]['folder']} is taken for {row['name']}, and not {row['folder']}."
    return results or [Check("skills", finding)]
