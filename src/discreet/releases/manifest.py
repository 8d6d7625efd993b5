"""The manifest: what a release says about itself, publishable and readable by others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WrapValidator

from discreet import __version__
from discreet.errors import InputError, ReleaseError
from discreet.extras import require_unforked
from discreet.io.knowledge import KnowledgeColumns
from discreet.methods.registry import AnyMethodEntry
from discreet.regular_files import open_regular, path_of, read_whole
from discreet.requirements.base import Requirement, Verdict
from discreet.requirements.judge import covered
from discreet.requirements.registry import REQUIREMENTS
from discreet.statements import Statement
from discreet.table.bitmaps import Bitmap
from discreet.table.persons import CollapseRule, Keeping, Link, Scope
from discreet.table.roles import Distance, Role, Unit, ValueType

if TYPE_CHECKING:
    from discreet.methods.base import Task

FILE_NAME = "manifest.json"
FORMAT = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class TableEntry(_Part):
    """One published file."""

    file: str
    rows: int
    columns: dict[str, Role]
    sha256: str = ""


class KnowledgeEntry(_Part):
    """The knowledge table of guarantees about an attribute; its path is not published."""

    columns: KnowledgeColumns
    sha256: str  # of what it says, whatever its file looked like
    prior: Literal["given", "estimated"]


class AttributeEntry(_Part):
    """What a re-derivation must know about a published attribute."""

    type: ValueType = ValueType.TEXT
    distance: Distance | None = None
    multi_valued: str | None = None
    escaped: bool = False
    hierarchy: list[list[str | None]] | None = None  # of a distance or a level: a row a leaf
    knowledge: KnowledgeEntry | None = None  # of a quasi-sensitive attribute
    # Of a quasi-identifier: the level of its hierarchy below which no cell is.
    finest: int | None = Field(default=None, ge=1)


class BitmapEntry(_Part):
    """How the sets of a multi-valued attribute were published as bits."""

    separator: str
    members: dict[str, str]  # by the name of the bit
    rest: str | None = None  # the bit that rare members share

    @classmethod
    def of(cls, bitmap: Bitmap) -> BitmapEntry:
        """The entry of a bitmap."""
        return cls(separator=bitmap.separator, members=dict(bitmap.members), rest=bitmap.rest)

    def to_bitmap(self, attribute: str) -> Bitmap:
        """The bitmap of an entry."""
        return Bitmap(attribute, self.separator, self.members, self.rest)


def _kept_statement(value: Any, validate: Callable[[Any], str]) -> str:
    """Return a statement as it is, for pydantic would make a plain string of it."""
    return value if isinstance(value, Statement) else validate(value)


Sentence = Annotated[str, WrapValidator(_kept_statement)]


class Promise(_Part):
    """One requirement, whether it holds, and what was achieved."""

    requirement: str
    parameters: dict[str, Any]
    holds: bool
    achieved: dict[str, float | None]
    by_attribute: dict[str, float | None] = Field(default_factory=dict)
    unproved: Sentence | None = None  # why an audit could not derive it, and what would help
    # The attributes about which it excludes nothing: the original satisfies it as well; "" for the
    # sizes of groups. None where it excludes something about each.
    vacuous_for: list[str] | None = None

    @classmethod
    def of(cls, requirement: Requirement, verdict: Verdict) -> Promise:
        """The promise that a verdict makes."""
        return cls(
            requirement=requirement.name,
            parameters=requirement.parameters(),
            holds=verdict.holds,
            achieved={name: _finite(figure) for name, figure in verdict.achieved.items()},
            by_attribute={name: _finite(figure) for name, figure in verdict.by_attribute.items()},
            vacuous_for=list(verdict.vacuous_for) or None,
        )

    @property
    def warning(self) -> Statement | None:
        """What to say where it excludes nothing."""
        if self.vacuous_for is None:
            return None
        left_out = ("attribute", "attackers")
        asked = [f"{k} = {v}" for k, v in self.parameters.items() if k not in left_out]
        named = [name for name in self.vacuous_for if name]
        if not named:
            return Statement("vacuous.rows", requirement=self.requirement, parameters=asked)
        return Statement(
            "vacuous", requirement=self.requirement, parameters=asked, attributes=named
        )

    def to_requirement(self) -> Requirement:
        """The requirement that was promised."""
        kind = REQUIREMENTS.get(self.requirement)
        if kind is None:
            raise ReleaseError(
                f"{FILE_NAME}: unknown requirement '{self.requirement}'. "
                "The release may come from a newer version of discreet, or need a plugin that is "
                "not installed."
            )
        try:
            return kind.model_validate(self.parameters)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in (self.requirement, *first["loc"]))
            raise ReleaseError(f"{FILE_NAME}: damaged at '{place}': {first['msg']}.") from None


def _finite(figure: float) -> float | int | None:
    """JSON has no infinity: a figure without bound is null; whole figures are written whole."""
    if figure != figure or figure in (float("inf"), float("-inf")):
        return None
    return int(figure) if figure == int(figure) else figure


class ReaderFinding(_Part):
    """What an attacker on a decomposed release learns beyond the guarantees."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reader: Literal["pair", "row", "matching"]
    known: str
    attribute: str
    least: int
    certain: int
    people: int
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """The finding in the words of results."""
        data = self.model_dump(mode="json")
        return {"attacker": data.pop("reader"), **data}


