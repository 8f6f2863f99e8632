"""What routes say of their answers beside the model of a good one; `document` adds what all of them share."""

from http import HTTPStatus
from typing import Any

from starlette.responses import Response

Responses = dict[int | str, dict[str, Any]]
MEANINGS = {
    HTTPStatus.BAD_REQUEST: "The body is not JSON, or a header cannot be read.",
    HTTPStatus.UNAUTHORIZED: "The key is missing, unknown, expired or revoked.",
    HTTPStatus.PAYMENT_REQUIRED: "The budget of the key has no room for it; nothing was written.",
    HTTPStatus.FORBIDDEN: "The scope of the key is too small, or a page of another origin sent the request.",
    HTTPStatus.NOT_FOUND: "There is nothing of this id or name.",
    HTTPStatus.REQUEST_TIMEOUT: "No more of the body came.",
    HTTPStatus.CONFLICT: "It is in no state for that; the problem says why.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is of another type than the operation takes.",
    HTTPStatus.MISDIRECTED_REQUEST: "The server does not answer under this name.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A field cannot be used; the problem names it.",
    HTTPStatus.TOO_MANY_REQUESTS: "The key has sent as many requests as it may; `Retry-After` says when it may again.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong in the server; its log has it.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Postgres or Redis cannot be reached now.",
    HTTPStatus.GATEWAY_TIMEOUT: "The tool took too long; nothing was written.",
}
LOCATION = {"headers": {"Location": {"description": "Where it is.", "schema": {"type": "string"}}}}


def _lines_of(media_type: str, item: str, description: str) -> Responses:
    schema = {
        "type": "string",
        "contentMediaType": media_type,
        "contentSchema": {"type": "array", "items": {"$ref": f"#/components/schemas/{item}"}},
    }
    return {200: {"description": description, "content": {media_type: {"schema": schema}}}}


RESULTS = _lines_of("application/jsonl", "RunResult", "A run on each line.")


class EventStream(Response):
    """Names the type of server-sent events to FastAPI."""

    media_type = "text/event-stream"


class JsonLines(Response):
    """Names the type of lines of JSON to FastAPI."""

    media_type = "application/jsonl"


def answers(*refusals: HTTPStatus, located: HTTPStatus | None = None) -> Responses:
    """Problems that an operation has beside those of all, and the status whose answer says where something is."""
    responses: Responses = {status.value: {"description": MEANINGS[status]} for status in refusals}
    return responses | ({located.value: LOCATION} if located else {})


EVENTS = (
    answers(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
    | _lines_of("text/event-stream", "ServerSentEvent", "Events, each with its kind as `event:`.")
    | {HTTPStatus.NO_CONTENT.value: {"description": "It is over: nothing follows the event that was named."}}
)
