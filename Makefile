# Every job of the project. `make help` lists them; everything is installed into .venv here.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
# Tests wait a lot (for brokers, batches, time-outs), so two processes share them, file by file.
WORKERS ?= 2
KERNEL_JAR := src/tidemill/engine/kernel.jar
KERNEL_SOURCES := $(shell find kernel/src -name '*.java') tools/build_kernel.py

.DEFAULT_GOAL := help

.PHONY: help
help: ## list every job
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: venv
venv: $(VENV)/.ready ## install everything into .venv

$(VENV)/.ready: requirements/dev.txt requirements/tool.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Tidemill needs Python 3.11 or newer; `make PYTHON=python3.12` picks another." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/tool.txt
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt requirements/tool.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: kernel
kernel: $(KERNEL_JAR) ## build the Java kernel (only when stale)

$(KERNEL_JAR): $(KERNEL_SOURCES) $(VENV)/.ready
	$(BIN)/python tools/build_kernel.py

.PHONY: archive
archive: venv kernel ## make the class archives that halve the start of Kafka and Spark
	$(BIN)/tidemill dev fetch

.PHONY: demo
demo: venv kernel ## a live Kafka pipeline on Spark, nothing else to install; EXAMPLE=fraud shows another
	$(BIN)/tidemill demo $(EXAMPLE)

.PHONY: test
test: lint ## lint, types, layers, then every test of a normal run
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not slow and not bench and not fault and not conformance" $(PYTEST_ARGS)

.PHONY: lint
lint: venv kernel ## ruff, mypy and the layer contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: venv ## let ruff format and fix what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: venv kernel ## build the documentation into site/, warnings are errors
	$(BIN)/python tools/docs_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

BENCH_ARGS ?=

.PHONY: bench
bench: archive ## the benchmark beside Kafka Streams and others, about 15 minutes
	$(BIN)/python -m bench all bench $(BENCH_ARGS)

.PHONY: bench-quick
bench-quick: venv kernel ## a short benchmark, under 4 minutes
	$(BIN)/python -m bench all quick $(BENCH_ARGS)

.PHONY: bench-full
bench-full: archive ## every measurement, and docs/benchmarks.md from it; two hours, in pieces with BENCH_ARGS=--resume
	$(BIN)/python -m bench all full --page $(BENCH_ARGS)

.PHONY: fault
fault: archive ## every fault test: kills brokers and apps on purpose
	$(BIN)/python -m pytest tests/fault tests/runtime/test_exactly_once.py tests/cluster/test_standalone.py \
		-m "fault or fault_sample" -n $(WORKERS) --maxschedchunk 1 -o timeout=0 $(PYTEST_ARGS)

.PHONY: cluster
cluster: venv kernel ## several brokers, and apps on a standalone Spark cluster
	$(BIN)/python -m pytest -m cluster -o timeout=0 $(PYTEST_ARGS)

.PHONY: conformance
conformance: venv kernel ## compare with the real Kafka Streams at length
	$(BIN)/python -m pytest tests/conformance tests/operators tests/programs -m "not bench" -n $(WORKERS) --dist loadfile -o timeout=0 $(PYTEST_ARGS)

.PHONY: lock
lock: venv ## resolve the dependencies anew and write requirements/*.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header requirements/tool.in -o requirements/tool.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-annotate --no-header --extra test --extra avro pyproject.toml requirements/dev.in -o requirements/dev.txt

.PHONY: clean
clean: ## remove what was built; downloaded jars stay in the cache
	rm -rf $(VENV) site build dist $(KERNEL_JAR) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