class TableUtility(_Part):
    """Utility figures of one set of classes or groups, derived from published files alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    discernibility: int  # Σ |class|² + suppressed × source rows
    classes: int
    class_size: float | None = None  # source rows over classes; None where nothing is published
    height: int | None = None  # Σ of the levels of a full-domain recoding
    loss: float | None = None  # where quasi-identifiers are exact: the share of suppressed rows


class Utility(_Part):
    """Utility figures of a release: of its one set of classes, or of each of several tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    discernibility: int | None = None
    classes: int | None = None
    class_size: float | None = None
    height: int | None = None
    loss: float | None = None
    suppressed_share: float | None = None
    tables: dict[str, TableUtility] | None = None


Known = Literal["0", "1", "2", "all"]  # unchanged columns that an attacker knows


class SinglingOut(_Part):
    """How many persons are unique by published cells that an attacker may know.

    A key is the cells of the quasi-identifiers together with some unchanged columns: none, the
    worst one, the worst two, all. It follows from the published files alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str
    unit: Unit  # that is counted
    counted: int
    unchanged: int  # columns that are published as they are
    exact_cells: bool  # whether quasi-identifiers are exact, so that being unique by them is usual
    unique: dict[Known, int]
    columns: dict[Known, list[str]] = Field(default_factory=dict)  # the worst one and two
    alone: int | None = None  # unique by the worst column even without quasi-identifiers
    most: dict[str, int] = Field(default_factory=dict)  # the worst columns, each by itself
    # Where there are too many pairs: the persons drawn, and an upper bound of ``unique["2"]``.
    drawn: int | None = None
    at_most: int | None = None
    group_known: dict[Known, int] | None = None  # by key, where groups have numbers: "0" and "all"

    def share(self, known: Known) -> float:
        """Return the share of persons who are unique; where it was estimated, its upper bound."""
        count = self.unique[known]
        if known == "2" and self.at_most is not None:
            count = self.at_most
        return count / max(self.counted, 1)

    def singled_out(self, known: Known) -> float:
        """Return the share of persons whom an attacker singles out, as the verdict counts it.

        Where quasi-identifiers are exact: those whom only unchanged columns make unique.
        """
        return self.added(known) if self.exact_cells else self.share(known)

    def added(self, known: Known) -> float:
        """Return the share of persons whom only unchanged columns make unique."""
        return self.share(known) - self.share("0")


class PersonEntry(_Part):
    """What was done to the rows of a person before the method saw them.

    The publisher states it; an audit with the original checks it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: Literal["one", "collapse", "keep"]
    rules: dict[str, CollapseRule] = Field(default_factory=dict)  # by published attribute
    count: str | None = None  # the attribute that is the number of a person's rows
    scope: Scope | None = None  # of rows that are kept
    link: Link | None = None
    at_most: int | None = None  # published rows of a person

    @classmethod
    def of(cls, task: Task) -> PersonEntry | None:
        """The entry of a release about persons; None where the job names none."""
        persons = task.basis.one_row_each
        if task.basis.persons is not None:
            keeping = task.basis.keeping
            return cls(rows="keep", scope=keeping.scope, link=keeping.link, at_most=keeping.at_most)
        if persons is None:
            return None
        rows: Literal["one", "collapse"] = "one" if persons.rules is None else "collapse"
        return cls(rows=rows, rules=dict(persons.rules or {}), count=persons.count)


class RareAttribute(_Part):
    """How rare values of a sensitive attribute appear in published tables.

    Each of these labels, and ``*``, stands for at least ``least`` values of the source that no
    cell shows otherwise: the publisher states it, and an audit with the original checks it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    least: int = Field(ge=2)
    masked: int = 0  # published cells '*'
    lifted: dict[str, int] = Field(default_factory=dict)  # by label: published cells


class RareEntry(_Part):
    """What was done to rare values before the method saw the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suppressed_rows: int = Field(default=0, ge=0)  # beside those of the method
    attributes: dict[str, RareAttribute]

    @classmethod
    def of(cls, task: Task) -> RareEntry | None:
        """The entry of a job that treats rare values; None of others."""
        if task.secrets.rare is None:
            return None
        return cls(
            suppressed_rows=task.secrets.rare.suppressed_rows,
            attributes={
                name: RareAttribute(
                    least=counts.least,
                    masked=counts.masked,
                    lifted=dict.fromkeys(counts.labels, 0),
                )
                for name, counts in task.secrets.rare.attributes.items()
            },
        )


