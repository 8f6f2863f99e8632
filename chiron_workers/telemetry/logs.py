import logging
import sys

import structlog

from chiron_workers.public_addresses import without_secrets_within


def log_to_stderr(level: str) -> None:
    """Structured lines on stderr, ours and the libraries' alike: text on a terminal, JSON elsewhere."""
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,  # the run and the batch, while one is played
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*processors, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=processors,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _hide_secrets, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for library in ("httpx", "httpx2", "anthropic", "aiohttp.access", "urllib3"):
        logging.getLogger(library).setLevel("WARNING")


def _hide_secrets(
    _logger: object, _method: str, line: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """The line with addresses that have neither passwords nor keys: of sources, servers and databases."""
    public_line: structlog.typing.EventDict = without_secrets_within(dict(line))
    return public_line
