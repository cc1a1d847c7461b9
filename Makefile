# Everything a fresh clone needs: python3 and make.
PYTHON ?= python3
VENV := .venv
CORE := .venv-core
EMPTY := .venv-wheel
# Windows keeps the programs of an environment in another folder.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --constraint constraints.txt
PROJECT := pyproject.toml constraints.txt
# Parallel tests share the cores; a library that starts its own threads in each would fight.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Tests without a browser, other processes, neural detectors or real data.
FAST := tests/test_layout.py tests/docs/test_public_names.py tests/test_api.py tests/test_inputs.py tests/test_intervals.py tests/test_buffers.py \
	tests/_util tests/kernels tests/algorithms tests/measures tests/engine/test_tasks.py tests/engine/test_results.py \
	tests/bench/test_plan.py tests/studies/statistics tests/studies/test_perturbations.py \
	tests/studies/timing/test_cases.py tests/studies/timing/test_sampling.py tests/studies/timing/test_storage.py
# Without the theme's advertisement for its successor.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

# Tests start many processes. Without cached bytecode each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo check test ready lint types layers compiled tests test-core workflows dist release-check bench fuzz chaos interrupts docs docs-serve pictures clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## Run a benchmark and two studies on made-up series; write a page of it
	@$(BIN)/vuskit demo --output out/demo $(ARGS)

check: $(VENV)/.dev ## Lint, types, layers and the fast tests, in under two minutes
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint types layers compiled
	$(ONE_THREAD) $(BIN)/pytest -q --numprocesses 2 --dist loadgroup $(FAST)

test: ready tests test-core ## Lint, types, layers, tests; also with the core install alone

# None of these keeps two cores busy; the tests do.
ready:
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint types layers compiled $(CORE)/.done

bench: $(VENV)/.dev ## Compare the speed with scikit-learn and the peers
	$(BIN)/python benchmarks/speed.py $(ARGS)

chaos: $(VENV)/.dev ## Disturb a benchmark run with kills, faults and edits; compare with an undisturbed one
	$(BIN)/python benchmarks/bench_chaos.py $(ARGS)

interrupts: $(VENV)/.dev ## Press Ctrl-C at 200 moments of four commands; takes half an hour
	$(BIN)/python benchmarks/interrupts.py $(ARGS)

fuzz: $(VENV)/.dev ## Fuzz all measures; ARGS="--seed 7 --seconds 600" for other cases
	$(ONE_THREAD) $(BIN)/python benchmarks/fuzz.py $(ARGS)

docs: $(VENV)/.docs ## Build the documentation into site/; open site/index.html
	$(MKDOCS) build --strict

docs-serve: $(VENV)/.docs ## Show the documentation while you write it
	$(MKDOCS) serve

pictures: $(VENV)/.dev ## Make the pictures of the documentation again; takes minutes
	$(BIN)/vuskit demo --output out/demo
	$(BIN)/python docs/figures/make_readme.py out/demo
	$(BIN)/python docs/figures/make_animation.py
	$(BIN)/python docs/figures/make_screenshots.py out/demo
	$(BIN)/python docs/figures/make_gallery.py
	$(BIN)/python docs/figures/make_synthetic.py

dist: $(VENV)/.dev ## Build wheel and sdist into dist/ and check them
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

release-check: dist ## Build, check, install the wheel into an empty environment and use it; TAG=v0.2.0
	$(BIN)/python tests/release_version.py $(TAG)
	rm -rf $(EMPTY)
	$(PYTHON) -m venv $(EMPTY)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(EMPTY)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt dist/*.whl
	$(EMPTY)/$(SCRIPTS)/python tests/only_numpy.py
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(EMPTY)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt "$$(ls dist/*.whl)[cli]"
	$(EMPTY)/$(SCRIPTS)/vuskit doctor
	$(EMPTY)/$(SCRIPTS)/python -m vuskit conformance export --output $(EMPTY)/suite.json
	$(EMPTY)/$(SCRIPTS)/python examples/conformance_reader.py $(EMPTY)/suite.json $(EMPTY)/results.json
	$(EMPTY)/$(SCRIPTS)/vuskit conformance check $(EMPTY)/results.json

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(PROJECT) | $(BIN)/python
	$(PIP) --editable ".[bench]"
	@touch $@

$(VENV)/.docs: $(PROJECT) | $(BIN)/python
	$(PIP) --editable ".[docs]"
	@touch $@

$(VENV)/.dev: $(PROJECT) | $(BIN)/python
	$(PIP) --editable ".[all,dev]"
	@touch $@ $(VENV)/.demo $(VENV)/.docs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory workflows

# Both work offline.
workflows: $(VENV)/.dev
	$(BIN)/zizmor --offline --no-progress --quiet .github
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

# Once, before many processes of the tests would all do it.
compiled: $(VENV)/.dev
	$(BIN)/python -c "import vuskit; vuskit.warm_up()"

tests: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/pytest --numprocesses 2 --dist loadgroup

# The core must install with NumPy alone and pass its tests without any extra.
$(CORE)/.done: $(PROJECT) $(shell find src/vuskit -name '*.py')
	rm -rf $(CORE)
	$(PYTHON) -m venv $(CORE)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(CORE)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt .
	$(CORE)/$(SCRIPTS)/python tests/only_numpy.py
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(CORE)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt pytest pytest-xdist hypothesis
	@touch $@

test-core: $(CORE)/.done
	$(ONE_THREAD) $(CORE)/$(SCRIPTS)/python -m pytest -q --numprocesses 2 -p no:cacheprovider tests/kernels tests/measures tests/test_inputs.py tests/test_intervals.py tests/test_buffers.py tests/test_api.py tests/test_conformance.py tests/test_metric.py

clean: ## Remove environments and outputs
	rm -rf $(VENV) $(CORE) $(EMPTY) .peers out site dist
