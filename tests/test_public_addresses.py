"""Addresses lose their passwords and keys, and nothing else."""

from urllib.parse import quote

import pytest

from chiron_workers.public_addresses import public_address, without_secrets, without_secrets_within

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://user:pw@a.org/x?y=1", "https://a.org/x?y=1"),
        ("https://pat@a.org/x", "https://a.org/x"),
        ("https://a:b@c@a.org/", "https://a.org/"),
        ("postgresql://me:pw@db/x", "postgresql://db/x"),
        ("redis://:pw@cache:6379/0", "redis://cache:6379/0"),
        ("https://a.org/x@y?z=@", "https://a.org/x@y?z=@"),
        ("https://a.org/x?api_key=1&y=2&access%5Ftoken=3", "https://a.org/x?y=2"),
        ("https://a.org/x?X-Amz-Signature=1", "https://a.org/x"),
        ("https://a.org/x?tokens=5&keys=1", "https://a.org/x?tokens=5&keys=1"),
        ("https://a.org/x?accessToken=1&oauth_token=2&private_token=3&csrfmiddlewaretoken=4", "https://a.org/x"),
        ("https://a.org/x?pageToken=CAUQAA&next_token=b", "https://a.org/x?pageToken=CAUQAA&next_token=b"),
        ("https://a.org/x?author=Smith&authority=b&passage=3&design=4", "https://a.org/x?author=Smith&authority=b&passage=3&design=4"),
        ("https://a.org/x?password=a&userPassword=b&pwd=c&pass=d&pin=1234&client_secret=e", "https://a.org/x"),
        ("https://a.org/x?key=12", "https://a.org/x?key=12"),
        ("https://a.org/x?key=Zk3v9QpL2xW8yT5uR7sA", "https://a.org/x"),
        (f"https://a.org/x?q={JWT}&y=1", "https://a.org/x?y=1"),
        ("https://a.org/x?ghp_abcdefghijklmnopqrstuvwxyz012345", "https://a.org/x"),
        ("https://a.org/x;jsessionid=A1B2?y=1", "https://a.org/x?y=1"),
        ("https://a.org/x;v=2/y", "https://a.org/x;v=2/y"),
        ("https://a.org/x?a=1;token=2", "https://a.org/x?a=1"),
        ("https://a.org/x?a=1;b=2", "https://a.org/x?a=1;b=2"),
        ("https://a.org/x#access_token=1&state=2", "https://a.org/x#state=2"),
        ("https://a.org/x#/route?token=1&y=2", "https://a.org/x#/route?y=2"),
        ("https://a.org/x?y=1#z", "https://a.org/x?y=1#z"),
        ("https://a.org/x?", "https://a.org/x?"),
        ("https://a.org/go?to=https%3A%2F%2Fme%3Apw%40b.org%2F%3Ftoken%3D1", "https://a.org/go?to=https%3A%2F%2Fb.org%2F"),
        ("https://a.org/go?to=https://me:pw@b.org/", "https://a.org/go?to=https://b.org/"),
        ("https://a.org/go?to=https%3A%2F%2Fb.org%2F%3Fx%3D1", "https://a.org/go?to=https%3A%2F%2Fb.org%2F%3Fx%3D1"),
        ("https://h/?a=1;token=SECRETTOKEN&b=2", "https://h/?a=1&b=2"),
        ("https://h/?a=1&amp;token=x&amp;b=2", "https://h/?a=1&amp&amp;b=2"),
        ("https://h/?password%5B%5D=hunter2&user[password]=x&y[]=1", "https://h/?y[]=1"),
        ("https://h/?access_token%3Dabc&y=1", "https://h/?y=1"),
        ("https://h/?access%255Ftoken=abc&y=1", "https://h/?y=1"),
        ("https://h/?access_token%253Dabc", "https://h/"),
        ("https://h/?key=hunter2hunter2", "https://h/"),
        ("https://h/?key=chapter-12&k=covid19", "https://h/?key=chapter-12&k=covid19"),
        ("https://h/?url=https%253A%252F%252Fu%253Apw%2540x", "https://h/?url=https%253A%252F%252Fx"),
        ("https://h/?url=https%253A%252F%252Fx%252F%253Fy%253D1", "https://h/?url=https%253A%252F%252Fx%252F%253Fy%253D1"),
        ("https://h/?https://u:pw@x/?y=1", "https://h/?https://x/?y=1"),
        ("https://h/?url=//u:pw@x", "https://h/?url=//x"),
        ("https://h/?next=%2Flogin%3Ftoken%3Dabc%26y%3D1", "https://h/?next=%2Flogin%3Fy%3D1"),
        ("https://h/?q=Bearer%20" + JWT, "https://h/"),
        ("//user:pw@h/x", "//h/x"),
        ("https:user:pw@h/x", "https:h/x"),
        ("file:///home/me@work/a.md", "file:///home/me@work/a.md"),
        ("https://api.telegram.org/bot123456:AAbbCC/getMe?y=1", "https://api.telegram.org/bot/getMe?y=1"),
        ("https://hooks.slack.com/services/T01/B02/s3cr3t", "https://hooks.slack.com/services/"),
        ("https://discord.com/api/webhooks/1234/s3cr3t/slack", "https://discord.com/api/webhooks/1234//slack"),
        ("https://x.infura.io/v3/0a1b2c", "https://x.infura.io/v3/"),
        (f"https://h/verify/{JWT}/", "https://h/verify//"),
        ("https://h/x;jsessionid%3DA1B2;v=1", "https://h/x;v=1"),
        ("https://h/?session=2024&pin=1", "https://h/?session=2024&pin=1"),
        ("https://h/?session=117-2&session=spring", "https://h/?session=117-2&session=spring"),
        ("https://h/?session=8f14e45fceea167a&pin=0417", "https://h/"),
        ("https://h/?desk-mask-1234567890123456=1", "https://h/?desk-mask-1234567890123456=1"),
        ("corpus://birds/a.md", "corpus://birds/a.md"),
        ("file:///home/me/a.md?range=3-5", "file:///home/me/a.md?range=3-5"),
        ("The Art of Ducks?", "The Art of Ducks?"),
        ("What? A token=1; #4", "What? A token=1; #4"),
    ],
)  # fmt: skip
def test_strangers_read_no_password_and_no_key_of_an_address(url, expected):
    assert public_address(url) == expected
    assert public_address(expected) == expected


