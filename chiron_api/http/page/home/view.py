"""Home: batches that need a person or run, the latest answers, money today, and news since the last visit."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.batches import BatchRequest
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.forms import Form
from chiron_api.http.page.home import home
from chiron_api.http.page.home.home import Home
from chiron_api.http.page.live import Frame, Part, live_parts
from chiron_api.http.page.rendering import page, render
from chiron_api.http.page.views import view

# The cookie: when the visit before this one was last seen, and when this one was, in seconds.
VISIT = "visit"
VISIT_PAUSE = timedelta(minutes=30)  # a longer absence begins a new visit
FIRST_VISIT = timedelta(days=1)
BANDS = ("attention", "running", "answers", "money", "news")


@dataclass(frozen=True, slots=True)
class Visit:
    """The news are what came since `since`."""

    since: datetime
    at: datetime

    def cookie(self) -> str:
        """The value of the cookie."""
        return f"{self.since.timestamp():.0f}.{self.at.timestamp():.0f}"


def visit_of(request: Request) -> Visit:
    """The visit that a request belongs to."""
    now = datetime.now(UTC)
    since, _, last = request.cookies.get(VISIT, "").partition(".")
    if not (
        since.isdecimal() and last.isdecimal() and len(since) == len(last) == len(str(int(now.timestamp())))
    ):
        # The same for all who come within a minute, so that they share what is read for them.
        return Visit(now.replace(second=0, microsecond=0) - FIRST_VISIT, now)
    last_seen = datetime.fromtimestamp(int(last), UTC)
    is_new = now - last_seen > VISIT_PAUSE
    return Visit(last_seen if is_new else datetime.fromtimestamp(int(since), UTC), now)


async def show_home(request: Request) -> Response:
    """The bands; without any batch a form with an example, and the subjects that all share."""
    visit, services = visit_of(request), services_of(request)
    if await home.has_batches(services):
        overview = await home.load(services, since=visit.since)
        answer = page(request, "home/page.html", section="/", home=overview)
    else:
        welcome = await home.load_welcome(services.pool)
        answer = page(request, "home/welcome.html", section="/", welcome=welcome, form=Form(BatchRequest))
    answer.set_cookie(VISIT, visit.cookie(), max_age=31_536_000, httponly=True, samesite="strict")
    return answer


async def live_home(request: Request) -> Response:
    """The bands as they change."""
    since, services = visit_of(request).since, services_of(request)

    async def load() -> Home:
        return await home.load(services, since=since)

    async def draw(overview: Home) -> Frame:
        parts = (
            Part(f"band-{name}", render(request, f"home/{name}.html", {"home": overview})) for name in BANDS
        )
        return Frame(tuple(parts))

    principal = services.principal
    return live_parts(request, ("home", principal.visible_owner, principal.key_id, since), load, draw)


routes = [view("/", show_home), view("/live", live_home)]
