from typing import Any

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line

cli = typer.Typer()


@cli.command()
def skills(as_json: AsJson = False) -> None:
    """List the skills that every agent can load, where each lies, and what is wrong with those that are left out.

    A skill is a folder with a SKILL.md in `.chiron/skills` or `.agents/skills` here, in a folder of CHIRON_SKILLS, or in
    `skills` of CHIRON_HOME. The first of a name wins, in this order.
    """
    from chiron_api.views.skills import skill_rows

    rows = skill_rows()
    if as_json:
        for row in rows:
            typer.echo(json_line(row))
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        typer.echo("\n".join(_lines(row, width)))


def _lines(row: dict[str, Any], width: int) -> list[str]:
    margin = " " * (width + 2)
    if row["state"] == "left out":
        head = f"{one_line(row['name']):{width}}  is left out: {one_line(row['reason'])}"
        return [head, f"{margin}{one_line(row['folder'])}"]
    state = "" if row["state"] == "offered" else " (shadowed by one of the same name)"
    trust = ", trusted" if row["trusted"] else ""
    tools = [f"{margin}tools: {', '.join(row['tools'])}"] if row["tools"] else []
    return [
        f"{one_line(row['name']):{width}}  {one_line(row['description'], chars_max=160)}{state}",
        f"{margin}{row['source']}{trust}: {one_line(row['folder'])}",
        *tools,
        *(f"{margin}! {one_line(warning)}" for warning in row["warnings"]),
    ]
