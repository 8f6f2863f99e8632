import importlib
from typing import Any

from chiron_workers.documents.document import UnreadableError

# Distribution names of modules, where they differ.
PACKAGES = {"docx": "python-docx", "python_calamine": "python-calamine"}


def import_optional(module: str) -> Any:
    """Import a parser that an extra installs. Raises UnreadableError with the command to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = PACKAGES.get(module, module)
        raise UnreadableError(
            f"the package {package} is not installed, which reads such files; run `pip install {package}`"
        ) from None
