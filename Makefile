# The two commands of a newcomer are `make demo` and `make test`; `make setup` prepares .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
LOCK := requirements/development.txt
PIP := pip install --quiet --no-compile --disable-pip-version-check

.PHONY: setup demo studio test test-one explore mass lint size lowest package container lock bench docs notebooks \
	coverage pictures screenshots fresh clean

setup: $(VENV)/.installed

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m $(PIP) 'pip>=25.1'
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml $(LOCK)
	$(BIN)/python -m $(PIP) --constraint $(LOCK) --editable '.[fast]'
	touch $@

# All that a clone needs, in one step: what users install, with all extras, and every group.
$(VENV)/.tested: $(VENV)/.made pyproject.toml $(LOCK)
	$(BIN)/python -m $(PIP) --constraint $(LOCK) --editable '.[all]' --group dev
	touch $(VENV)/.installed $@

demo: setup
	$(BIN)/discreet demo

# A page in the browser with the demo's table.
studio: setup
	$(BIN)/python -m $(PIP) --constraint $(LOCK) --editable '.[studio]'
	$(BIN)/discreet studio --demo

test: $(VENV)/.tested
	tests/install-servers
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# The tests of one method, by what they import (tests/of_method.py): make test-one METHOD=mondrian
test-one: $(VENV)/.tested
	$(BIN)/python -m tests.of_method $(METHOD)

# New random examples for every property and oracle, where `make test` always draws the same ones.
explore: $(VENV)/.tested
	$(BIN)/python -m pytest -n auto --hypothesis-profile exploring tests/properties tests/oracles \
		tests/mass

# Releases of random tables by every method, each derived again from its files; it goes on where it
# stopped. RELEASES=100000 for the whole run.
mass: $(VENV)/.tested
	$(BIN)/python -m tests.mass --releases $(or $(RELEASES),1000)

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

# Lines by room, how wide the seams are that all rooms share, and how many functions and files one
# publish enters. Nothing fails on a figure.
size: setup
	$(BIN)/python -m tests.size
	$(BIN)/python -m tests.reach | tail -2

# The same product with the lowest versions that pyproject.toml names; kernels have a cache of their
# own, since another numba would replace that of $(VENV). Old libraries may warn of themselves.
lowest: $(LOWEST)/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels $(LOWEST)/bin/python -m pytest -n auto \
		--dist loadfile -W ignore::DeprecationWarning tests/io/test_frames.py \
		tests/io/test_delimited.py tests/io/test_writing.py tests/io/test_foreign_files.py \
		tests/releases/test_exporting.py tests/hierarchies tests/requirements \
		tests/cli/test_commands.py

$(LOWEST)/.installed: pyproject.toml tests/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m tests.lowest pandas fast stats excel zstd icd > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m $(PIP) --constraint $(LOWEST)/constraints.txt \
		--editable '.[pandas,fast,stats,excel,zstd,icd]' \
		pytest pytest-xdist hypothesis jsonschema psycopg[binary]
	touch $@

# Build the sdist and the wheel twice, try them in clean environments with the lowest and the newest
# versions, and write the bill of materials and the licences beside them. PYTHONS="python3.12
# python3.13" tries these interpreters too.
package: $(VENV)/.tested
	$(BIN)/python -m tests.package $(if $(PYTHONS),--python $(PYTHONS))

# Follow the Dockerfile step by step, without a container engine (two minutes).
container: $(VENV)/.installed
	$(BIN)/python -m tests.package.container

# Write the versions of this environment down as those that are tested.
lock: $(VENV)/.tested
	head -1 $(LOCK) > $(LOCK).new
	$(BIN)/python -m pip freeze --exclude-editable >> $(LOCK).new
	mv $(LOCK).new $(LOCK)

bench: $(VENV)/.tested
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

# The drawings of the methods in docs/images, from releases of a small table.
pictures: $(VENV)/.tested
	$(BIN)/python -m tests.docs.pictures

# The photographs of pages in docs/images, in a headless Chromium.
screenshots: $(VENV)/.tested
	$(BIN)/python -m tests.report.screenshots
	$(BIN)/python -m tests.studio.pictures

docs: $(VENV)/.tested
	$(BIN)/python -m tests.docs.reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m tests.docs.site site
	$(BIN)/python -m tests.docs.search site

# The tutorials as notebooks in notebooks/, with the examples that they use.
notebooks: $(VENV)/.installed
	$(BIN)/python -m tests.docs.notebooks notebooks

# Lines that one process of tests runs, kernels as Python: PART="tests/papers tests/releases", or all.
coverage: $(VENV)/.tested
	$(BIN)/python -m $(PIP) --constraint $(LOCK) coverage
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run --source=src/discreet -m pytest -m "not data" $(PART)
	$(BIN)/python -m coverage json --quiet -o .coverage.json

# Compiled kernels and bytecode.
fresh:
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

clean: fresh
	rm -rf $(VENV) $(LOWEST) build dist site notebooks .mypy_cache .ruff_cache .pytest_cache .hypothesis
