"""`python -m serdes.cli`."""

from serdes.cli import main

main()