class Manifest(_Part):
    """The whole manifest."""

    discreet: Annotated[str, Field(pattern=r"^[0-9A-Za-z.+-]{1,40}$")]
    format: Literal[1] = 1
    kind: str
    method: AnyMethodEntry
    tables: dict[str, TableEntry]
    attributes: dict[str, AttributeEntry] = Field(default_factory=dict)
    bitmaps: dict[str, BitmapEntry] = Field(default_factory=dict)  # by attribute
    # Sensitive attributes that the publisher states to be one secret, the finest of each first.
    secrets: list[list[str]] | None = None
    # The unit that guarantees count. It cannot be derived from the files: the publisher states it,
    # and an audit with the original checks it.
    unit: Unit = Unit.ROW
    person: PersonEntry | None = None
    rare: RareEntry | None = None
    source_rows: int  # that the method saw
    published_rows: int
    suppressed_rows: int
    promises: list[Promise] = Field(default_factory=list)
    # By sensitive and quasi-sensitive attribute: the requirements whose guarantee covers it.
    coverage: dict[str, list[str]] = Field(default_factory=dict)
    readers: list[ReaderFinding] = Field(default_factory=list)  # of decomposed releases
    utility: Utility = Field(default_factory=Utility)
    # Whether a ledger records the release: such a folder is never replaced.
    recorded: Literal[True] | None = None
    singling_out: SinglingOut | None = None
    report_sha256: str | None = None  # of the page beside it, where there is one

    @property
    def all_rows(self) -> int:
        """The rows of the source, also those that were suppressed because of rare values."""
        return self.source_rows + (0 if self.rare is None else self.rare.suppressed_rows)

    @property
    def lost_rows(self) -> int:
        """The rows of the source that were not published, for whatever reason."""
        return self.all_rows - self.published_rows

    @property
    def lost_share(self) -> float:
        """The share of the rows of the source that were not published."""
        return self.lost_rows / max(self.all_rows, 1)

    @property
    def recoded(self) -> frozenset[str]:
        """The sensitive attributes in which ``*`` stands for values that no other cell shows."""
        return frozenset() if self.rare is None else frozenset(self.rare.attributes)

    @property
    def dependents(self) -> dict[str, str]:
        """The sensitive attributes that go with a finer one of their secret, and that one."""
        return {name: secret[0] for secret in self.secrets or () for name in secret[1:]}

    @property
    def disclosable(self) -> dict[str, set[str | None]]:
        """The values that the guarantees on each sensitive attribute let be disclosed, if any."""
        roles = {
            name: role for table in self.tables.values() for name, role in table.columns.items()
        }
        values: dict[str, set[str | None]] = {}
        for promise in self.promises:
            requirement = promise.to_requirement()
            for name in covered(requirement, roles) if requirement.coverage.spared else ():
                values.setdefault(name, set()).update(requirement.coverage.spared)
        return values

    @property
    def keeps_rows(self) -> bool:
        """Whether a person may have several published rows, and guarantees count persons."""
        return self.person is not None and self.person.rows == "keep"

    @property
    def keeping(self) -> Keeping:
        """How several rows of a person are published."""
        person = self.person
        if person is None or person.rows != "keep":
            return Keeping()
        return Keeping(person.scope or Scope.PERSONS, person.link or Link.NONE, person.at_most)

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read the manifest of a release folder."""
        require_unforked()
        folder = path_of(folder, "The release")
        path = folder / FILE_NAME
        if not folder.is_dir():
            raise ReleaseError(f"{folder}: no such release folder. Check the path.")
        # JSON that could be read in two ways is refused before it is validated.
        try:
            written = read_whole(path)
            read = json.loads(written, object_pairs_hook=_unique, parse_constant=_no_constant)
            _require_format(read, path)
            return cls.model_validate_json(written)
        except ReleaseError:
            raise
        except InputError as error:
            raise ReleaseError(f"{error} Get the release again.") from None
        except OSError as error:
            raise ReleaseError(
                f"{path}: {error.strerror}. A release folder holds a {FILE_NAME}."
            ) from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ReleaseError(f"{path}: damaged at '{place}': {first['msg']}.") from None
        except (ValueError, RecursionError) as error:
            problem = str(error) if isinstance(error, _ManifestJsonError) else "not valid JSON"
            raise ReleaseError(
                f"{path}: {problem}. Get the folder again from its publisher."
            ) from None

    def to_json(self) -> str:
        """The manifest as it is written."""
        data = self.model_dump(mode="json", exclude_none=True)
        if not self.bitmaps:
            del data["bitmaps"]
        for promise, written in zip(self.promises, data["promises"], strict=True):
            written["achieved"] = promise.achieved  # a figure without bound stays, as null
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _require_format(read: object, path: Path) -> None:
    """Raise where a manifest says that it has a newer format."""
    format = read.get("format") if isinstance(read, dict) else None
    if isinstance(format, int) and format > FORMAT:
        raise ReleaseError(
            f"{path}: has format {format}, of a newer version of discreet. This is {__version__}, "
            f"which reads format {FORMAT}. Update discreet."
        )


class _ManifestJsonError(ValueError):
    """JSON that two programs could read differently."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _ManifestJsonError(f"duplicate key '{twice}'")
    return read


def _no_constant(name: str) -> Any:
    raise _ManifestJsonError(f"{name} is not a JSON number")


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
