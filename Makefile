# Two commands do all the set-up: `make demo` and `make test`.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CMSIS_CORE_ROOT := $(CURDIR)/$(VENV)/npm/node_modules/@xpack-3rd-party/arm-cmsis-core/CMSIS/Core

SOURCES := $(shell find runtime templates boards renode tigris_codegen -type f -not -path '*/__pycache__/*') pyproject.toml

.PHONY: demo test test-all lint generate golden clean

demo: $(VENV)/installed $(VENV)/oracle
	$(BIN)/python examples/digits/demo.py

test: $(VENV)/installed $(VENV)/oracle build/libtigris_host.so lint
	$(BIN)/python -m pytest -n 2 --dist worksteal tests

# With every board in every emulator that runs here: about half an hour.
test-all: $(VENV)/installed $(VENV)/oracle build/libtigris_host.so lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "matrix or not matrix" tests

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/generate.py --check

generate: $(VENV)/installed
	$(BIN)/python tools/generate.py

# Debian packages that are missing: installed where that is allowed, named where it is not.
$(VENV)/packages: tools/packages.sh
	sh tools/packages.sh
	mkdir -p $(VENV)
	touch $@

$(VENV)/venv: $(VENV)/packages
	@echo "== making the virtual environment"
	$$(sh tools/python.sh) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

# The package itself: this compiles the host library.
$(VENV)/installed: $(VENV)/venv $(SOURCES)
	@echo "== installing tigris-codegen"
	$(BIN)/python -m pip install --quiet '.[test]'
	test -f $(CMSIS_CORE_ROOT)/Include/core_cm7.h || \
	  npm install --silent --no-audit --no-fund --prefix $(VENV)/npm @xpack-3rd-party/arm-cmsis-core@5.4.0-6
	touch $@

# The tests import the checkout, which finds its host library here.
build/libtigris_host.so: $(VENV)/packages $(SOURCES)
	cmake -S runtime -B build -DTIGRIS_BUILD_HOST=ON -DTIGRIS_WERROR=ON >/dev/null
	cmake --build build --parallel 2
	touch $@

# TensorFlow Lite Micro, what every output is compared with.
$(VENV)/oracle: $(VENV)/venv
	@echo "== installing TensorFlow Lite Micro, the oracle"
	$(BIN)/python -m pip install --quiet --pre tflite-micro
	touch $@

clean:
	rm -rf $(VENV) build
