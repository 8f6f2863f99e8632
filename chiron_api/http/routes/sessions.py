from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.forms import read_form
from chiron_api.http.principals import COOKIE
from chiron_api.http.requests import services_of
from chiron_api.http.sign_in import forwarding_response, sign_in_response
from chiron_workers.access.sessions import close_session, trade_code
from chiron_workers.errors import Unauthenticated


async def open_session(request: Request) -> Response:
    """Sign a browser in with the code of a link, once, and lead it on to the start page."""
    try:
        token = await trade_code(services_of(request).pool, request.query_params.get("code", ""))
    except Unauthenticated as error:
        return sign_in_response(str(error))
    response = forwarding_response()
    response.set_cookie(
        COOKIE, token, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return response


async def end_session(request: Request) -> Response:
    """Sign the browser out."""
    await read_form(request)
    await close_session(services_of(request).pool, request.cookies.get(COOKIE, ""))
    response = sign_in_response("You are signed out. `chiron open` signs in again.", HTTPStatus.OK)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


routes = [
    Route("/open", open_session, methods=["GET"]),
    Route("/close", end_session, methods=["POST"]),
]
