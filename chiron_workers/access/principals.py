"""On whose behalf a request is answered, and how far that goes."""

from dataclasses import dataclass
from uuid import UUID

from chiron_workers.states import AccessScope

LOCAL_OWNER = "local"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request. Without a key it is the user of this machine, who may do everything."""

    owner: str = LOCAL_OWNER
    scope: AccessScope = AccessScope.ADMIN
    key_name: str | None = None
    key_id: UUID | None = None

    @property
    def scopes(self) -> frozenset[AccessScope]:
        """All that it may."""
        return frozenset(scope for scope in AccessScope if self.may(scope))

    @property
    def visible_owner(self) -> str | None:
        """Whose batches, runs and subscriptions it sees; None: those of all."""
        return None if self.scope is AccessScope.ADMIN else self.owner

    def may(self, scope: AccessScope) -> bool:
        """Whether its scope includes another."""
        order = list(AccessScope)
        return order.index(scope) <= order.index(self.scope)


LOCAL = Principal()
