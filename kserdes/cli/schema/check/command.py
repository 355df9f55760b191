"""`kserdes schema check`: its options, and how roots, baselines and reports come together.

Must not judge anything itself. Exit status: 0 compatible, 1 incompatible, 2 something can't be used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kserdes.cli.schema.findings import FileResult, Report
from kserdes.cli.shell.commands import (
    PATH,
    ExampleCommand,
    UpperChoice,
    client,
    config_option,
    console,
    registry_options,
    settings_of,
)
from kserdes.cli.shell.connection import NO_REGISTRY
from kserdes.cli.shell.settings import LEVELS, POLICIES, Settings
from kserdes.cli.shell.unusable import Unusable

if TYPE_CHECKING:
    from kserdes.cli.schema.check.checking import Levels
    from kserdes.cli.schema.source.baseline import Baseline
    from kserdes.cli.schema.source.inputs import Inputs, Root

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

FORMATS = ("text", "json", "junit", "sarif", "github")
EXAMPLES = """
# what this branch changes, against the main branch
kserdes schema check schemas --against origin/main
# would the registry take it? Level and policy are those the registry has set
kserdes schema check schemas --registry https://registry.example.com
# version folders: orders/v3.avsc against orders/v1.avsc and orders/v2.avsc
kserdes schema check schemas --against-folder schemas --level FULL_TRANSITIVE
# annotations in a pull request on GitHub
kserdes schema check schemas --against origin/main --format github
"""


@dataclass(frozen=True, slots=True)
class Sources:
    """The source to compare files with, from the command line: exactly one of these."""

    revision: str | None
    folder: Path | None
    registry: str | None
    properties: tuple[str, ...]


def output_options(function: Decorated) -> Decorated:
    """`--format`, `--output`, `--verbose`."""
    return click.option(
        "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True, help="Form of the report."
    )(
        click.option(
            "--output",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the report to a file, text to stdout.",
        )(click.option("-v", "--verbose", is_flag=True, help="Show files without findings too.")(function))
    )


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.argument("paths", nargs=-1, type=PATH, metavar="[FILE_OR_FOLDER]...")
@click.option("--against", "revision", metavar="REVISION", help="Compare with a git revision, e.g. main or HEAD~1.")
@click.option(
    "--against-folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Compare with another folder; or with the same one, if it has version folders.",
)
@registry_options
@click.option("--level", type=UpperChoice(LEVELS), help="Compatibility level for all files.")
@click.option("--policy", type=UpperChoice(POLICIES), help="Strictness for JSON Schema.")
@click.option("--all-versions", is_flag=True, help="Compare with all earlier versions, not only the newest.")
@click.option("--subject", "rule", metavar="RULE", help="Subject of a file: {stem}, {folder}, {path}, {name}.")
@click.option(
    "--root", type=PATH, metavar="FOLDER", help="Where references are resolved; by default the folder that is checked."
)
@click.option("--fail-on-deleted", is_flag=True, help="A deleted schema file is an error, not only a note.")
@config_option
@output_options
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[str, ...],
    revision: str | None,
    against_folder: Path | None,
    registry: str | None,
    client_properties: tuple[str, ...],
    level: str | None,
    policy: str | None,
    all_versions: bool,
    rule: str | None,
    root: str | None,
    fail_on_deleted: bool,
    config: Path | None,
    fmt: str,
    output: Path | None,
    verbose: bool,
) -> None:
    """Check schema files (.avsc, .json, .proto) for compatibility with their earlier versions.

    Earlier versions are those of a git revision, of a registry, or of another folder. Every file is judged and
    reported. References are resolved from the folder: Avro names, JSON Schema's $ref, Protobuf imports.

    Exit status: 0 compatible, 1 incompatible, 2 a file (or its earlier version) can't be used.
    """
    from kserdes.cli.schema.check.checking import Levels
    from kserdes.cli.schema.source.inputs import find_inputs

    settings = settings_of(config)
    if sum(item is not None for item in (revision, against_folder, registry)) > 1:
        raise click.UsageError("give one of --against, --against-folder, --registry")
    sources = Sources(revision, against_folder, registry, client_properties)
    levels = Levels(level, settings.levels, settings.level, policy or settings.policy, all_versions)
    inputs = find_inputs(paths, settings, root)
    results = _run(inputs, sources, settings, levels, rule or settings.subject, fail_on_deleted)
    if not results:
        named = ", ".join(str(item.folder) for item in inputs.roots)
        raise Unusable(f"no schema files (.avsc, .json, .proto) in {named}")
    write_report(Report("check", sorted(results, key=lambda item: item.path)), fmt, output, verbose)
    ctx.exit(Report("check", results).exit_code)


def _run(
    inputs: Inputs, sources: Sources, settings: Settings, levels: Levels, rule: str, fail_on_deleted: bool
) -> list[FileResult]:
    from kserdes.cli.schema.check.checking import Checker
    from kserdes.cli.schema.source.subjects import Namer

    results = list(inputs.missing)
    if sources.folder is not None and len(inputs.roots) > 1:
        raise Unusable("--against-folder needs one folder to compare with it; give --root", kind="CONFIGURATION")
    for root in inputs.roots:
        baseline = _baseline(root, sources, settings, levels)
        checker = Checker(root.collection, baseline, Namer(rule, settings.subjects), levels, root.shown)
        with _progress(len(root.paths)) as advance:
            results += checker.run(root.paths, advance)
        results += checker.deleted(root.folders, fail_on_deleted)
    return results


def _baseline(root: Root, sources: Sources, settings: Settings, levels: Levels) -> Baseline:
    """The baseline with a root's earlier versions."""
    from kserdes.cli.schema.source.baseline import TreeBaseline
    from kserdes.cli.schema.source.git_baseline import GitBaseline, Place
    from kserdes.cli.schema.source.inputs import type_by

    if sources.revision is not None:
        from kserdes.cli.schema.source.git import Repository

        repository = Repository(root.folder)
        place = Place(repository.inside(root.folder), settings.exclude, tuple(settings.types), type_by(settings))
        return GitBaseline(root.collection, repository, sources.revision, place)
    if sources.folder is not None:
        from kserdes.cli.schema.source.files import FolderTree, shown
        from kserdes.cli.schema.source.linking import Collection

        folder = sources.folder
        old = Collection(FolderTree(folder, settings.exclude, tuple(settings.types)), "old", type_by(settings))
        same = folder.resolve() == root.folder.resolve()
        return TreeBaseline(root.collection, old, lambda path: shown(folder / path), same)
    from kserdes.cli.schema.source.registry_baseline import RegistryBaseline

    known = levels.forced is not None and levels.policy is not None
    try:
        connected = client(settings, sources.registry, sources.properties)
    except Unusable as error:
        if error.kind == NO_REGISTRY:
            raise click.UsageError(
                f"compare with what? Give --against, --against-folder, or: {error.message}"
            ) from error
        raise
    return RegistryBaseline(root.collection, connected, not known)


