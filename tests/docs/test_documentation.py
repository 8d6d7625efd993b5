"""The documentation is true: everything public is in it, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from discreet.cli.app import app
from discreet.io.source import Source
from discreet.job.model import Job
from discreet.job.parts import Attribute
from discreet.methods.registry import METHODS
from discreet.requirements.registry import REQUIREMENTS

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])


def text_of(*names: str) -> str:
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in names)


def blocks(page: Path, language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return list(found)


def test_every_command_is_documented():
    for name in typer.main.get_command(app).list_commands(None):
        assert f"`discreet {name}" in text_of("reference.md"), name


@pytest.mark.parametrize("name", REQUIREMENTS.built_in)
def test_every_requirement_is_documented_with_its_parameters(name):
    page = text_of("job.md", "reference.md")
    assert f"`{name}`" in page
    for parameter in REQUIREMENTS[name].model_fields:
        assert f"`{parameter}`" in page or f"`{parameter}:" in page, parameter


def page_of(method: str) -> str:
    """Return the page of a method; those for series of releases share one."""
    shared = method in ("m-invariance", "rho-different")
    return f"methods/{'re-publication' if shared else method}.md"


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_every_method_has_a_page_with_its_parameters_and_is_named_where_one_chooses(method):
    rival = method.__module__.startswith("experiments.rivals.")
    page = text_of("papers/index.md" if rival else page_of(method.name))
    for parameter in method.model_fields:
        assert f"`{parameter}`" in page, parameter
    assert rival or f"`{method.name}`" in text_of("which-method.md")


@pytest.mark.parametrize("page", sorted((DOCS / "methods").glob("*.md")), ids=lambda p: p.stem)
def test_a_method_page_begins_with_when_and_ends_with_theory(page):
    heads = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert (heads[0], heads[-1]) == ("When to use it", "Theory")


@pytest.mark.parametrize("model", [Job, Source, Attribute])
def test_every_job_key_is_documented(model):
    for key in model.model_fields:
        page = text_of("job.md")
        assert f"`{key}`" in page or f"\n{key}:" in page or f"## {key}" in page, key


def test_every_link_leads_somewhere():
    link = re.compile(r"\]\(([^)#]+?)(?:#[^)]*)?\)")
    links = [(page, to) for page in PAGES for to in link.findall(page.read_text(encoding="utf-8"))]
    places = [(page, to) for page, to in links if not to.startswith("https://")]
    assert len(places) > len(PAGES)
    assert not [(page.name, to) for page, to in places if not (page.parent / to).exists()]


def test_every_job_on_a_page_is_valid():
    jobs = [block for page in PAGES for block in blocks(page, "yaml") if "attributes:" in block]
    assert len(jobs) > 10
    for job in jobs:
        assert Job.parse(job).attributes


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900
