"""`python -m kserdes.cli`."""

from kserdes.cli import main

main()
