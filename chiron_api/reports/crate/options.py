from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_api.reports.crate.privacy import TextChoice

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class PackingOptions:
    """Which sources' texts go into a crate, whether it may overwrite another one, and the key that signs it."""

    texts: TextChoice = TextChoice.PUBLIC
    force: bool = False
    key: "Ed25519PrivateKey | None" = None
