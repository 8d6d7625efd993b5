"""The questions that a page may ask, each a function of the state of one server."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
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
    SIGNER,
    accept_risk_of,
    require_accepted,
    sign_off_release,
)
from discreet.addons.studio.releases import (
    JOB,
    RELEASE,
    REPORT,
    RISK,
    StudioRelease,
    StudioReleases,
    absolute,
    describe_ledger,
    list_places,
)
from discreet.addons.studio.runs import StudioRun, StudioRuns
from discreet.addons.studio.tables import HIERARCHIES, StudioTable, StudioTables, file_name
from discreet.addons.studio.work import COMPARISON, JUDGEMENTS, PAGE, PREVIEW
from discreet.api.compare import compared_job
from discreet.pipeline.decide import require_reason
from discreet.pipeline.release import ATTACK_SECONDS

TABLE_RUNS = ("publish", "preview", "compare", "repair", "judge")
RELEASE_RUNS = ("audit", "attack", "measure", "evidence")
FRAMEWORKS = ("ema", "hipaa", "nist", "gdpr")
REPAIR_SECONDS = 120.0
MOST_NODES = 2000  # of a hierarchy's level that a page may ask for


class StudioSession:
    """Tables, runs and releases of one server."""

    def __init__(self, upload_limit: int, library: Path) -> None:
        self.private = PrivateFolder()
        self.tables = StudioTables(self.private)
        self.runs = StudioRuns(self.private, upload_limit)
        self.releases = StudioReleases(library)
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
        return describe_ledger(question.text("path"), _key(question))

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

    def draft(self, question: Asked) -> Any:
        return self._table(question).describe_draft()

    def edit_draft(self, question: Asked) -> Any:
        table, edits = self._table(question), question.given.get("edits")
        if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
            raise RefusedError(422, "'edits' must be a list of objects.")
        table.draft.edit(question.given.get("revision"), edits)
        return table.describe_draft()

    def standing(self, question: Asked) -> Any:
        table = self._table(question)
        names = list(table.opened.table.columns)
        written = question.query.get("unknown", "").split(",")
        places = {int(place) for place in written if place.isdecimal() and len(place) < 7}
        return table.standing([name for place, name in enumerate(names) if place in places])

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
        table = self._table(question)
        job = _job(question, table)
        text = table.text_of(job)
        return {
            "yaml": text,
            "problems": table.problems(job),
            "files": table.files_of(job),
            "command": "discreet publish job.yaml",
        }

    def zipped_job(self, question: Asked) -> Response:
        table = self._table(question)
        job = _job(question, table)
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
        return {"job": job, "problems": table.problems(job)}

    def feasibility(self, question: Asked) -> Any:
        try:
            table = self._table(question)
            feasible = table.feasibility(_job(question, table))
        except JobError as error:
            return {"requirements": [], "sensitive": [], "problems": list(error.problems)}
        return {**feasible, "problems": []}

    def settings(self, question: Asked) -> Any:
        """What a comparison would run, and what it would not, with the reason."""
        table = self._table(question)
        settings = table.settings(_job(question, table), question.listed("k", int))
        return {
            "settings": [
                {**asdict(setting), "label": setting.label, "infeasible": reason}
                for setting, reason in settings
            ]
        }

    # Runs

    def start_table_run(self, question: Asked) -> Any:
        table, kind = self._table(question), question.text("kind")
        if kind not in TABLE_RUNS:
            raise RefusedError(422, f"A table has runs of the kinds {', '.join(TABLE_RUNS)}.")
        job = _job(question, table)
        parsed = table.parsed(job)  # its problems now, not in the worker
        parameters = question.given
        request: dict[str, Any] = {
            "job": table.text_of(job),
            "folder": str(table.folder),
            "language": question.language,
        }
        if kind == "publish":
            seconds = question.number("attack") if "attack" in parameters else ATTACK_SECONDS
            request |= {"attack": seconds, "force": bool(parameters.get("force"))}
            if parameters.get("accept_risk"):
                request["accept_risk"] = require_reason(question.text("accept_risk"))
            if parameters.get("output"):
                request["output"] = str(absolute(question.text("output")))
            elif parsed.ledger is not None:
                raise InputError(
                    "The job has a ledger, which records where a release is published. Name the "
                    "folder of the release."
                )
            if parameters.get("key"):
                request["key"] = str(absolute(question.text("key")))
            number, entry = self.releases.new()
            request |= {"release": number, "entry": str(entry), "name": table.name}
            request["files"] = table.files_of(job)
        elif kind == "repair":
            request["budget"] = question.number("budget") or REPAIR_SECONDS
        elif kind == "compare":
            labels = question.listed("labels", str)
            request["settings"] = [
                asdict(setting)
                for setting, reason in table.settings(job, question.listed("k", int))
                if (setting.label in labels if labels else reason is None)
            ]
            if not request["settings"]:
                raise RefusedError(422, "No setting can hold for this table. Change the job first.")
            request["budget"] = question.number("budget")
        elif kind == "judge":
            output = self.tables[question.text("output")]
            suppressed = question.listed("suppressed", str)
            request |= {"output": str(output.path), "suppressed": suppressed}
        run = self.runs.start(kind, request, table=table.number)
        run.mapping = job
        return {"run": run.number}

    def start_release_run(self, question: Asked) -> Any:
        release, kind, parameters = self._release(question), question.text("kind"), question.given
        if kind not in RELEASE_RUNS:
            raise RefusedError(422, f"A release has runs of the kinds {', '.join(RELEASE_RUNS)}.")
        request: dict[str, Any] = {
            "release": str(release.place),
            "seconds": question.number("seconds"),
            "language": question.language,
        }
        if kind == "evidence":
            request["framework"] = question.text("framework")
            if request["framework"] not in FRAMEWORKS:
                raise RefusedError(422, f"A framework is one of: {', '.join(FRAMEWORKS)}.")
        if parameters.get("original"):
            request["original"] = str(absolute(question.text("original")))
        elif parameters.get("table"):
            table = self.tables[question.text("table")]
            request |= {"job": table.text_of(_job(question, table)), "folder": str(table.folder)}
        elif not parameters.get("files_only"):
            request |= release.original()
        if kind in ("attack", "measure") and "original" not in request and "job" not in request:
            raise RefusedError(422, f"To {kind} a release, name its job file as 'original'.")
        return {"run": self.runs.start(kind, request, release=release.number).number}

    def start_series_run(self, question: Asked) -> Any:
        request = {
            "ledger": question.text("ledger"),
            "key": _key(question),
            "language": question.language,
        }
        return {"run": self.runs.start("series", request).number}

    def _run(self, question: Asked) -> StudioRun:
        return self.runs[question.path["run"]]

    def _release(self, question: Asked) -> StudioRelease:
        return self.releases[question.path["release"]]

    def list_runs(self, question: Asked) -> Any:
        runs = self.runs.of(question.query.get("table"), question.query.get("release"))
        return {
            "runs": [
                {**run.describe(with_result=False), "outdated": self._outdated(run)} for run in runs
            ]
        }

    def _outdated(self, run: StudioRun) -> bool:
        """Whether the job has changed since a run; its columns alone, for a comparison."""
        if run.mapping is None or run.table is None:
            return False
        now, before = self.tables[run.table].draft.job, run.mapping
        keys = {*now, *before} - {"output"}
        if run.kind == "compare":  # what is chosen of it changes the rest of the job
            keys = {"attributes", "person", "secrets", "unit"}
        return any(now.get(key) != before.get(key) for key in keys)

    def describe_run(self, question: Asked) -> Any:
        run = self._run(question)
        described = {**run.describe(), "outdated": self._outdated(run)}
        if run.kind == "publish" and described["result"] is not None:
            described["result"] = self.releases[run.request["release"]].describe()
        return described

    def cancel_run(self, question: Asked) -> Any:
        run = self._run(question)
        run.cancel()
        return run.describe()

    def remove_run(self, question: Asked) -> Any:
        self.runs.remove(self._run(question).number)
        return {}

    def report(self, question: Asked) -> Response:
        part = question.query.get("part")
        return _page(self._run(question).file(f"{part}.html" if part in JUDGEMENTS else PAGE))

    def run_preview(self, question: Asked) -> Any:
        return self._run(question).read(PREVIEW)

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

    def release_preview(self, question: Asked) -> Any:
        return json.loads(self._release(question).file(PREVIEW).read_text(encoding="utf-8"))

    def risk(self, question: Asked) -> Any:
        return json.loads(self._release(question).file(RISK).read_text(encoding="utf-8"))

    def job_file(self, question: Asked) -> Response:
        return attachment(self._release(question).file(JOB).read_text(encoding="utf-8"), JOB)

    def accept(self, question: Asked) -> Any:
        """Record why the risk of a release is accepted although it should not be published."""
        return {
            "accepted_risk": accept_risk_of(self._release(question).place, question.text("reason"))
        }

    def download(self, question: Asked) -> Response:
        release = self._release(question)
        require_accepted(release.place)
        files = [*files_below(release.place, RELEASE), *release.beside()]
        if question.query.get("private"):
            files += private_files(release.place, RELEASE)
        return zipped(self.private.path, "release.zip", files)

    def save(self, question: Asked) -> Any:
        release, target = self._release(question), absolute(question.text("path"))
        require_accepted(release.place)
        others = [
            (f"{target.name}.{name}" if name == JOB else name, file)
            for name, file in release.beside()
        ]
        force = bool(question.given.get("force"))
        saved = save_release(release.place, target, others, force=force)
        return {"path": str(target), "files": saved}

    def sign(self, question: Asked) -> Any:
        """Record who signs the declaration that the page shows, in its language."""
        parameters = question.given
        if not all(isinstance(parameters.get(key) or "", str) for key in SIGNER):
            raise RefusedError(422, "What is signed must be text.")
        signer = {key: parameters.get(key) or "" for key in SIGNER}
        return {"signed": sign_off_release(self._release(question).place, signer)}

    # Releases

    def open_release(self, question: Asked) -> Any:
        return self.releases.open(question.text("path"))

    def list_releases(self, _: Asked) -> Any:
        return {"releases": self.releases.listed()}

    def describe_release(self, question: Asked) -> Any:
        return self._release(question).describe()

    def close_release(self, question: Asked) -> Any:
        number = question.path["release"]
        for run in self.runs.of(release=number):
            self.runs.remove(run.number)
        self.releases.close(number)
        return {}

    def release_report(self, question: Asked) -> Response:
        place = self._release(question).place
        if (
            question.query.get("public")
            or not place.with_name(f"{place.name}.private.html").is_file()
        ):
            return _page(place / REPORT)
        return _page(place.with_name(f"{place.name}.private.html"))


def _key(question: Asked) -> str | None:
    """Return the path of a key; None where it lies beside its ledger."""
    return question.text("key") if question.given.get("key") else None


def _job(question: Asked, table: StudioTable) -> dict[str, Any]:
    """Return the job that a question is about: the draft of the table, unless it names another.

    Reports are in the language of the page, unless the job names one.
    """
    if "job" in question.given:
        job = question.mapping("job")
    else:
        job = table.draft.at(question.given.get("revision"))
    output = job.get("output") or {}
    if question.language == LANGUAGES[0] or not isinstance(output, dict) or "language" in output:
        return job
    return {**job, "output": {**output, "language": question.language}}


def _page(place: Path) -> Response:
    if not place.is_file():
        raise RefusedError(404, "There is no report.")
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(place, media_type="text/html; charset=utf-8", headers=headers)
