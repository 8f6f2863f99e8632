"""The commands as `chiron --help` shows them, so that it imports none of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """A command in the overview: the module of this folder that has it, and a sentence."""

    module: str
    sentence: str


GROUPS: dict[str, dict[str, Summary]] = {
    "Submit and watch": {
        "submit": Summary("submit", "Submit topics to be researched, as one batch."),
        "watch": Summary("watch", "Follow a batch or a run until it ends."),
        "list": Summary("show", "List the batches, newest first."),
        "runs": Summary("runs", "List the runs of all batches, newest first."),
        "show": Summary("show", "Show a batch, a run or a fact."),
        "results": Summary("results", "Show what the runs of a batch came to."),
        "logs": Summary("logs", "Show all that is known of how a run went."),
        "say": Summary("say", "Continue the conversation with a run."),
        "pause": Summary("steering", "Put runs aside until they are resumed."),
        "resume": Summary("steering", "Let paused runs go on."),
        "cancel": Summary("steering", "End runs. What they found stays."),
        "retry": Summary("steering", "Try failed or cancelled runs again."),
        "subscriptions": Summary("subscriptions", "Have topics researched again at set times."),
        "webhooks": Summary("webhooks", "Hear of ends, pauses, budgets and news elsewhere."),
        "open": Summary("open", "Open the page in a browser, signed in."),
        "demo": Summary("demo", "Research a real batch, or learn a subject, without a key."),
    },
    "Knowledge": {
        "learn": Summary("learn", "Learn a subject: a map of what to know, and quizzes."),
        "search": Summary("search", "Search what is known, by meaning and by words."),
        "facts": Summary("facts", "List facts, newest first."),
        "report": Summary("report", "Write what is known as a report with its sources."),
        "verify": Summary("verify", "Check a crate of evidence, wherever it comes from."),
        "diff": Summary("diff", "Show what has become of a subject."),
        "check": Summary("check", "Ask a model whether quotes support their facts."),
        "recheck": Summary("recheck", "Read the sources of facts again, and show what changed."),
        "corpus": Summary("corpus", "Use documents of your own as sources."),
        "export": Summary("export", "Export facts with sources, links and history."),
        "import": Summary("import", "Import facts that were exported."),
        "withdraw": Summary("withdraw", "Take a fact out of searches and reports."),
        "recompute": Summary("recompute", "Compute the confidence of every fact anew."),
        "reembed": Summary("reembed", "Embed facts anew after a change of the model."),
    },
    "Operations": {
        "up": Summary("up", "Start the local stack."),
        "down": Summary("up", "Stop the local stack. The data stays."),
        "status": Summary("up", "Show the parts of the local stack."),
        "doctor": Summary("doctor", "Look at everything that runs need."),
        "worker": Summary("worker", "Run one worker here."),
        "api": Summary("api", "Serve the HTTP API here."),
        "flower": Summary("flower", "Run Flower here, a page that shows workers and runs."),
        "keys": Summary("keys", "Make, list and revoke keys of programs and people."),
        "audit": Summary("audit", "Show who changed what."),
        "key": Summary("key", "Print the key of the HTTP API, or Flower's password."),
        "migrate": Summary("migrate", "Bring the database's schema up to date."),
        "backup": Summary("backup", "Write everything into one file."),
        "restore": Summary("restore", "Put a backup back."),
        "delete": Summary("delete", "Delete a finished run or batch for good."),
        "prune": Summary("prune", "Drop the journals, events and audit entries of past months."),
    },
    "Extending": {
        "tools": Summary("tools", "List the tools that every agent is offered."),
        "skills": Summary("skills", "List the skills that every agent can load."),
        "mcp": Summary("mcp", "Offer the knowledge and research to MCP clients."),
        "mcp-servers": Summary("mcp_servers", "Show the MCP servers whose tools agents are offered."),
        "offline-model": Summary("offline_model", "Serve a stand-in for a language model."),
    },
}
SUMMARIES = {name: summary for group in GROUPS.values() for name, summary in group.items()}
