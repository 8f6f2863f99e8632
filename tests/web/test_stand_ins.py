"""A page that stands in for another one is refused with that reason, and one that speaks of such pages is read."""

import time

import pytest

from chiron_workers.documents.document import UnreadableError
from chiron_workers.web.download import Download
from chiron_workers.web.page import parse_download

PROSE = (
    "The harbour lies on the northern coast, and its quays have been in use since 1901, as its report tells. "
)
CHALLENGE, CONSENT, ERROR, SHELL = "check for robots", "question for consent", "error page", "empty shell"
SCRIPT = "<script src=/app.js></script>"


def page(body: str, title: str = "Exampleton") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{SCRIPT}</head><body>{body}</body></html>"


def read(source: str) -> str:
    return parse_download(
        Download("https://example.org/p", "text/html", "utf-8", source.encode())
    ).document.text


STAND_INS = {
    "cloudflare": (
        CHALLENGE,
        page(
            "<h1>example.org</h1><p>Verifying you are human. This may take a few seconds.</p><p>example.org needs to review the"
            " security of your connection before proceeding.</p><noscript>Enable JavaScript and cookies to continue</noscript>",
            "Just a moment...",
        ),
    ),
    "blocked": (
        CHALLENGE,
        page(
            "<h1>Sorry, you have been blocked</h1><p>You are unable to access example.org</p>",
            "Attention Required! | Cloudflare",
        ),
    ),
    "interruption": (
        CHALLENGE,
        page(
            "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think you were a"
            " bot.</p>"
        ),
    ),
    "captcha": (
        CHALLENGE,
        page(
            "<form><div class=g-recaptcha></div><script src=https://www.google.com/recaptcha/api.js></script><p>Press"
            " the button.</p></form>"
        ),
    ),
    "anubis": (CHALLENGE, page("<h1>Making sure you're not a bot!</h1><p>Loading...</p>")),
    "german challenge": (
        CHALLENGE,
        page("<p>Bestätigen Sie, dass Sie ein Mensch sind.</p>", "Nur einen Moment…"),
    ),
    "denied": (
        CHALLENGE,
        page(
            "<h1>Access Denied</h1><p>You don't have permission to access this on this server. Reference"
            " #18.2</p>",
            "Access Denied",
        ),
    ),
    "consent": (
        CONSENT,
        page(
            "<h1>Before you continue to Exampleton</h1><p>We use cookies and data to deliver our services.</p>"
            "<form><button>Reject all</button><button>Accept all</button></form>"
        ),
    ),
    "german consent": (
        CONSENT,
        page(
            "<div class=box><p>Wir und unsere 842 Partner speichern Cookies auf Ihrem Gerät, um Inhalte zu messen.</p>"
            "<p>Ihre Einwilligung können Sie jederzeit widerrufen.</p><button>Alle akzeptieren</button></div>"
            "<footer>Impressum</footer>",
        ),
    ),
    "404": (ERROR, page(f"<h1>404</h1><p>{PROSE}</p>", "Exampleton")),
    "not found": (ERROR, page("<p>Try the search.</p>", "Page not found | Exampleton")),
    "gone": (
        ERROR,
        page("<h1>The page you are looking for does not exist.</h1><p>It may have been moved.</p>"),
    ),
    "german": (
        ERROR,
        page("<h1>Seite nicht gefunden</h1><p>Die Seite ist umgezogen oder gelöscht worden.</p>"),
    ),
    "french": (ERROR, page("<p>Revenez à l’accueil du site.</p>", "Page introuvable - Le port")),
    "japanese": (ERROR, page("<h1>ページが見つかりません</h1><p>ホームへ戻る。</p>")),
    "react": (
        SHELL,
        page(
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
        ),
    ),
    "loading": (SHELL, page("<div id=app><p>Loading...</p></div>")),
    "no scripts": (
        SHELL,
        page("<p>JavaScript is disabled in your browser. Please enable JavaScript to view this site.</p>"),
    ),
    "characters": (
        CHALLENGE,
        page("<h2>Enter the characters you see below</h2><p>We just need to make sure you're not a robot.</p>"),
    ),
    "firewall": (
        CHALLENGE,
        page("<script>window.gokuProps={}</script><noscript>We need to verify that you're not a robot.</noscript>"),
    ),
    "without cookies": (CHALLENGE, page("<p>Please enable cookies in your browser to continue.</p>")),
    "second heading": (ERROR, page("<h2>Sorry, we can't find that page</h2><p>It has moved.</p>")),
    "footer": (SHELL, page("<div id=app></div><footer>© 2025 Example. All rights reserved. Terms, privacy</footer>")),
    "title only": (SHELL, page("<h1>Exampleton</h1><div id=root></div>")),
}  # fmt: skip


@pytest.mark.parametrize(("reason", "source"), STAND_INS.values(), ids=STAND_INS)
def test_a_stand_in_is_refused_with_its_reason(reason: str, source: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read(source)


SOURCES = {
    "article on challenges": page(
        f"<h1>Just a moment</h1><article><p>Sites say “Verifying you are human”.</p>{f'<p>{PROSE}</p>' * 40}</article>"
    ),
    "short answer": page("<p>The quay is 240 m long.</p>"),
    "banner beside a short text": page(
        f"<div id=banner><p>We use cookies with our partners. You may give your consent.</p><button>Accept all</button></div>"
        f"<article><p>{PROSE}</p></article>"
    ),
    "scripts for comments": page(
        f"<article><p>{PROSE}</p></article><noscript>Please enable JavaScript to view the comments.</noscript>"
    ),
    "car": page(f"<h1>Peugeot 404</h1><p>{PROSE}</p>", "Peugeot 404 - Exampleton"),
    "captcha below a form": page(
        f"<p>{PROSE * 3}</p><form><script src=https://www.google.com/recaptcha/api.js></script></form>"
    ),
    "documents": page(f"<h1>Documents available</h1><p>{PROSE}</p>", "The document is available"),
    "recipe": page(
        "<h1>Cookies</h1><p>Bake the cookies for 12 minutes. Let the cookies cool.</p><button>I accept</button>"
    ),
    "short text in a shell": page(
        "<div id=root><p>High tide is at 12:31 today.</p></div><noscript>Enable JavaScript for the map.</noscript>"
    ),
    "office": page(
        "<h1>Harbour office</h1><p>Open from 9 to 17.</p><script src=https://www.google.com/recaptcha/api.js></script>"
        "<p>Telephone 555 12.</p>"
    ),
    "what 404 means": page(f"<h1>HTTP 404</h1><p>{PROSE}</p>"),
    "privacy notice": page(
        "<h1>Privacy notice</h1><p>Our site sets one cookie. We give no personal data to others.</p><a>I agree</a>"
    ),
    "privacy policy": page(f"<h1>Privacy policy</h1>{'<p>We use cookies for our site, and share no personal data.</p>' * 5}"),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_page_of_its_own_is_read(source: str) -> None:
    assert read(source)


@pytest.mark.parametrize(
    "words",
    [
        "the page can not " * 18,
        "could not can not " * 17,
        "oops " * 60,
        "the page been " + "been " * 50,
        "page introuvable est " * 14,
        "accept all cookies " * 16,
    ],
)
def test_no_title_and_no_button_takes_long(words: str) -> None:
    start = time.process_time()
    read(
        page(f"<h1>{words}</h1><h2>x</h2><p>{PROSE} Cookies and consent.</p><button>{words}</button>", words)
    )
    assert time.process_time() - start < 2
