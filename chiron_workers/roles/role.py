import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, WithJsonSchema

from chiron_workers.errors import UsageError

FOLDER = files("chiron_workers.roles")
FILE, PROMPT, QUESTION = "role.toml", "prompt.md", "question.md"


class _File(BaseModel):
    """What the file role.toml may say."""

    model_config = ConfigDict(extra="forbid")

    tools: frozenset[str] = frozenset()
    result: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """What a run is told to be: `prompt` and `question` are templates of its system prompt and of what it is asked first.

    `tools` are the names of those it is offered; where it names none, all that are not for other roles. `result` names the
    tool by which a run hands in what it was for: it does not end before a call of it has succeeded.
    """

    name: str
    prompt: str
    question: str
    tools: frozenset[str] = frozenset()
    result: str = ""

    def may_call(self, tool: str, *, reserved_for: frozenset[str]) -> bool:
        """Whether its runs are offered a tool, which is for the roles `reserved_for`, or for every role."""
        return tool in self.tools if self.tools else not reserved_for or self.name in reserved_for


@cache
def role_names() -> tuple[str, ...]:
    """The roles a run can have: each folder of this package with a file role.toml makes one."""
    return tuple(sorted(folder.name for folder in FOLDER.iterdir() if (folder / FILE).is_file()))


@cache
def role_of(name: str) -> Role:
    """The role of that name. Raises UsageError if there is none, or its file says what no role has."""
    if name not in role_names():
        raise UsageError(f"There is no role {name!r}; there are {', '.join(role_names())}.")
    folder = FOLDER / name
    try:
        declared = _File.model_validate(tomllib.loads((folder / FILE).read_text("utf-8")))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in problem["loc"])
        raise UsageError(f"roles/{name}/{FILE}: {field}: {problem['msg']}.") from None
    except ValueError as error:
        raise UsageError(f"roles/{name}/{FILE}: {error}") from None
    prompt, question = ((folder / file).read_text("utf-8").strip() for file in (PROMPT, QUESTION))
    return Role(name, prompt, question, declared.tools, declared.result)


def _require_role(name: str) -> str:
    if name not in role_names():
        raise ValueError(f"must be one of {'|'.join(role_names())}")
    return name


# An argument of a tool: its schema lists the roles there are.
RoleName = Annotated[
    str, AfterValidator(_require_role), WithJsonSchema({"type": "string", "enum": list(role_names())})
]
