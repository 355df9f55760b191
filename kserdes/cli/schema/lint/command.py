"""`kserdes schema lint`: its options and its report.

Must not know the rules. Exit status: 0 nothing to complain about, 1 complaints, 2 a file can't be parsed.
"""

from __future__ import annotations

from pathlib import Path

import click

from kserdes.cli.schema.check.command import output_options, write_report
from kserdes.cli.schema.findings import Report
from kserdes.cli.shell.commands import PATH, ExampleCommand, config_option, settings_of
from kserdes.cli.shell.unusable import Unusable

EXAMPLES = """
kserdes schema lint schemas
# fields must have a doc, names may be in any form
kserdes schema lint schemas --enable avro-field-doc --disable avro-field-name
# only: does every file parse?
kserdes schema lint schemas --disable all
# what rules are there?
kserdes schema lint --list-rules
"""


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.argument("paths", nargs=-1, type=PATH, metavar="[FILE_OR_FOLDER]...")
@click.option("--disable", multiple=True, metavar="RULE", help="Rule to switch off; `all` for all.")
@click.option("--enable", multiple=True, metavar="RULE", help="Rule to switch on; `all` for all.")
@click.option("--list-rules", is_flag=True, help="Show the rules and which are on, then end.")
@click.option(
    "--root", type=PATH, metavar="FOLDER", help="Where references are resolved; by default the folder that is linted."
)
@config_option
@output_options
@click.pass_context
def lint(
    ctx: click.Context,
    paths: tuple[str, ...],
    disable: tuple[str, ...],
    enable: tuple[str, ...],
    list_rules: bool,
    root: str | None,
    config: Path | None,
    fmt: str,
    output: Path | None,
    verbose: bool,
) -> None:
    """Check that schema files parse and keep to rules of naming and documentation.

    Rules are switched by --enable and --disable, or in the configuration: [lint] with enable, disable, and
    field_case = "snake", "camel" or "any".
    """
    from kserdes.cli.schema.lint.linting import Linter
    from kserdes.cli.schema.lint.rules import RULES, enabled
    from kserdes.cli.schema.source.inputs import find_inputs

    settings = settings_of(config)
    rules = enabled(settings.lint, disable, enable)
    if list_rules:
        for name, rule in RULES.items():
            click.echo(f"{'on ' if name in rules else 'off'}  {name:<26} {rule.text}")
        return
    inputs = find_inputs(paths, settings, root)
    results = list(inputs.missing)
    for item in inputs.roots:
        results += Linter(item.collection, rules, settings.lint.field_case, item.shown).run(item.paths)
    if not results:
        raise Unusable(
            f"no schema files (.avsc, .json, .proto) in {', '.join(str(item.folder) for item in inputs.roots)}"
        )
    texts = {name: rule.text for name, rule in RULES.items()}
    report = Report("lint", sorted(results, key=lambda result: result.path), texts)
    write_report(report, fmt, output, verbose)
    ctx.exit(report.exit_code)
