# The commands of this project; `make` lists them. Each sets up what it needs and is safe to repeat.
#   PYTHON=…       the Python to make the environment with (default: the first of 3.10 to 3.13 that is found)
#   TORCH_INDEX=…  an additional package index for PyTorch, for its smaller CPU build

export TORCH_INDEX

FITS := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
SETUP = @"$(PYTHON)" -c '$(FITS)' 2>/dev/null \
	|| { echo "The book needs Python 3.10 to 3.13: install it, or name it with PYTHON=/path/to/python." >&2; exit 1; }; \
	"$(PYTHON)" tools/environment.py requirements.txt

.PHONY: help book serve site.zip pdf test lab links lint bench results clean

help:
	@echo "make book      build the book to _build/html"
	@echo "make serve     build it and show it in a browser"
	@echo "make site.zip  pack the built book for offline reading: _build/site.zip"
	@echo "make pdf       print the built book: _build/book.pdf"
	@echo "make test      build it and run all tests"
	@echo "make lab       open the chapters in JupyterLab"
	@echo "make links     try every link to another site"
	@echo "make lint      check style, formatting and types"
	@echo "make bench     measure the speed of the losses"
	@echo "make results   train the networks of the training lab anew"
	@echo "make clean     remove the built book (and its executed results)"

book:
	$(SETUP) requirements-book.txt
	@$(BIN)/python tools/build.py

serve: book
	@$(BIN)/python tools/serve.py _build/html

site.zip: book
	@$(BIN)/python tools/archive.py

pdf:
	$(SETUP) requirements-book.txt requirements-test.txt
	@$(BIN)/python tools/browser.py
	@$(BIN)/python tools/build.py
	@$(BIN)/python tools/pdf.py

test:
	$(SETUP) requirements-book.txt requirements-lab.txt requirements-test.txt
	@$(BIN)/python tools/browser.py
	@$(BIN)/python tools/build.py
	@$(BIN)/python -m pytest

lab:
	$(SETUP) requirements-lab.txt
	@$(BIN)/python tools/lab.py book/welcome.md

links:
	$(SETUP) requirements-book.txt
	@$(BIN)/python tools/build.py --builder linkcheck

lint:
	$(SETUP) requirements-book.txt requirements-test.txt
	@$(BIN)/python tools/lint.py

bench:
	$(SETUP)
	@$(BIN)/python benchmarks/losses.py
	@$(BIN)/python benchmarks/figures.py

results:
	$(SETUP)
	@$(BIN)/python tools/training_lab.py

clean:
	rm -rf _build
