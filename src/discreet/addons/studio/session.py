"""The questions that a page may ask, each a function of the state of one server."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response

from discreet import InputError, JobError, __version__
from discreet.addons.studio.access import REPORT_POLICY
from discreet.addons.studio.answers import LANGUAGES, Asked, RefusedError
from discreet.addons.studio.downloads import (
    attachment,
    files_below,
    private_files,
    save_release,
    zipped,
)
from discreet.addons.studio.job_choices import job_choices
from discreet.addons.studio.job_mapping import read_mapping
from discreet.addons.studio.private_folder import PrivateFolder
from discreet.addons.studio.release_summary import (
    accept_risk_of,
    accepted_risk,
    require_accepted,
    sign_off_release,
    sign_offs,
)
from discreet.addons.studio.releases import (
    REPORT,
    StudioReleases,
    absolute,
    describe_ledger,
    list_places,
)
from discreet.addons.studio.runs import StudioRun, StudioRuns
from discreet.addons.studio.tables import HIERARCHIES, StudioTable, StudioTables, file_name
from discreet.addons.studio.work import COMPARISON, JOB, PAGE, PREVIEW, RELEASE, RISK
from discreet.api.compare import compared_job
from discreet.pipeline.decide import require_reason
from discreet.pipeline.release import ATTACK_SECONDS

TABLE_RUNS = ("publish", "preview", "compare", "costs")
RELEASE_RUNS = ("audit", "attack", "measure")
MOST_NODES = 2000  # of a hierarchy's level that a page may ask for


class StudioSession:
    """Tables, runs and releases of one server."""

    def __init__(self, upload_limit: int) -> None:
        self.private = PrivateFolder()
        self.tables = StudioTables(self.private)
        self.runs = StudioRuns(self.private, upload_limit)
        self.releases = StudioReleases()
        self.upload_limit = upload_limit
        self.opened: StudioTable | None = None  # that the command named
        self.stopping = False
        self.heard = time.monotonic()  # when a page last asked for something
        self._name = secrets.token_hex(8)
        self._choices: dict[str, Any] | None = None

    def close(self) -> None:
        """End all work, and remove the private folder."""
        self.stopping = True
        self.runs.close()
        self.private.close()

    # The session

    def describe(self, _: Asked) -> Any:
        opened = self.opened
        return {
            "version": __version__,
            "session": self._name,
            "opened": None if opened is None else opened.number,
            "job": None if opened is None or opened.job is None else opened.describe()["job"],
            "upload_limit": self.upload_limit,
            "languages": list(LANGUAGES),
        }

    def alive(self, _: Asked) -> Any:
        return {}

    def stop(self, _: Asked) -> Any:
        self.stopping = True
        return {}

    def choices(self, _: Asked) -> Any:
        if self._choices is None:
            self._choices = job_choices()
        return self._choices

    def places(self, question: Asked) -> Any:
        return list_places(question.query.get("path"))

    def ledger(self, question: Asked) -> Any:
        return describe_ledger(question.text("path"), question.given.get("key"))

    # Tables

    def open_table(self, question: Asked) -> Any:
        if question.given.get("demo"):
            return self.tables.open_demo().describe()
        options = question.given.get("options") or {}
        if not isinstance(options, dict):
            raise RefusedError(422, "'options' must be an object.")
        return self.tables.open_path(Path(question.text("path")), options).describe()

    def list_tables(self, _: Asked) -> Any:
        return {
            "tables": [
                {
                    "table": table.number,
                    "name": table.name,
                    "rows": table.opened.table.rows,
                    "columns": len(table.opened.table.columns),
                }
                for table in self.tables
            ]
        }

    def _table(self, question: Asked) -> StudioTable:
        return self.tables[question.path["table"]]

    def describe_table(self, question: Asked) -> Any:
        return self._table(question).describe()

    def close_table(self, question: Asked) -> Any:
        table = self._table(question)
        for run in self.runs.of(table=table.number):
            self.runs.remove(run.number)
        self.tables.close(table.number)
        return {}

    def proposal(self, question: Asked) -> Any:
        return self._table(question).proposal(question.query.get("preset"))

    def risk(self, question: Asked) -> Any:
        person = question.given.get("person")
        if person is not None and not isinstance(person, str):
            raise RefusedError(422, "'person' must be the name of a column.")
        return self._table(question).opened.risk(question.texts("quasi"), person or None)

    def hierarchy(self, question: Asked) -> Any:
        at_most = int(question.number("at_most") or 200)
        return self._table(question).hierarchy(question.given, min(at_most, MOST_NODES))

    def edit_hierarchy(self, question: Asked) -> Any:
        edits = question.given.get("edits")
        if not isinstance(edits, list) or not all(isinstance(one, dict) for one in edits):
            raise RefusedError(422, "'edits' must be a list of objects.")
        return self._table(question).edited(question.given)

    def uploaded_hierarchy(self, number: str, file: Path, query: Mapping[str, str]) -> Any:
        """Keep an uploaded hierarchy file beside the table, if it fits its column."""
        table = self.tables[number]
        name = file_name(query.get("name", ""))
        folder = table.folder / HIERARCHIES
        folder.mkdir(mode=0o700, exist_ok=True)
        place = folder / name
        before = place.read_bytes() if place.is_file() else None
        shutil.move(file, place)
        try:
            return table.hierarchy({**query, "hierarchy": f"{HIERARCHIES}/{name}"}, 200)
        except BaseException:
            place.unlink()
            if before is not None:
                place.write_bytes(before)
            raise

    def job(self, question: Asked) -> Any:
        table, job = self._table(question), _job(question)
        text = table.text_of(job)
        return {
            "yaml": text,
            "problems": _problems(table, job),
            "files": table.files_of(job),
            "command": "discreet publish job.yaml",
        }

    def zipped_job(self, question: Asked) -> Response:
        table, job = self._table(question), _job(question)
        written = self.private.path / f"job-{secrets.token_hex(8)}.yaml"
        written.write_text(table.text_of(job), encoding="utf-8")
        try:
            files = [(name, table.folder / name) for name in table.files_of(job)]
            return zipped(self.private.path, "job.zip", [(JOB, written), *files])
        finally:
            written.unlink()

    def read_job(self, question: Asked) -> Any:
        table = self._table(question)
        job = read_mapping(question.text("yaml"))
        job.pop("source", None)
        return {"job": job, "problems": _problems(table, job)}

    def feasibility(self, question: Asked) -> Any:
        try:
            found = self._table(question).feasibility(question.mapping("job"))
        except JobError as error:
            return {"requirements": [], "sensitive": [], "problems": list(error.problems)}
        return {**found, "problems": []}

    # Runs

    def start_table_run(self, question: Asked) -> Any:
        table, kind = self._table(question), question.text("kind")
        if kind not in TABLE_RUNS:
            raise RefusedError(422, f"A table has runs of the kinds {', '.join(TABLE_RUNS)}.")
        job = _job(question)
        parsed = table.parsed(job)  # its problems now, not in the worker
        given = question.given
        request: dict[str, Any] = {
            "job": table.text_of(job),
            "folder": str(table.folder),
            "language": question.language,
        }
        if kind == "publish":
            seconds = question.number("attack") if "attack" in given else ATTACK_SECONDS
            request |= {"attack": seconds, "force": bool(given.get("force"))}
            if given.get("accept_risk"):
                request["accept_risk"] = require_reason(question.text("accept_risk"))
            if given.get("output"):
                request["output"] = str(absolute(question.text("output")))
            elif parsed.ledger is not None:
                raise InputError(
                    "The job has a ledger, which records where a release is published. Name the "
                    "folder of the release."
                )
            if given.get("key"):
                request["key"] = str(absolute(question.text("key")))
        elif kind == "compare":
            if given.get("methods"):
                request["methods"] = given["methods"]
            if given.get("vary"):
                request["vary"] = question.mapping("vary")
            request["budget"] = question.number("budget")
        run = self.runs.start(kind, request, table=table.number)
        run.mapping = job
        return {"run": run.number}

    def start_release_run(self, question: Asked) -> Any:
        number = question.path["release"]
        place, kind, given = self.releases[number], question.text("kind"), question.given
        if kind not in RELEASE_RUNS:
            raise RefusedError(422, f"A release has runs of the kinds {', '.join(RELEASE_RUNS)}.")
        request: dict[str, Any] = {
            "release": str(place),
            "seconds": question.number("seconds"),
            "language": question.language,
        }
        if given.get("original"):
            request["original"] = str(absolute(question.text("original")))
        elif given.get("table"):
            table = self.tables[question.text("table")]
            request |= {"job": table.text_of(question.mapping("job")), "folder": str(table.folder)}
        elif kind != "audit":
            raise RefusedError(422, f"To {kind} a release, name its job file as 'original'.")
        return {"run": self.runs.start(kind, request, release=number).number}

    def start_series_run(self, question: Asked) -> Any:
        request = {
            "ledger": question.text("ledger"),
            "key": question.given.get("key"),
            "language": question.language,
        }
        return {"run": self.runs.start("series", request).number}

    def start_run_on_run(self, question: Asked) -> Any:
        run, kind = self._run(question), question.text("kind")
        if kind not in RELEASE_RUNS:
            raise RefusedError(422, f"A release has runs of the kinds {RELEASE_RUNS}.")
        place = self._published(run)
        request = {
            "release": str(place),
            "job": run.request["job"],
            "folder": run.request["folder"],
            "language": question.language,
            "seconds": question.number("seconds"),
        }
        return {"run": self.runs.start(kind, request, table=run.table).number}

    def _run(self, question: Asked) -> StudioRun:
        return self.runs[question.path["run"]]

    def _published(self, run: StudioRun) -> Path:
        """The release folder of a run that published one."""
        if run.kind != "publish":
            raise RefusedError(404, f"A run of kind '{run.kind}' has no release.")
        run.require_done()
        output = run.request.get("output")
        return run.file(RELEASE) if output is None else Path(output)

    def list_runs(self, question: Asked) -> Any:
        found = self.runs.of(question.query.get("table"), question.query.get("release"))
        return {"runs": [run.describe(with_result=False) for run in found]}

    def describe_run(self, question: Asked) -> Any:
        run = self._run(question)
        said = run.describe()
        if run.kind == "publish" and said["result"] is not None:
            said["result"]["signed"] = sign_offs(self._published(run))
            said["result"]["accepted_risk"] = accepted_risk(self._published(run))
        return said

    def cancel_run(self, question: Asked) -> Any:
        run = self._run(question)
        run.cancel()
        return run.describe()

    def remove_run(self, question: Asked) -> Any:
        self.runs.remove(self._run(question).number)
        return {}

    def report(self, question: Asked) -> Response:
        run = self._run(question)
        if run.kind != "publish":
            return _page(run.file(PAGE))
        release = self._published(run)
        if question.query.get("public"):
            return _page(release / REPORT)
        return _page(release.with_name(f"{release.name}.private.html"))

    def preview(self, question: Asked) -> Any:
        return self._run(question).read(PREVIEW)

    def points(self, question: Asked) -> Any:
        return self._run(question).read(COMPARISON)

    def point(self, question: Asked) -> Any:
        """The job by the method and setting of a compared release."""
        run = self._run(question)
        _ = run.read(COMPARISON)
        if run.table is None or run.mapping is None:
            raise RefusedError(404, "The run has no table.")
        label = question.query.get("label", "")
        job = self.tables[run.table].parsed(run.mapping)
        chosen = compared_job(job, run.folder, label).model_dump(
            mode="json", include={"method", "requirements"}
        )
        return {"label": label, "job": {**run.mapping, **chosen}}

    def run_risk(self, question: Asked) -> Any:
        return self._run(question).read(RISK)

    def job_file(self, question: Asked) -> Response:
        run = self._run(question)
        if "job" not in run.request:
            raise RefusedError(404, "The run has no job.")
        return attachment(run.request["job"], JOB)

    def _beside(self, run: StudioRun) -> list[tuple[str, Path]]:
        """The job of a run and its hierarchy files, by their names beside a release."""
        written = run.folder / JOB
        written.write_text(run.request["job"], encoding="utf-8")
        files: list[tuple[str, Path]] = [(JOB, written)]
        if run.mapping is not None and run.table is not None:
            table = self.tables[run.table]
            files += [(name, table.folder / name) for name in table.files_of(run.mapping)]
        return files

    def _leaving(self, run: StudioRun) -> Path:
        """The release folder of a run, if it may leave the private folder."""
        release = self._published(run)
        require_accepted(release)
        return release

    def accept(self, question: Asked) -> Any:
        """Record why the risk of a release is accepted although it should not be published."""
        release = self._published(self._run(question))
        return {"accepted_risk": accept_risk_of(release, question.text("reason"))}

    def download(self, question: Asked) -> Response:
        run = self._run(question)
        release = self._leaving(run)
        files = [*files_below(release, RELEASE), *self._beside(run)]
        if question.query.get("private"):
            files += private_files(release, RELEASE)
        return zipped(self.private.path, "release.zip", files)

    def save(self, question: Asked) -> Any:
        run = self._run(question)
        release, target = self._leaving(run), absolute(question.text("path"))
        others = [
            (f"{target.name}.{name}" if name == JOB else name, file)
            for name, file in self._beside(run)
        ]
        force = bool(question.given.get("force"))
        return {"path": str(target), "files": save_release(release, target, others, force=force)}

    def sign(self, question: Asked) -> Any:
        run = self._run(question)
        release = self._published(run)
        verdict = run.result()["verdict"]["verdict"]
        return {"signed": _signed(release, question, verdict)}

    # Releases

    def open_release(self, question: Asked) -> Any:
        return self.releases.open(question.text("path"))

    def list_releases(self, _: Asked) -> Any:
        return {"releases": self.releases.listed()}

    def describe_release(self, question: Asked) -> Any:
        return self.releases.describe(question.path["release"])

    def close_release(self, question: Asked) -> Any:
        number = question.path["release"]
        for run in self.runs.of(release=number):
            self.runs.remove(run.number)
        self.releases.close(number)
        return {}

    def release_report(self, question: Asked) -> Response:
        return _page(self.releases[question.path["release"]] / REPORT)

    def sign_release(self, question: Asked) -> Any:
        return {"signed": _signed(self.releases[question.path["release"]], question, None)}


def _job(question: Asked) -> dict[str, Any]:
    """Return the job that the page has, with reports in its language unless the job names one."""
    job = question.mapping("job")
    output = job.get("output") or {}
    if question.language == LANGUAGES[0] or not isinstance(output, dict) or "language" in output:
        return job
    return {**job, "output": {**output, "language": question.language}}


def _signed(release: Path, question: Asked, verdict: str | None) -> dict[str, Any]:
    note = question.given.get("note") or ""
    if not isinstance(note, str):
        raise RefusedError(422, "'note' must be text.")
    return sign_off_release(release, question.text("name"), note, verdict)


def _problems(table: StudioTable, job: Mapping[str, Any]) -> list[str]:
    try:
        table.parsed(job)
    except JobError as error:
        return list(error.problems)
    except InputError as error:
        return [str(error)]
    return []


def _page(place: Path) -> Response:
    if not place.is_file():
        raise RefusedError(404, "There is no report.")
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(place, media_type="text/html; charset=utf-8", headers=headers)