class _progress:
    """A progress bar on stderr, if that is a terminal and there are many files; gives a function to call per file."""

    LEAST = 200

    def __init__(self, total: int) -> None:
        self._total = total
        self._bar: object = None

    def __enter__(self) -> Callable[[], None]:
        if self._total < self.LEAST or not sys.stderr.isatty():
            return lambda: None
        from rich.progress import Progress

        bar = Progress(console=console(stderr=True), transient=True)
        task = bar.add_task("checking", total=self._total)
        bar.start()
        self._bar = bar
        return lambda: bar.advance(task)

    def __exit__(self, *error: object) -> None:
        stop = getattr(self._bar, "stop", None)
        if stop is not None:
            stop()


def write_report(report: Report, fmt: str, output: Path | None, verbose: bool) -> None:
    """Shows a report, or writes it to a file and shows it as text."""
    from kserdes.cli.schema.report.text import show
    from kserdes.cli.schema.source.files import write_whole

    if fmt != "text":
        text = _rendered(report, fmt)
        if output is None:
            click.echo(text)
            return
        try:
            write_whole(output, text + "\n")
        except OSError as error:
            raise Unusable(f"{output} can't be written: {error.strerror}") from error
    elif output is not None:
        raise click.UsageError("--output needs a --format other than text")
    show(report, console(), verbose)


def _rendered(report: Report, fmt: str) -> str:
    from kserdes.cli.schema.report import (
        github as report_github,
    )
    from kserdes.cli.schema.report import (
        json as report_json,
    )
    from kserdes.cli.schema.report import (
        junit as report_junit,
    )
    from kserdes.cli.schema.report import (
        sarif as report_sarif,
    )

    if fmt == "json":
        return report_json.render(report)
    if fmt == "junit":
        return report_junit.render(report)
    here = Path.cwd()
    base = next((above for above in (here, *here.parents) if (above / ".git").exists()), here)
    if fmt == "github":
        return report_github.render(report, base)
    from importlib.metadata import version

    return report_sarif.render(report, base, version("kserdes"))
