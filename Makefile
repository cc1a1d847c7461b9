# Everything a fresh clone needs: python3 and make.
PYTHON ?= python3
VENV := .venv
CORE := .venv-core
EMPTY := .venv-wheel
PURE := .venv-pure
INTEGRATIONS := .venv-integrations
# Windows keeps the programs of an environment in another folder.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --constraint constraints.txt
PROJECT := pyproject.toml constraints.txt
# The native core; without a C compiler it is never there, and NumPy computes the kernels.
LIBRARY := src/vuskit/kernels/$(if $(filter Windows_NT,$(OS)),_core.pyd,_core.abi3.so)
C_SOURCES := hatch_build.py $(wildcard src/vuskit/kernels/core/*)
SANITIZED := out/sanitized
# Parallel tests share the cores; a library that starts its own threads in each would fight.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Tests without a browser, other processes, neural detectors or real data.
FAST := tests/test_layout.py tests/docs/test_public_names.py tests/test_api.py tests/test_inputs.py tests/test_intervals.py tests/test_buffers.py \
	tests/_util tests/kernels/labels tests/kernels/ranking tests/kernels/test_native.py tests/kernels/test_backend.py \
	tests/measures tests/engine/test_tasks.py tests/store \
	tests/bench/test_plan.py tests/statistics tests/studies/test_perturbations.py \
	tests/studies/timing/test_cases.py tests/studies/timing/test_contestants.py
# Tests that NumPy alone is enough for, and those of them that depend on the core.
BOTH_CORES := tests/measures tests/test_conformance.py
NUMPY_ONLY := $(BOTH_CORES) tests/test_inputs.py tests/test_intervals.py tests/test_buffers.py tests/test_api.py tests/test_metric.py
# Without the theme's advertisement for its successor.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

# Tests start many processes. Without cached bytecode each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo check test ready core sanitize lint types layers tests test-numpy test-core test-pure test-integrations workflows dist release-check wheel-check bench fuzz chaos interrupts docs docs-serve pictures clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo $(LIBRARY) ## Run a benchmark and two studies on made-up series; write a page of it
	@$(BIN)/vuskit demo --output out/demo $(ARGS)

check: $(VENV)/.dev $(LIBRARY) ## Lint, types, layers and the fast tests, in under two minutes
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint types layers
	$(ONE_THREAD) $(BIN)/pytest -q --numprocesses 2 --dist loadgroup $(FAST)

test: ready tests test-numpy ## Lint, types, layers, tests; also with NumPy alone

# None of these keeps two cores busy; the tests do.
ready:
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint types layers $(CORE)/.done

core: $(LIBRARY) ## Compile the native core after an edit of its C sources

# Without a C compiler, this prints a notice and makes nothing.
$(LIBRARY): $(C_SOURCES) | $(BIN)/python
	@$(BIN)/python hatch_build.py

# A copy of the package gets the checked library, so that other processes never load it.
sanitize: CHECKED = PYTHONPATH=$(CURDIR)/$(SANITIZED) PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	UBSAN_OPTIONS=print_stacktrace=1 LD_PRELOAD="$$(gcc -print-file-name=libasan.so)"
sanitize: $(VENV)/.dev ## Fuzz and test the native core under ASan and UBSan; needs gcc
	rm -rf $(SANITIZED)
	mkdir -p $(SANITIZED)
	cp -R src/vuskit $(SANITIZED)
	rm -f $(SANITIZED)/vuskit/kernels/$(notdir $(LIBRARY))
	CC=gcc VUSKIT_CORE=native $(BIN)/python hatch_build.py --sanitize --into $(SANITIZED)/vuskit/kernels
	$(CHECKED) VUSKIT_CORE=native $(BIN)/python -c "from vuskit.kernels.backend import native_core; print(native_core().__file__)"
	$(CHECKED) $(ONE_THREAD) $(BIN)/python benchmarks/fuzz.py $(or $(ARGS),--seconds 60)
	$(CHECKED) $(ONE_THREAD) $(BIN)/pytest -q -p no:cacheprovider tests/test_conformance.py tests/kernels

bench: $(VENV)/.dev $(LIBRARY) ## Compare the speed with scikit-learn and the peers
	$(BIN)/python benchmarks/speed.py $(ARGS)

chaos: $(VENV)/.dev $(LIBRARY) ## Disturb a benchmark run with kills, faults and edits; compare with an undisturbed one
	$(BIN)/python benchmarks/bench_chaos.py $(ARGS)

interrupts: $(VENV)/.dev $(LIBRARY) ## Press Ctrl-C at 200 moments of four commands; takes half an hour
	$(BIN)/python benchmarks/interrupts.py $(ARGS)

fuzz: $(VENV)/.dev $(LIBRARY) ## Fuzz all measures; ARGS="--seed 7 --seconds 600" for other cases
	$(ONE_THREAD) $(BIN)/python benchmarks/fuzz.py $(ARGS)

docs: $(VENV)/.docs ## Build the documentation into site/; open site/index.html
	$(MKDOCS) build --strict

docs-serve: $(VENV)/.docs ## Show the documentation while you write it
	$(MKDOCS) serve

pictures: $(VENV)/.dev $(LIBRARY) ## Make the pictures of the documentation again; takes minutes
	$(BIN)/vuskit demo --output out/demo
	$(BIN)/python docs/figures/make_readme.py out/demo
	$(BIN)/python docs/figures/make_animation.py
	$(BIN)/python docs/figures/make_screenshots.py out/demo
	$(BIN)/python docs/figures/make_gallery.py
	$(BIN)/python docs/figures/make_synthetic.py
	$(BIN)/python docs/figures/make_how_vus_works.py

dist: $(VENV)/.dev ## Build sdist, this platform's wheel and the pure wheel into dist/; check them
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	VUSKIT_CORE=numpy $(BIN)/python -m build --no-isolation --wheel --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

release-check: dist ## Build, check, install each wheel into an empty environment and use it; TAG=v0.2.0
	$(BIN)/python tests/release_version.py $(TAG)
	$(BIN)/pytest -q tests/check_wheels.py
	for wheel in dist/*.whl; do $(MAKE) --no-print-directory wheel-check WHEEL=$$wheel || exit 1; done

wheel-check:
	rm -rf $(EMPTY)
	$(PYTHON) -m venv $(EMPTY)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(EMPTY)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt $(WHEEL)
	VUSKIT_CORE=$(if $(findstring abi3,$(WHEEL)),native,numpy) $(EMPTY)/$(SCRIPTS)/python tests/only_numpy.py
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(EMPTY)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt "$(WHEEL)[cli]"
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
	$(PIP) --editable ".[all,deep,dev]"
	@touch $@ $(VENV)/.demo $(VENV)/.docs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest -q -p no:cacheprovider tests/docs/check_style.py
	$(BIN)/python benchmarks/breakages.py --anchors
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

tests: $(VENV)/.dev $(LIBRARY)
	$(ONE_THREAD) $(BIN)/pytest --numprocesses 2 --dist loadgroup

# The core must install with NumPy alone and pass its tests without any extra.
$(CORE)/.done: $(PROJECT) $(C_SOURCES) $(shell find src/vuskit -name '*.py')
	rm -rf $(CORE)
	$(PYTHON) -m venv $(CORE)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(CORE)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt .
	$(CORE)/$(SCRIPTS)/python tests/only_numpy.py
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(CORE)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt pytest pytest-xdist hypothesis
	@touch $@

# The tests of all extras use the native core, these NumPy's. Those of the kernels compare both.
test-numpy: $(CORE)/.done
	$(ONE_THREAD) VUSKIT_CORE=numpy $(CORE)/$(SCRIPTS)/python -m pytest -q --numprocesses 2 -p no:cacheprovider $(NUMPY_ONLY)

test-core: test-numpy
	$(ONE_THREAD) $(CORE)/$(SCRIPTS)/python -m pytest -q --numprocesses 2 -p no:cacheprovider tests/kernels $(BOTH_CORES)
	$(ONE_THREAD) VUSKIT_CORE=numpy $(CORE)/$(SCRIPTS)/python -m pytest -q --numprocesses 2 -p no:cacheprovider tests/kernels

# The environment's own folder as PATH hides every compiler from the build.
test-pure: ## Build the wheel without a compiler and run the core's tests with it
	rm -rf $(PURE)
	$(PYTHON) -m venv $(PURE)
	env -u CC -u VUSKIT_CORE PATH=$(CURDIR)/$(PURE)/$(SCRIPTS) PIP_DISABLE_PIP_VERSION_CHECK=1 \
		$(CURDIR)/$(PURE)/$(SCRIPTS)/python -m pip wheel --quiet --no-deps --constraint constraints.txt --wheel-dir $(PURE)/dist .
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(PURE)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt $(PURE)/dist/*-py3-none-any.whl
	$(PURE)/$(SCRIPTS)/python tests/only_numpy.py
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(PURE)/$(SCRIPTS)/python -m pip install --quiet --constraint constraints.txt pytest pytest-xdist hypothesis
	$(ONE_THREAD) $(PURE)/$(SCRIPTS)/python -m pytest -q --numprocesses 2 -p no:cacheprovider tests/kernels $(NUMPY_ONLY)

# aeon needs older libraries than constraints.txt names; Spark needs java.
$(INTEGRATIONS)/.done: $(PROJECT)
	rm -rf $(INTEGRATIONS)
	$(PYTHON) -m venv $(INTEGRATIONS)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(INTEGRATIONS)/$(SCRIPTS)/python -m pip install --quiet --editable ".[bench]" \
		aeon==1.6.0 lightning==2.6.6 pyspark==4.3.0 torch==2.13.0 pytest hypothesis
	@touch $@

test-integrations: $(INTEGRATIONS)/.done $(LIBRARY) ## Test aeon, Lightning and Spark in a separate environment; needs java
	$(ONE_THREAD) $(INTEGRATIONS)/$(SCRIPTS)/python -m pytest -q -p no:cacheprovider -m integration tests/test_integrations.py

clean: ## Remove environments and outputs
	rm -rf $(VENV) $(CORE) $(EMPTY) $(PURE) $(INTEGRATIONS) .peers out site dist $(LIBRARY)
