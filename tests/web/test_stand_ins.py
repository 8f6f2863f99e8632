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
OUTAGE, LOGIN = "message of its server", "log-in page"
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
    "404": (ERROR, page("<h1>404</h1><p>The page you are looking for has moved.</p>", "Exampleton")),
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
    "no cookie": (
        CHALLENGE,
        page("<h1>Cookies must be enabled</h1><p>We were unable to send a cookie to your web browser.</p>", "Cookie absent"),
    ),
    "publisher": (
        CHALLENGE,
        page(
            "<p>There was a problem providing the content you requested</p><p>Please contact our support team for more"
            " information and provide the details below.</p><p>Reference number: 8a</p>",
            "ScienceDirect",
        ),
    ),
    "region": (
        CHALLENGE,
        page(
            "<h1>451</h1><p>We recognize you are attempting to access this website from a country belonging to the European"
            " Economic Area (EEA), and therefore access cannot be granted at this time.</p>"
        ),
    ),
    "outage": (OUTAGE, page("<h1>503 Service Temporarily Unavailable</h1>nginx", "503 Service Temporarily Unavailable")),
    "maintenance": (OUTAGE, page("<h1>We will be back soon</h1><p>The site is down for maintenance.</p>", "Maintenance")),
    "log-in": (
        LOGIN,
        page("<h1>Log in</h1><form><input><input type=password></form><p>You must log in to view this page.</p>", "Log in"),
    ),
    "words in a division": (ERROR, page("<div class=error-title>This page could not be found.</div>")),
    "error with teasers": (
        ERROR,
        page(f"<h1>Page not found</h1>{f'<p>{PROSE}</p>' * 50}", "Page not found - Exampleton"),
    ),
    "consent of one button": (
        CONSENT,
        page("<p>Wir und unsere Partner verarbeiten Daten</p><button>Alle akzeptieren</button>"),
    ),
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
    "press and hold": page("<h1>Reset</h1><p>Press and hold the button for 5 seconds to reset the pump.</p>"),
    "volcano": page("<h1>Volcano</h1><p>Seismologists saw unusual activity from the crater on 5 May 2020.</p>"),
    "year": page("<h1>404</h1><p>The year 404 was a leap year of the Julian calendar, known for two consuls.</p>", "404"),
    "common year": page("<h1>410</h1><p>The year 410 was a common year, in which Alaric sacked Rome.</p>", "410 - Wiki"),
    "poem": page("<h1>Not Found</h1><p>I looked for the river where it was, and it was not.</p>", "Not Found | Poems"),
    "captcha": page("<h1>CAPTCHA</h1><p>A test to tell humans and computers apart. The term is of 2003.</p>", "CAPTCHA"),
    "song": page("<h1>Un momento</h1><p>A song of 2001 that reached number 3 of the charts.</p>", "Un momento"),
    "book": page("<h1>Access denied</h1><p>A book of 2008 on internet filtering in 40 countries.</p>", "Access denied"),
    "law": page("<h1>Zustimmung</h1><p>Die Zustimmung ist eine Erklärung nach § 182 BGB.</p><a>Einverstanden</a>", "Zustimmung"),
    "article on errors": page(
        f"<h1>Page not found: how servers answer</h1><p>{PROSE}</p>", "Page not found: how servers answer - Blog"
    ),
    "list of errors": page(
        "<h1>Codes</h1><h2>Not found</h2><p>Code 2 says that a file is not there. Retry after 5 s.</p>", "Codes · Not found"
    ),
    "requirement": page("<h1>Viewer</h1><p>The viewer needs JavaScript 5 or later, and 40 MB of memory.</p>"),
    "short text beside a banner": page(
        "<p>The quay is 240 m long.</p><div><p>We use cookies and value your privacy. Our partners need your consent.</p>"
        "<button>Accept all</button></div>"
    ),
    "upkeep": page("<h1>Maintenance</h1><p>Maintenance of the crane costs 40,000 EUR a year.</p>", "Maintenance"),
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


def test_a_check_in_plain_text_is_refused_and_a_text_is_read() -> None:
    def fetch(text: str) -> str:
        return parse_download(
            Download("https://example.org/p", "text/plain", "", text.encode())
        ).document.text

    with pytest.raises(UnreadableError, match=CHALLENGE):
        fetch("Just a moment...\nEnable JavaScript and cookies to continue")
    assert (
        fetch("Just a moment\nA play in two acts, of 1912.") == "Just a moment\nA play in two acts, of 1912."
    )
