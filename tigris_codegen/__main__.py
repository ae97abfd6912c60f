"""`python -m tigris_codegen` is `tigris`."""

from tigris_codegen.cli import main

main()
