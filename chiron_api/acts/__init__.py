"""Acts: what a person or a program can do. Each is written once, in the module of its noun, and its faces derive from it.

The route, the client's methods, the tool of MCP, what a key needs for it, and the entry in the audit trail come from the
declaration. Commands and forms call the act itself.
"""