def test_addresses_in_words_lose_their_secrets_and_the_words_stay():
    words = 'See https://me:pw@a.org/x?token=1). "https://b.org/?y=1&sig=2", token=3 and a@b.org.'
    assert without_secrets(words) == 'See https://a.org/x). "https://b.org/?y=1", token=3 and a@b.org.'
    value = {"url": "https://a.org/?token=1", "n": 1, "of": ["https://me:pw@b.org/", None]}
    assert without_secrets_within(value) == {"url": "https://a.org/", "n": 1, "of": ["https://b.org/", None]}


def test_public_address_leaves_out_what_is_encoded_too_often_to_be_read():
    value = "https://me:pw@b.org/?token=1"
    for _ in range(12):
        value = quote(value, safe="")
    assert public_address(f"https://a.org/?y=1&to={value}") == "https://a.org/?y=1&to="


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Failed: https://me:p'w@h/x, twice", "Failed: https://h/x, twice"),
        ("Failed: https://me:p{w|@h/x", "Failed: https://h/x"),
        ("Failed: //me:pw@h/x", "Failed: //h/x"),
        ("'https://a.org','me@b.org'", "'https://a.org','me@b.org'"),
        ('{"a":"https://a.org:80","b":"me@b.org"}', '{"a":"https://a.org:80","b":"me@b.org"}'),
        ("a // b, see c://d", "a // b, see c://d"),
        ("x = 7 //y@z", "x = 7 //z"),
    ],
)
def test_without_secrets_finds_where_a_password_ends(words, expected):
    assert without_secrets(words) == expected


def test_a_long_text_is_read_in_bounded_time():
    for text in ("a" * 300_000, "://" * 100_000, "a://" * 75_000, "https://a.org/?" + "a=b&" * 75_000, "https://" + "@" * 300_000,
                 "https://a.org/?u=" + "%3A%2F%2F" * 30_000, ";a=" * 100_000 + "://",
                 "//" * 150_000, "//a:" * 75_000, "//a:" + "'" * 300_000, "https://a.org/?u=" + "%25" * 100_000,
                 "https://a.org/?" + "u=https://" * 30_000, "https://a.org/?" + "u%3D" * 75_000):  # fmt: skip
        without_secrets(text)
