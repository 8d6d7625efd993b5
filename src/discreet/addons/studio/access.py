"""Who may ask: one browser, by a one-time token, and pages of this server alone.

Other users and other pages can reach a port on loopback too. So a request needs the cookie that
the one-time token was exchanged for; it must name this server as its host, or a name that an
attacker points at 127.0.0.1 (DNS rebinding) would do; and whatever changes something must come
from a page of this server, since a page on another port of 127.0.0.1 counts as the same site.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_BYTES = 32
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# Reports have their style inside and no script.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'; sandbox allow-same-origin allow-modals"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
SAFE = ("GET", "HEAD")
METHODS = (*SAFE, "POST", "DELETE")
NO_COOKIE = (
    "This browser is not signed in to Studio. Open the address that 'discreet studio' printed; "
    "it can be used once. Press Enter in its terminal for a new one."
)
FOREIGN_HOST = "This server answers to its own address on this machine alone."
FOREIGN_ORIGIN = "The request comes from another page and was refused."


class Gate:
    """The secrets of one server: a token that is valid once, and the cookie behind it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = f"discreet-studio-{port}"  # cookies do not distinguish ports
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._secret = secrets.token_urlsafe(TOKEN_BYTES)
        self._token: str | None = None

    def address(self) -> str:
        """Return an address with a new token; an older one that was not used is void."""
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        return f"http://{self.hosts[0]}/?token={self._token}"

    def redeem(self, token: str) -> bool:
        """Return whether a token is valid, which it is once."""
        known, self._token = self._token, None
        if known is not None and _same(known, token):
            return True
        self._token = known
        return False

    def signed_in(self, cookies: str) -> bool:
        """Return whether a Cookie header has the secret."""
        try:
            secret_cookie = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return False
        return secret_cookie is not None and _same(self._secret, secret_cookie.value)

    def sign_in(self, response: Response) -> Response:
        """Give the browser the cookie."""
        response.set_cookie(
            self.cookie, self._secret, path="/", httponly=True, samesite="strict", secure=False
        )
        return response


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "surrogatepass"))


class GuardedApp:
    """An application behind the gate; every answer has the headers that browsers enforce."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: MutableMapping[str, Any]) -> Response | None:
        """Return the answer to a request that goes no further; None for one that may pass."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        host = headers.get("host", "")
        if host not in self._gate.hosts or len(headers.getlist("host")) > 1:
            return _refused(scope, 403, FOREIGN_HOST)
        if "\0" in path:
            return _refused(scope, 400, "The address is not valid.")
        if method not in METHODS:
            return _refused(scope, 405, "This method is not used here.")
        this_origin = f"http://{host}"
        origins, site = headers.getlist("origin"), headers.get("sec-fetch-site")
        if any(origin != this_origin for origin in origins):
            return _refused(scope, 403, FOREIGN_ORIGIN)
        entrance = method in SAFE and path == "/"
        if site not in (None, "same-origin", "none") and not entrance:
            return _refused(scope, 403, FOREIGN_ORIGIN)
        if method not in SAFE and not origins and site != "same-origin":
            return _refused(scope, 403, FOREIGN_ORIGIN)
        signed_in = self._gate.signed_in(headers.get("cookie", ""))
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if entrance and "token" in query:
            if method == "GET" and self._gate.redeem(query["token"][0]):
                return self._gate.sign_in(RedirectResponse("/", 303))
            return RedirectResponse("/", 303) if signed_in else _refused(scope, 401, NO_COOKIE)
        return None if signed_in else _refused(scope, 401, NO_COOKIE)


def _refused(scope: MutableMapping[str, Any], status: int, reason: str) -> Response:
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": reason, "kind": "access"}, status)
    return HTMLResponse(
        f"<!doctype html><html lang='en'><title>discreet studio</title><p>{reason}</p></html>",
        status,
    )
