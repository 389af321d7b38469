"""The page lets no one in.

Real requests and sockets against a real server, each wrong in one thing.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from tests.page.served import Served, served

MB = 2**20


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("page")
    (folder / "secret.txt").write_text("secret")
    with served("planar_2r", folder=folder) as result:
        yield result


def test_token_becomes_a_cookie_and_leaves_the_address(page: Served) -> None:
    status, headers, _ = page.ask(f"/?token={page.token}", cookie=None)
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert page.cookie in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    window = page.new_window()
    assert page.ask(window)[0] == 200
    assert len(page.token) >= 40


@pytest.mark.parametrize("path", ["/", "/w/x", "/_nicegui/3/static/nicegui.js", "/nowhere"])
def test_nothing_without_token(page: Served, path: str) -> None:
    for cookie in (
        None,
        f"steelyard-{page.port}=wrong",
        f"steelyard-{page.port}={page.token[:-1]}",
        f"steelyard-{page.port}={page.token}x",
        f"steelyard-{page.port}=",
        f"other={page.token}",
        f"steelyard-{page.port + 1}={page.token}",
    ):
        status, _, body = page.ask(path, cookie=cookie)
        assert status == 401, (path, cookie)
        assert b"token" in body


@pytest.mark.parametrize(
    "query", ["token=wrong", "token=", "token=%00", "token=a&token=b", "Token=x"]
)
def test_wrong_token(page: Served, query: str) -> None:
    assert page.ask(f"/?{query}", cookie=None)[0] == 401
    assert page.ask(f"/?token={page.token[:-1]}", cookie=None)[0] == 401
    assert page.ask(f"/w/x?token={page.token}", cookie=None)[0] == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "",
        None,
    ],
)
def test_foreign_host(page: Served, host: str | None) -> None:
    asked = None if host is None else host.format(port=page.port)
    status, _, _ = page.ask("/", host=asked)
    assert status in (400, 421)
    assert page.handshake(host=asked) in (400, 403)
    # DNS rebinding: the right token at a wrong name
    assert page.ask(f"/?token={page.token}", host=asked)[0] in (400, 421)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "file://",
        "",
    ],
)
def test_foreign_origin(page: Served, origin: str) -> None:
    asked = origin.format(port=page.port)
    assert page.ask("/", origin=asked)[0] == 403
    assert page.ask("/", "POST", b"", origin=asked)[0] == 403
    assert page.handshake(origin=asked) == 403


def test_sockets_open_for_the_page_itself_alone(page: Served) -> None:
    assert page.handshake() == 101
    assert (
        page.handshake(host=f"localhost:{page.port}", origin=f"http://localhost:{page.port}") == 101
    )
    assert page.handshake(origin=None) == 403
    assert page.handshake(cookie=None) == 403
    assert page.handshake(cookie=f"steelyard-{page.port}=wrong") == 403
    assert page.handshake(sec_fetch_site=None) == 101
    assert page.handshake(**{"sec-fetch-site": "cross-site"}) == 403


def test_changes_must_say_where_they_come_from(page: Served) -> None:
    assert page.ask("/", "POST", b"", origin=None)[0] == 403
    assert (
        page.ask(
            "/_nicegui_ws/socket.io/?EIO=4&transport=polling",
            "POST",
            b"40",
            origin="http://evil.example",
        )[0]
        == 403
    )
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        assert page.ask("/", method)[0] == 405


def test_two_hosts_are_refused(page: Served) -> None:
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
        text = (
            f"GET / HTTP/1.1\r\nhost: {page.host}\r\nhost: evil.example\r\ncookie:"
            f" {page.cookie}\r\n\r\n"
        )
        connection.sendall(text.encode())
        assert connection.recv(4096).split(b" ")[1] == b"400"


UPWARD = [
    "/../secret.txt",
    "/w/../../etc/passwd",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/_nicegui/3/static/..%2f..%2f..%2fversion.py",
    "/_nicegui/3/static/%252e%252e/x",
    "//etc/passwd",
    "/..\\..\\secret.txt",
    "/w/%00",
    "/secret.txt",
]


@pytest.mark.parametrize("path", UPWARD)
def test_no_path_leads_up(page: Served, path: str) -> None:
    status, _, body = page.ask(path)
    assert status == (400 if path != "/secret.txt" else 404)
    assert b"secret" not in body.replace(b"secret.txt", b"")
    assert b"root:" not in body


def test_two_gigabytes_are_refused_before_they_are_sent(page: Served) -> None:
    status, _, body = page.ask(upload_path(page), "POST", b"", content_length=str(2 * 2**30))
    assert status == 413
    assert b"64 MB" in body
    assert page.ask("/", "POST", b"", content_length="-1")[0] == 400


def test_a_stream_without_length_is_cut(page: Served) -> None:
    """Chunks without a length end once they are too many.

    The server does not take in what it refuses.
    """
    head = (
        f"POST {upload_path(page)} HTTP/1.1\r\nhost: {page.host}\r\norigin:"
        f" {page.origin}\r\ncookie: {page.cookie}\r\n"
    )
    head += "transfer-encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n" % MB + b"x" * MB + b"\r\n"
    sent, answer = 0, b""
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
        connection.sendall(head.encode())
        connection.setblocking(False)
        connection.settimeout(5)
        try:
            while sent < 200:
                connection.sendall(chunk)
                sent += 1
        except OSError:
            pass
        try:
            answer = connection.recv(4096)
        except OSError:
            answer = b""
    assert sent < 150  # 64 MB and what was on its way
    assert answer == b"" or answer.split(b" ")[1] == b"413"
    assert page.ask("/")[0] == 303  # it lives


def upload_path(page: Served, kind: str = "log") -> str:
    """The address that files are uploaded to, of a new window."""
    return f"/upload/{page.new_window().removeprefix('/w/')}/{kind}"


def test_uploads_are_taken_by_their_window_alone(page: Served) -> None:
    """What is refused is a sentence.

    A path in a name means nothing; windows that are none take nothing.
    """
    own, robot = upload_path(page, "robot"), b'name = "x"\n'
    status, _, body = page.ask(f"{own}?name=../../etc/arm.xacro", "POST", robot)
    assert (status, b"is not taken" in body) == (422, True)
    status, _, body = page.ask(f"{own}?name=..%2f..%2farm.toml", "POST", robot)
    assert (status, b"/etc" in body) == (422, False)
    assert page.ask(f"/upload/{'A' * 22}/robot?name=arm.toml", "POST", robot)[0] == 422
    assert page.ask(upload_path(page, "elsewhere"), "POST", robot)[0] == 422
    assert page.ask(own)[0] in (404, 405)
    for path in ("mesh", "result"):
        for number in ("0", "-1", "999999999999", "..%2f..%2fetc"):
            assert page.ask(own.replace("/upload/", f"/{path}/").replace("/robot", f"/{number}"))[
                0
            ] in (400, 404, 422)


def test_windows_do_not_see_each_other(page: Served) -> None:
    first, second = page.new_window(), page.new_window()
    assert first != second
    assert len(first) >= len("/w/") + 20
    assert page.ask("/w/" + "A" * 22)[0] == 404
    assert page.ask(first)[0] == 200


def test_other_pages_cannot_frame_or_read_it(page: Served) -> None:
    for path in ("/", page.new_window(), "/nowhere"):
        headers = page.ask(path)[1]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    assert page.ask("/", origin=page.origin)[1].get("access-control-allow-origin") in (
        None,
        page.origin,
    )


def test_documentation_of_the_interface_is_not_served(page: Served) -> None:
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert page.ask(path)[0] == 404


def test_only_loopback_listens(page: Served) -> None:
    own = {row[4][0] for row in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in own - {"127.0.0.1", "127.0.1.1"}:
        with (
            pytest.raises(OSError, match=r".+"),
            socket.create_connection((address, page.port), timeout=2),
        ):
            pass
    assert json.dumps(page.url).startswith('"http://127.0.0.1:')
