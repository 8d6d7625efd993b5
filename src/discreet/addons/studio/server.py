"""The server: its routes, uploads, events, and its life from the first address to the last byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import discreet
from discreet.addons.studio.access import Gate, GuardedApp
from discreet.addons.studio.answers import RefusedError, as_json, endpoint, failure
from discreet.addons.studio.releases import usual_library
from discreet.addons.studio.session import StudioSession
from discreet.addons.studio.tables import file_name
from discreet.regular_files import unpacking_at_most

HERE = Path(__file__).parent
STATIC, STRINGS = HERE / "static", HERE / "strings"
REPORT_STYLE = Path(discreet.__file__).parent / "report" / "style.css"
UPLOAD_LIMIT = 2 * 2**30  # bytes
IDLE = 30 * 60.0  # seconds without a request after which the server ends
LOOK = 0.1  # seconds between two looks at a run that a page follows
KEEP_ALIVE = 10.0  # seconds between two events
WATCH = 1.0  # seconds between two looks at whether to end
HIERARCHY_LIMIT = 64 * 2**20  # bytes of a hierarchy file


def application(session: StudioSession, gate: Gate) -> ASGIApp:
    """Return the application behind its gate."""
    app = Starlette(routes=_routes(session), exception_handlers={404: _not_found})
    return _Heard(GuardedApp(app, gate), session)


class _Heard:
    """Notes when a page last asked for something."""

    def __init__(self, app: ASGIApp, session: StudioSession) -> None:
        self._app, self._session = app, session

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._session.heard = time.monotonic()
        await self._app(scope, receive, send)


def _routes(session: StudioSession) -> list[Route | Mount]:
    def get(path: str, handler: Any, method: str = "GET") -> Route:
        return Route(path, endpoint(handler), methods=[method])

    post, delete = partial(get, method="POST"), partial(get, method="DELETE")
    s, table = session, "/api/tables/{table}"
    run, release = "/api/runs/{run}", "/api/releases/{release}"
    return [
        get("/api/session", s.describe),
        post("/api/alive", s.alive),
        post("/api/stop", s.stop),
        get("/api/choices", s.choices),
        get("/api/places", s.places),
        post("/api/ledgers", s.ledger),
        post("/api/ledgers/runs", s.start_series_run),
        get("/api/tables", s.list_tables),
        Route("/api/tables", _upload_table(session), methods=["POST"]),
        get(table, s.describe_table),
        delete(table, s.close_table),
        get(f"{table}/proposal", s.proposal),
        get(f"{table}/draft", s.draft),
        post(f"{table}/draft", s.edit_draft),
        get(f"{table}/standing", s.standing),
        post(f"{table}/hierarchy", s.hierarchy),
        post(f"{table}/hierarchy/edit", s.edit_hierarchy),
        Route(f"{table}/hierarchy/file", _upload_hierarchy(session), methods=["POST"]),
        post(f"{table}/job", s.job),
        post(f"{table}/job.zip", s.zipped_job),
        post(f"{table}/job/read", s.read_job),
        post(f"{table}/feasibility", s.feasibility),
        post(f"{table}/settings", s.settings),
        post(f"{table}/runs", s.start_table_run),
        get("/api/runs", s.list_runs),
        get(run, s.describe_run),
        delete(run, s.remove_run),
        Route(f"{run}/events", _events(session), methods=["GET"]),
        post(f"{run}/cancel", s.cancel_run),
        get(f"{run}/report", s.report),
        get(f"{run}/preview", s.run_preview),
        get(f"{run}/point", s.point),
        get("/api/releases", s.list_releases),
        post("/api/releases", s.open_release),
        get(release, s.describe_release),
        delete(release, s.close_release),
        get(f"{release}/report", s.release_report),
        post(f"{release}/runs", s.start_release_run),
        get(f"{release}/preview", s.release_preview),
        get(f"{release}/risk", s.risk),
        get(f"{release}/download.zip", s.download),
        get(f"{release}/job.yaml", s.job_file),
        post(f"{release}/accept", s.accept),
        post(f"{release}/save", s.save),
        post(f"{release}/sign", s.sign),
        Route("/static/report.css", _file(REPORT_STYLE), methods=["GET"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/strings", StaticFiles(directory=STRINGS)),
        Route("/{screen:path}", _file(STATIC / "index.html"), methods=["GET"]),
    ]


def _file(place: Path) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if request.path_params.get("screen", "").startswith("api/"):
            return JSONResponse({"error": "There is no such address.", "kind": "input"}, 404)
        return FileResponse(place)

    return answer


async def _not_found(request: Request, _: Exception) -> Response:
    return JSONResponse({"error": "There is no such address.", "kind": "input"}, 404)


async def _stored(request: Request, place: Path, limit: int) -> None:
    """Write the body of a request to a file, at most so many bytes."""
    length = request.headers.get("content-length", "")
    too_large = RefusedError(
        413, f"The file is larger than {limit:,} bytes. Give its path instead: it is read in place."
    )
    if length.isdigit() and int(length) > limit:
        raise too_large
    written = 0
    with place.open("xb") as file:
        async for chunk in request.stream():
            written += len(chunk)
            if written > limit:
                raise too_large
            file.write(chunk)
    if not written:
        raise RefusedError(422, "The file is empty.")


def _upload_table(session: StudioSession) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            if "name" not in request.query_params:
                return await endpoint(session.open_table)(request)
            name = file_name(request.query_params["name"])
            options = {
                key.removeprefix("option."): value
                for key, value in request.query_params.items()
                if key.startswith("option.")
            }
            number, folder = session.tables.new_folder()
            try:
                await _stored(request, folder / name, session.upload_limit)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            table = await run_in_threadpool(
                session.tables.open_upload, number, folder, name, options
            )
            return as_json(await run_in_threadpool(table.describe))
        except Exception as error:
            return failure(error)

    return answer


def _upload_hierarchy(session: StudioSession) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        number = request.path_params["table"]
        try:
            folder = session.tables[number].folder
            file_name(request.query_params.get("name", ""))
            place = folder / f".upload-{time.monotonic_ns()}"
            try:
                await _stored(request, place, HIERARCHY_LIMIT)
                return as_json(
                    await run_in_threadpool(
                        session.uploaded_hierarchy, number, place, request.query_params
                    )
                )
            finally:
                place.unlink(missing_ok=True)
        except Exception as error:
            return failure(error)

    return answer


def _events(session: StudioSession) -> Callable[[Request], Awaitable[Response]]:
    """Server-sent events of a run: its state now, every change, and its end."""

    async def answer(request: Request) -> Response:
        try:
            run = session.runs[request.path_params["run"]]
        except RefusedError as error:
            return failure(error)

        async def told() -> AsyncIterator[bytes]:
            seen, told_at = -1, time.monotonic()
            while not session.stopping:
                version, ended = run.version, run.ended
                if version != seen or ended:
                    event = "end" if ended else "progress"
                    data = json.dumps(run.describe(with_result=False), ensure_ascii=False)
                    yield f"event: {event}\ndata: {data}\n\n".encode()
                    if ended:
                        return
                    seen, told_at = version, time.monotonic()
                elif time.monotonic() - told_at > KEEP_ALIVE:
                    yield b": still here\n\n"
                    told_at = session.heard = time.monotonic()
                await asyncio.sleep(LOOK)

        return StreamingResponse(told(), media_type="text/event-stream")

    return answer


class StudioServer:
    """A server on loopback, on a free port or a given one."""

    def __init__(
        self,
        *,
        port: int = 0,
        upload_limit: int = UPLOAD_LIMIT,
        idle: float = IDLE,
        library: Path | None = None,
    ) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
            self._socket.listen(128)  # a browser may come before the first answer
        except OSError as error:
            self._socket.close()
            raise discreet.InputError(
                f"Port {port} cannot be used: {error.strerror}. Choose another --port."
            ) from None
        self.port: int = self._socket.getsockname()[1]
        self.gate = Gate(self.port)
        self.session = StudioSession(upload_limit, library or usual_library())
        self._idle = idle

    def run(self) -> None:
        """Serve until Ctrl-C, until the page asks to stop, or until no page is left for long."""
        for name in ("asyncio", "uvicorn.error"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # messages may quote cells
        config = uvicorn.Config(
            application(self.session, self.gate),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        with unpacking_at_most(self.session.upload_limit):
            asyncio.run(self._serve(server))

    async def _serve(self, server: uvicorn.Server) -> None:
        watching = asyncio.create_task(self._watch(server))
        try:
            await server.serve(sockets=[self._socket])
        finally:
            self.session.stopping = True
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _watch(self, server: uvicorn.Server) -> None:
        """End the server when the page asked for it, or when no page is left."""
        while True:
            await asyncio.sleep(WATCH / 4)
            silent = time.monotonic() - self.session.heard
            idle = silent > self._idle and not self.session.runs.active
            if self.session.stopping or idle or server.should_exit:
                self.session.stopping = True
                server.should_exit = True
                return
            if silent > WATCH:
                await run_in_threadpool(self.session.tables.forget_unused)

    def close(self) -> None:
        """End all work, and remove the private folder."""
        self._socket.close()
        self.session.close()
