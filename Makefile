# SPDX-License-Identifier: MIT OR Apache-2.0
# Everything a newcomer or a build machine runs. Needs Rust and Python >= 3.11 on a Debian-like
# system; the rest is set up here, once.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DELETE_ON_ERROR:
export PATH := $(PATH):$(HOME)/.cargo/bin

# bpy comes for exactly one Python each: 4.2, 4.5 and 5.0 for 3.11, 5.2 for 3.13.
PYTHON := $(shell tests/setup/find_python.sh 3.11+)
PYTHON311 := $(shell tests/setup/find_python.sh 3.11)
PYTHON313 := $(shell tests/setup/find_python.sh 3.13)
BPY_ENVS := $(strip $(if $(PYTHON311),.venv-bpy42 .venv-bpy45 .venv-bpy50) $(if $(PYTHON313),.venv-bpy52))
BPY_ENVS := $(or $(BPY_ENVS),.venv-bpy52)# with neither, its set-up says so
OLDEST_BPY := $(firstword $(BPY_ENVS))# what it saves opens in all the others
NEWEST_BPY := $(lastword $(BPY_ENVS))

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
WHEEL := addon/wheels/weft-$(VERSION)-cp311-abi3-manylinux_2_28_$(shell uname -m).whl
ZIP := out/weft-$(VERSION).zip
# Blender's names of other platforms, and what Rust calls those that zig links for.
FOREIGN := windows-x64 macos-arm64 macos-x64
windows-x64 := x86_64-pc-windows-gnu
macos-arm64 := aarch64-apple-darwin
macos-x64 := x86_64-apple-darwin
LIBRARY_SOURCES := $(shell find src -name '*.rs') Cargo.toml pyproject.toml \
	$(wildcard Cargo.lock README.md weft.pyi)
ADDON_SOURCES := $(shell find addon -type f -not -path '*/__pycache__/*' -not -path '*/wheels/*')

# Without a fixed interpreter every change of environment builds the binding anew.
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
# Blender must neither read nor write the settings of whoever runs this.
export BLENDER_USER_RESOURCES := $(CURDIR)/out/blender
export WEFT_ZIP := $(CURDIR)/$(ZIP)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' Makefile

# --- what people call -------------------------------------------------------------------------

.PHONY: demo examples test soak chance fuzz wheel zip zips bench garments dressing bench-rust growth floor counts experiments clean distclean
demo: $(BPY_ENVS:%=%/ready) $(ZIP) ## bake and render the demonstration into out/
	@rm -rf out/blender out/weft_cache out/demo*
	@$(OLDEST_BPY)/bin/python tests/blender/demo/demo.py $(ZIP) out
	@for environment in $(BPY_ENVS); do \
		$$environment/bin/python tests/blender/demo/demo_check.py out/demo.blend; done

EXAMPLES ?=
examples: $(NEWEST_BPY)/ready out/library/weft ## nine scenes to learn from, baked, into out/examples (EXAMPLES='--only flag')
	@PYTHONPATH=out/library $(NEWEST_BPY)/bin/python examples/build.py out/examples $(EXAMPLES)

test: lint test-rust test-python test-slow test-hostile test-blender ## everything that must pass

# Goes on after a failure, and says at the end whether there was one.
SOAK ?=
soak: .venv/weft $(NEWEST_BPY)/ready out/library/weft ## hostile scenes and a walk at length, a table into out/soak.md (SOAK='--match ball')
	@status=0; \
	.venv/bin/python tests/hostile/soak.py --out out $(SOAK) || status=1; \
	$(if $(SOAK),,WEFT_REAL_SCENES=1 PYTHONPATH=out/library $(NEWEST_BPY)/bin/python -m pytest -rs \
		tests/blender/whole_scenes/test_real_walk.py || status=1;) exit $$status

SECONDS ?= 60
FIRST ?= 0
chance: .venv/weft ## hostile scenes drawn at random, from a seed on (SECONDS=600 FIRST=1000)
	.venv/bin/python tests/hostile/soak.py --out out --chance $(SECONDS) --first $(FIRST)

wheel: $(WHEEL) ## the Python module, into addon/wheels/

zip: $(ZIP) ## the Blender extension, into out/

zips: $(ZIP) $(FOREIGN:%=zip-%) ## the same for Windows and macOS too, linked here, into out/windows-x64 and so on

