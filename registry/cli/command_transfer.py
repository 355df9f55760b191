"""`kserdes schema export` and `import`: a whole registry to a folder and back.

Must not move anything itself. Exit status of import: 0 all is as it was saved, 1 something differs, 2 it can't be done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from registry.cli.shell import ExampleCommand, client, config_option, console, registry_options, settings_of

__all__ = ["export", "import_"]

EXPORT_EXAMPLES = """
kserdes schema export backup --registry https://old.example.com
# only some subjects; run again to go on, or to bring the folder up to date
kserdes schema export backup --prefix orders
"""
IMPORT_EXAMPLES = """
kserdes schema import backup --registry http://localhost:8081
# only compare a registry with the folder
kserdes schema import backup --registry http://localhost:8081 --verify-only
"""

UNFINISHED = "the import is not finished, and subjects may be in IMPORT mode; run it again, it goes on where it stopped"


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with how much is done of how much; draws on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import Progress

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@click.command(cls=ExampleCommand, examples=EXPORT_EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--prefix", default="", help="Only subjects that start with this.")
@registry_options
@config_option
@click.pass_context
def export(
    ctx: click.Context,
    folder: Path,
    prefix: str,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Save a whole registry in FOLDER.

    One JSON file per version, with ids, references, configurations, modes and what is deleted softly. Not saved is
    what registries do not list: configurations of subjects without versions.
    """
    from registry.cli.archive import Archive
    from registry.cli.exporting import save
    from registry.cli.rest import Rest

    with client(settings_of(config), registry, client_properties) as connected, progress_bar("exporting") as progress:
        done = save(Rest(connected), Archive(folder), prefix, progress)
    click.echo(f"{folder}: {done.subjects} subjects with {done.versions} versions, {done.fetched} of them new")
    for subject in done.hidden:
        click.echo(f"{subject}: its alias hides its own versions; take the alias away to save them", err=True)
    ctx.exit(1 if done.hidden else 0)


@click.command("import", cls=ExampleCommand, examples=IMPORT_EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--verify-only", is_flag=True, help="Change nothing; only compare the registry with the folder.")
@registry_options
@config_option
@click.pass_context
def import_(
    ctx: click.Context,
    folder: Path,
    verify_only: bool,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Load what `export` saved in FOLDER into another registry, ids and all.

    The registry must allow IMPORT mode (mode.mutability). What is there already is left alone, another schema in its
    place is an error. At the end all is read back and compared.
    """
    from registry.cli.archive import Archive
    from registry.cli.importing import Imported, load, plan, verify
    from registry.cli.rest import Rest

    what = plan(Archive(folder))
    with client(settings_of(config), registry, client_properties) as connected, progress_bar("importing") as progress:
        rest = Rest(connected)
        try:
            done = Imported(problems=verify(rest, what)) if verify_only else load(rest, what, progress)
        except BaseException:
            if not verify_only:
                click.echo(UNFINISHED, err=True)
            raise
    for problem in done.problems:
        click.echo(problem, err=True)
    if done.problems:
        click.echo(f"{len(done.problems)} differences", err=True)
        ctx.exit(1)
    counts = f"{len(what.subjects)} subjects with {len(what.versions)} versions"
    click.echo(f"{counts} are as saved" + ("" if verify_only else f": {done.sent} sent, {done.present} were there"))
