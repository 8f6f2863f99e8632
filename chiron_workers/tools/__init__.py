from functools import cache

from chiron_workers.toolkit.registry import Registry


@cache
def registry() -> Registry:
    """Every tool of this package: a module put beside this one is offered without another edit."""
    tools = Registry()
    tools.load_package(__name__)
    return tools