SIZES ?= 50,100,200
FRAMES ?= 120
RUNS ?= 3
bench: $(NEWEST_BPY)/ready .venv/weft floor ## Blender's cloth against Weft (SIZES=50,100 FRAMES=40 RUNS=1)
	@.venv/bin/python tests/bench/compare.py --blender-python $(NEWEST_BPY)/bin/python \
		--sizes $(SIZES) --frames $(FRAMES) --runs $(RUNS) --floor out/floor.md

GARMENTS ?= --cuts 0,1
garments: .venv/weft $(NEWEST_BPY)/ready out/library/weft ## the same on garments of a walking body (GARMENTS='--garments Dress --cuts 0')
	@PYTHONPATH=out/library .venv/bin/python tests/bench/garments/walk.py \
		--blender-python $(NEWEST_BPY)/bin/python --frames $(FRAMES) $(GARMENTS)

DRESSING ?= --seeds 1,2,3,4,5
dressing: .venv/weft $(NEWEST_BPY)/ready out/library/weft ## sewing patterns of others on their body, a table into out/dressing.md (DRESSING='--edge-lengths 0.01 --programs weft,blender')
	@PYTHONPATH=out/library .venv/bin/python tests/bench/garments/dressing.py \
		--blender-python $(NEWEST_BPY)/bin/python $(DRESSING)

GROWTH ?= 50,100,200,400
growth: .venv/weft ## time and memory from 2 500 to 160 000 vertices, two threads and one (GROWTH=50,100 FRAMES=40)
	@.venv/bin/python tests/bench/growth.py --sizes $(GROWTH) --frames $(FRAMES)

floor: | rust ## what the machine can do, and how far each stage of a step is from it
	@mkdir -p out
	@cargo bench --quiet --no-default-features --bench floor | tee out/floor.md

smoothness: .venv/weft ## smoothness of drapes over mesh size, fabric and scene, with heights and silhouettes
	@.venv/bin/python tests/python/motion/smoothness.py

bench-rust: | rust ## timings of the library's parts
	cargo bench --no-default-features

COUNTS ?=
counts: .venv/ready | rust ## instructions of the hot kernels against those kept (COUNTS=--keep)
	@.venv/bin/python tests/bench/library/counts.py --out out $(COUNTS)

ONLY ?=
experiments: .venv/weft ## the documents' experiments, a page into out/experiments (ONLY=cords)
	@.venv/bin/python tests/experiments/run.py --out out/experiments --only '$(ONLY)'

fuzz: | rust ## the geometry of collisions against exact numbers (SECONDS=60)
	WEFT_FUZZ_SECONDS=$(SECONDS) cargo test --release --no-default-features --test fuzz -- \
		--ignored --nocapture

clean: ## remove what was built
	rm -rf out addon/wheels target .pytest_cache .ruff_cache .hypothesis
	find addon tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## and the virtual environments
	rm -rf .venv .venv-bpy*

.PHONY: pages
pages: $(NEWEST_BPY)/ready .venv/weft out/library/weft ## pictures of the fabrics and generated pages of docs/ anew
	PYTHONPATH=out/library $(NEWEST_BPY)/bin/python tests/setup/make_cards.py
	PYTHONPATH=out/library $(NEWEST_BPY)/bin/python tests/setup/make_parameters.py
	.venv/bin/python tests/setup/make_api.py
	.venv/bin/python tests/setup/make_heuristics.py

