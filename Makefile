# Everything a person does with a checkout. Each target installs what it needs into .venv first.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
GSL := $(BIN)/gsl-scale

.DEFAULT_GOAL := help
.PHONY: help install run test pytest lint type fmt reproduce figures bench chaos clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# A stamp names what is installed, so a second call installs nothing and a changed pin does.
$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/pip pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cpu]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cpu,dev]'
	@touch $@

install: $(VENV)/.installed ## create .venv and install gsl-scale

run: $(VENV)/.installed ## run the pipeline on the embedded default (Digits)
	$(GSL) run configs/quickstart.yaml --out runs/quickstart

test: lint type pytest ## lint, types and tests

# The S3 server of the tests; its libraries need an older python-dateutil than ours.
$(VENV)-s3/.installed: constraints-s3.txt
	$(PYTHON) -m venv $(VENV)-s3
	$(VENV)-s3/bin/pip install --quiet --disable-pip-version-check -c constraints-s3.txt 'moto[s3]' flask flask-cors
	@touch $@

pytest: $(VENV)/.installed-dev $(VENV)-s3/.installed ## tests only
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(VENV)/.installed-dev ## mypy
	$(BIN)/mypy

fmt: $(VENV)/.installed-dev ## format and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

EACH_CORE := --set run.workers=$(shell nproc) --set run.threads=1

reproduce: $(VENV)/.installed ## the paper's table, beside the paper's numbers (hours; resumes)
	$(GSL) reproduce $(EACH_CORE)

# Each line keeps its finished cells, so a second call computes only what is missing.
# There are many of these trainings: not the 400 steps of the preset.
FEWER_STEPS := --set train.steps=300
# Smoothed features and k as on Cora and Citeseer, at the rate that suits Pubmed's; not its preset.
AS_SMALLER := --set learner.context=smooth --set knn.k=10 --set learner.learning_rate=1e-3
figures: $(VENV)/.installed ## the paper's figures, as plots and a page in runs/experiments (resumes)
	$(GSL) experiment heatmap cora
	$(GSL) experiment robustness cora --values 0,0.1,0.3,0.5,0.7,0.9 --seeds 5 $(EACH_CORE) $(FEWER_STEPS)
	$(GSL) experiment tau cora $(EACH_CORE)
	$(GSL) experiment tau citeseer $(EACH_CORE)
	$(GSL) experiment features-mask cora $(EACH_CORE) $(FEWER_STEPS)
	$(GSL) experiment edge-drop cora $(EACH_CORE) $(FEWER_STEPS)
	$(GSL) experiment neighbours cora-inference --seeds 1 $(EACH_CORE)
	$(GSL) experiment tau pubmed --seeds 1 $(EACH_CORE) $(AS_SMALLER)

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cpu,bench]'
	@touch $@

bench: $(VENV)/.installed-bench ## benchmarks, as ratios measured side by side
	$(GSL) bench store
	$(GSL) bench load
	$(GSL) bench train
	$(GSL) bench knn

chaos: $(VENV)/.installed-dev ## 30 seeded kills of workers, nodes and drivers, beside an undisturbed twin
	$(BIN)/python -m tests.distributed.chaos

clean: ## remove .venv and caches (never runs/)
	rm -rf $(VENV) $(VENV)-s3 .mypy_cache .ruff_cache .pytest_cache
