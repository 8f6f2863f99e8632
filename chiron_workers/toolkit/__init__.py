from chiron_workers.toolkit.registry import Registry
from chiron_workers.toolkit.tool import Tool, tool

__all__ = ["Registry", "Tool", "tool"]