# The oldest macOS that Blender 4.2 runs on.
.PHONY: $(FOREIGN:%=zip-%)
$(FOREIGN:%=zip-%): zip-%: $(NEWEST_BPY)/ready .venv/ready | rust
	@rustup target add $($*) || \
		{ echo 'weft: rustup is missing, or it cannot fetch the target $($*)' >&2; exit 1; }
	@rm -rf out/$*
	MACOSX_DEPLOYMENT_TARGET=11.2 VIRTUAL_ENV=$(CURDIR)/.venv PATH=$(CURDIR)/.venv/bin:$$PATH \
		maturin build --quiet --release --zig --target $($*) --out out/$*
	@$(NEWEST_BPY)/bin/python tests/setup/build_zip.py out/$*/*.whl out/$* --platform $*

# --- the parts of `make test` -----------------------------------------------------------------

.PHONY: lint test-rust test-python test-slow test-hostile test-blender
lint: .venv/ready | rust-tools ## formatting, clippy, documentation, ruff, structure of the tree
	cargo fmt --check
	cargo clippy --quiet --all-targets -- -D warnings
	cargo clippy --quiet --all-targets --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps
	.venv/bin/ruff format --check addon examples tests weft.pyi
	.venv/bin/ruff check addon examples tests weft.pyi
	.venv/bin/python -m pytest --quiet tests/structure

# Simulations of tests are small: two with one thread each get more done than one with two.
run_pytest = RAYON_NUM_THREADS=1 $(1)/bin/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal $(2)

# The release profile, because the physics tests compute for minutes otherwise.
test-rust: | rust ## cargo test; the binding, which has no tests of its own, is tested from Python
	cargo test --release --no-default-features

test-python: .venv/weft ## pytest over the installed wheel
	$(call run_pytest,.venv,tests/python)

test-slow: .venv/weft ## pytest over slow motion with default settings, against closed forms
	$(call run_pytest,.venv,tests/slow_motion)

test-hostile: .venv/weft ## pytest over the hostile scenes, in their short form
	$(call run_pytest,.venv,tests/hostile)

test-blender: $(BPY_ENVS:%=test-%) ## pytest over each bpy there is a Python for

.PHONY: test-gui
test-gui: .venv/ready $(ZIP) ## the extension in a real window; makes a Debian of its own, so root only
	.venv/bin/python -m pytest tests/gui -rs

.PHONY: $(BPY_ENVS:%=test-%)
$(BPY_ENVS:%=test-%): test-%: %/ready out/library/weft $(ZIP)
	PYTHONPATH=out/library $(call run_pytest,$*,tests/blender)

# --- set-up -----------------------------------------------------------------------------------

.PHONY: rust rust-tools python blender system
rust:
	@command -v cargo >/dev/null || \
		{ echo 'weft: Rust is missing: no cargo on PATH (see https://rustup.rs)' >&2; exit 1; }
	@cargo fetch --quiet 2>/dev/null || \
		{ echo "weft: cargo cannot fetch the crates: $$(cargo fetch 2>&1 | tail -n 1)" >&2; exit 1; }

rust-tools: | rust
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || \
		{ echo 'weft: rustfmt or clippy is missing: rustup component add rustfmt clippy' >&2; exit 1; }

python:
	@[ -n '$(PYTHON)' ] || { echo 'weft: Python 3.11 or newer is missing' >&2; exit 1; }

blender:
	@[ -n '$(PYTHON311)$(PYTHON313)' ] || { echo 'weft: Python 3.11 (for bpy 4.2, 4.5, 5.0) or 3.13' \
		'(for bpy 5.2) is missing, and there is no bpy for another' >&2; exit 1; }
	@[ -n '$(PYTHON311)' ] || echo 'weft: no Python 3.11: bpy 4.2, 4.5 and 5.0 are skipped'
	@[ -n '$(PYTHON313)' ] || echo 'weft: no Python 3.13: bpy 5.2 is skipped'

system: | python
	@tests/setup/system_packages.sh $(sort $(PYTHON) $(PYTHON311) $(PYTHON313))

.venv-bpy42/ready .venv-bpy45/ready .venv-bpy50/ready: base = $(PYTHON311)
.venv-bpy52/ready: base = $(PYTHON313)
.venv-bpy%/ready: pyproject.toml tests/setup/environment.sh | blender system
	@tests/setup/environment.sh $(@D) '$(base)' bpy$*
	@touch $@

.venv/ready: pyproject.toml tests/setup/environment.sh | system
	@tests/setup/environment.sh .venv '$(PYTHON)' dev
	@touch $@

# zig links against the old C library that Blender itself asks for.
$(WHEEL): $(LIBRARY_SOURCES) .venv/ready | rust
	@rm -rf addon/wheels
	VIRTUAL_ENV=$(CURDIR)/.venv PATH=$(CURDIR)/.venv/bin:$$PATH maturin build --quiet --release --zig \
		--compatibility manylinux_2_28 --interpreter .venv/bin/python --out addon/wheels
	@[ -f $@ ] || { echo "weft: maturin made $$(ls addon/wheels), not $(@F)" >&2; exit 1; }
	@touch $@

.venv/weft: $(WHEEL) .venv/ready
	@.venv/bin/python -m pip install --quiet --no-deps --force-reinstall $(WHEEL)
	@touch $@

# Beside the bpy environments, not in them: there it would hide the copy that an extension brings.
out/library/weft: $(WHEEL) .venv/ready
	@rm -rf out/library
	@.venv/bin/python -m pip install --quiet --no-deps --target out/library $(WHEEL)
	@touch $@

$(ZIP): $(NEWEST_BPY)/ready $(WHEEL) $(ADDON_SOURCES) tests/setup/build_zip.py LICENSE-GPL
	@mkdir -p out
	@$(NEWEST_BPY)/bin/python tests/setup/build_zip.py $(WHEEL) out
