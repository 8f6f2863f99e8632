from typing import Annotated

import typer

Subject = Annotated[str, typer.Argument(help="The subject, by its id or its name.")]
