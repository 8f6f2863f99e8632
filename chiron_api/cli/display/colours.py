from chiron_workers.states import RunState

COLOURS = {
    RunState.QUEUED: "dim",
    RunState.RUNNING: "cyan",
    RunState.PAUSED: "yellow",
    RunState.COMPLETED: "green",
    RunState.FAILED: "red",
    RunState.CANCELLED: "magenta",
}
