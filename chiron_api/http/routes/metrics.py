from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from chiron_api.http.exposition import Exposition
from chiron_api.http.routing import api_router

router = api_router("Metrics")


@router.get("/metrics", summary="Show the metrics", response_class=PlainTextResponse)
async def show_metrics(request: Request) -> Response:
    """Runs by state, tokens, USD, durations, errors and lags of all workers, in Prometheus' text format."""
    exposition: Exposition = request.state.exposition
    return Response(await exposition.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
