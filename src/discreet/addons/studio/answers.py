"""From a request to an answer: JSON in, JSON out, and errors as messages that contain no cells."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from discreet import DiscreetError, InfeasibleError, JobError, PromiseError, RiskError
from discreet.statements import Statement, in_language, speaking
from discreet.table.budgets import BYTES_AT_ONCE

LANGUAGES = ("en", "de", "tr")


class RefusedError(Exception):
    """A request that is refused with a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Asked:
    """A request without what a server needs: parts of its path, its query, and its JSON."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    given: Mapping[str, Any]
    language: str = "en"  # of the page, in which reports are written

    def text(self, key: str) -> str:
        """Return a text that must be given."""
        parameter = self.given.get(key)
        if not isinstance(parameter, str) or not parameter:
            raise RefusedError(422, f"'{key}' is missing.")
        return parameter

    def mapping(self, key: str) -> dict[str, Any]:
        """Return an object that must be given."""
        parameter = self.given.get(key)
        if not isinstance(parameter, dict):
            raise RefusedError(422, f"'{key}' must be an object.")
        return parameter

    def listed(self, key: str, kind: type[Any]) -> list[Any]:
        """Return a list of texts or of whole numbers; empty if it is not given."""
        parameter = self.given.get(key) or []
        if not isinstance(parameter, list) or not all(type(one) is kind for one in parameter):
            raise RefusedError(422, f"'{key}' must be a list of type {kind.__name__}.")
        return parameter

    def number(self, key: str) -> float | None:
        """Return a number; None if it is not given."""
        parameter = self.given.get(key)
        if parameter is None:
            return None
        if isinstance(parameter, bool) or not isinstance(parameter, int | float) or parameter < 0:
            raise RefusedError(422, f"'{key}' must be a number that is not negative.")
        return float(parameter)


def language_of(accepted: str) -> str:
    """Return the first language of an Accept-Language header that pages exist in, else English."""
    wanted = [one.strip()[:2].lower() for one in accepted.split(",")]
    return next((one for one in wanted if one in LANGUAGES), LANGUAGES[0])


Handler = Callable[[Asked], Any]
Endpoint = Callable[[Request], Awaitable[Response]]


def endpoint(handler: Handler) -> Endpoint:
    """Answer requests by a function that returns plain data or a response; it may take long."""

    async def answer(request: Request) -> Response:
        try:
            parameters = await read_json(request) if request.method == "POST" else {}
            language = language_of(request.headers.get("accept-language", ""))
            question = Asked(request.path_params, request.query_params, parameters, language)
            with speaking(language):
                answered = await run_in_threadpool(handler, question)
                return answered if isinstance(answered, Response) else as_json(answered)
        except Exception as error:
            return failure(error)

    return answer


async def read_json(request: Request) -> Mapping[str, Any]:
    """Read the object that a request carries; nothing stands for an empty one."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BYTES_AT_ONCE:
            raise RefusedError(413, f"The request has more than {BYTES_AT_ONCE:,} bytes.")
    if not body:
        return {}
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(400, "The request is not valid JSON.") from None
    if not isinstance(parsed, dict):
        raise RefusedError(400, "The request must be a JSON object.")
    return parsed


def as_json(data: Any, status: int = 200) -> Response:
    """Return plain data as an answer."""
    text = json.dumps(spoken_data(data), ensure_ascii=False, default=_plain)
    return Response(text.encode(), status, media_type="application/json")


def spoken_data(data: Any) -> Any:
    """Return data with statements in the language that is spoken; no number that JSON lacks."""
    if isinstance(data, Statement):
        return in_language(data)
    if isinstance(data, Mapping):
        return {key: spoken_data(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [spoken_data(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def failure(error: Exception) -> Response:
    """Return an error as an answer."""
    status, described_error = described(error)
    return as_json(described_error, status)


def described(error: BaseException) -> tuple[int, dict[str, Any]]:
    """Return the status of an error and its message, which repeats no text of a library."""
    if isinstance(error, RefusedError):
        return error.status, {"error": str(error), "kind": "input"}
    if isinstance(error, DiscreetError):
        described_error: dict[str, Any] = {"error": str(error), "kind": "input"}
        if isinstance(error, JobError):
            described_error |= {"kind": "job", "problems": list(error.problems)}
        if isinstance(error, PromiseError):
            described_error["kind"] = "promise"
        if isinstance(error, RiskError):
            described_error |= {"kind": "risk", "verdict": error.verdict.to_dict()}
        if isinstance(error, InfeasibleError):
            described_error |= {"kind": "infeasible", "failures": list(error.failures)}
        return 422, described_error
    if isinstance(error, MemoryError):
        return 507, {"error": "Out of memory. Use a machine with more memory.", "kind": "input"}
    if isinstance(error, ClientDisconnect):
        return 400, {"error": "The browser ended the request.", "kind": "input"}
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return 422, {"error": f"{place}{error.strerror or 'cannot be read'}.", "kind": "input"}
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "unknown"
    return 500, {
        "error": f"Internal error: {type(error).__name__} in {where}. Please report it. Nothing "
        "was published.",
        "kind": "defect",
    }
