"""`kserdes schema export` and `import`: a whole registry to a folder and back.

Must not move anything itself. Exit status of import: 0 all is as it was saved, 1 something differs, 2 it can't be done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kserdes.cli.shell.commands import ExampleCommand, client, config_option, console, registry_options, settings_of
from kserdes.cli.shell.unusable import Unusable

EXPORT_EXAMPLES = """
kserdes schema export backup --registry https://old.example.com
# only some subjects; run again to go on, or to bring the folder up to date
kserdes schema export backup --prefix orders
# also remove from the folder what the registry has no more; says what
kserdes schema export backup --prune
"""
IMPORT_EXAMPLES = """
kserdes schema import backup --registry http://localhost:8081
# only compare a registry with the folder
kserdes schema import backup --registry http://localhost:8081 --verify-only
"""

UNFINISHED = "the import is not finished; run it again, it continues where it stopped"


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
@click.option("--prefix", default="", help="Only subjects that start with this; others in the folder stay.")
@click.option("--prune", is_flag=True, help="Remove versions from the folder that the registry no longer has.")
@registry_options
@config_option
@click.pass_context
def export(
    ctx: click.Context,
    folder: Path,
    prefix: str,
    prune: bool,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Save a whole registry in FOLDER.

    One JSON file per version, with ids, references, configurations, modes and what is deleted softly. Not saved is
    what registries do not list: configurations of subjects without versions. What the folder has and the registry has
    no more is kept and named, unless --prune is given.

    Exit status: 0 saved, 1 something could not be saved as it is, 2 it can't be done.
    """
    from kserdes.cli.schema.transfer.archive import Archive
    from kserdes.cli.schema.transfer.exporting import save
    from kserdes.cli.schema.transfer.rest import Rest

    with client(settings_of(config), registry, client_properties) as connected, progress_bar("exporting") as progress:
        done = save(Rest(connected), Archive(folder), prefix, progress, prune)
    click.echo(f"{folder}: {done.subjects} subjects with {done.versions} versions, {done.fetched} of them new")
    for subject, numbers in done.gone.items():
        what = f"{subject}: version{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers)) or '(none)'}"
        click.echo(f"removed {what}" if prune else f"kept {what}, not in the registry any more (--prune removes)")
    for subject, number in done.changed:
        what = f"{subject}: version {number} is another schema in the registry"
        click.echo(f"{what}, replaced" if prune else f"{what}, the saved one is kept (--prune replaces)", err=not prune)
    for subject in done.hidden:
        click.echo(f"{subject}: its alias hides its own versions; take the alias away to save them", err=True)
    ctx.exit(1 if done.hidden or (done.changed and not prune) else 0)


@click.command("import", cls=ExampleCommand, examples=IMPORT_EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--skip-refused", is_flag=True, help="Leave out versions that differ there, and those that need them.")
@click.option("--verify-only", is_flag=True, help="Change nothing; only compare the registry with the folder.")
@registry_options
@config_option
@click.pass_context
def import_(
    ctx: click.Context,
    folder: Path,
    skip_refused: bool,
    verify_only: bool,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Load what `export` saved in FOLDER into another registry, ids and all.

    The registry must allow IMPORT mode (mode.mutability). All is compared with what is there before anything is
    written; what is there already is left alone, another schema in its place is an error, unless --skip-refused leaves
    it out. What the registry refuses is named, the rest is loaded. No subject stays in IMPORT mode. At the end all is
    read back and compared.

    Exit status: 0 all is as it was saved, 1 something differs or was refused, 2 it can't be done.
    """
    from kserdes.cli.schema.transfer.archive import Archive
    from kserdes.cli.schema.transfer.importing import Imported, load, plan, verify
    from kserdes.cli.schema.transfer.rest import Rest

    what = plan(Archive(folder))
    with client(settings_of(config), registry, client_properties) as connected, progress_bar("importing") as progress:
        rest = Rest(connected)
        try:
            done = Imported(problems=verify(rest, what)) if verify_only else load(rest, what, progress, skip_refused)
        except BaseException as error:
            if not verify_only and not isinstance(error, Unusable):
                click.echo(UNFINISHED, err=True)
            for note in getattr(error, "__notes__", ()):
                click.echo(note, err=True)
            raise
    for text in done.replaced:
        click.echo(f"replaced: {text}")
    for text in done.refused:
        click.echo(f"refused: {text}", err=True)
    for problem in done.problems:
        click.echo(problem, err=True)
    if done.problems or done.refused:
        refused = f", {len(done.refused)} refused" if done.refused else ""
        click.echo(f"{len(done.problems)} differences{refused}", err=True)
        ctx.exit(1)
    counts = f"{len(what.subjects)} subjects with {len(what.versions)} versions"
    click.echo(f"{counts} are as saved" + ("" if verify_only else f": {done.sent} sent, {done.present} were there"))
