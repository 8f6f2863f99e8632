import importlib
from typing import Any

from chiron_workers.documents.document import UnreadableError

# Modules that are not called as the packages that bring them.
PACKAGES = {"docx": "python-docx", "python_calamine": "python-calamine"}


def import_optional(module: str) -> Any:
    """A module that only some files need. Raises UnreadableError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = PACKAGES.get(module, module)
        raise UnreadableError(
            f"the package {package} is not installed, which reads such files; run `pip install {package}`"
        ) from None
