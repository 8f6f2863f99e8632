"""The answer as far as it is written: a reply that was cut and the replies that continue it are one answer."""

from dataclasses import dataclass

from chiron_workers.runs.entries import Reply

CUT_STOPS = ("max_tokens", "pause_turn")  # the next reply goes on with this one


@dataclass(frozen=True, slots=True)
class Draft:
    """The words of the latest reply behind those that it continues; `seam` None once the answer is at its end."""

    text: str = ""
    seam: str | None = None

    def followed_by(self, reply: Reply) -> "Draft":
        """The draft with the next reply: it continues a cut one, and begins another answer after a whole one."""
        text = reply.text if self.seam is None else _joined(self.text, reply.text, self.seam)
        return Draft(text, _seam_behind(reply) if reply.stop in CUT_STOPS else None)


def _joined(text: str, continuation: str, seam: str) -> str:
    return f"{text}{seam}{continuation}" if text and continuation else text or continuation


def _seam_behind(reply: Reply) -> str:
    # A limit cuts text anywhere, also in a word. Anything else ends a block, and blocks stand apart.
    last_type = reply.content[-1]["type"] if reply.content else ""
    return "" if reply.stop == "max_tokens" and last_type == "text" else "\n\n"
