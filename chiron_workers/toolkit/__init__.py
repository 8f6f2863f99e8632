from chiron_workers.toolkit.base_tool import BaseTool
from chiron_workers.toolkit.function_tool import tool
from chiron_workers.toolkit.registry import Registry
from chiron_workers.toolkit.tool import Tool

__all__ = ["BaseTool", "Registry", "Tool", "tool"]
