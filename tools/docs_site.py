"""The hook of MkDocs (`mkdocs.yml`, `make docs`): pages from outside `docs/`, and links that lead to them.

Readers of the repository follow links such as `../../README.md`; on the site the files of `PAGES` are pages of their
own, and a link to another file outside `docs/` becomes its text. Must not import MkDocs before it is called: the tests
read the tables here without it.
"""

from __future__ import annotations

import importlib
import logging
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final[Mapping[str, str]] = {
    "README.md": "project/overview.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "DESIGN.md": "project/design.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
"""File of the repository outside `docs/` → page of the site."""
NAMES: Final = "<!-- the public names -->"
"""The place of the public names on the page of `kserdes`."""
_LOADED: Final = {
    ".html": re.compile(
        r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data)=[\"']?(?:https?:)?//[^>]*>"
        r"|<link\b(?![^>]*rel=[\"']?canonical)[^>]*\bhref=[\"']?(?:https?:)?//[^>]*>"
    ),
    ".css": re.compile(r"(?:url\(|@import )\s*[\"']?(?:https?:)?//[^)\s]*"),
    ".js": re.compile(r"(?:fetch|importScripts|import|Worker|open)\([\"'](?:https?:)?//[^\"']*"),
}
_SOURCES: Final = {page: source for source, page in PAGES.items()}
_LINK: Final = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)")


def on_config(config: Any) -> Any:
    """Lists the decisions, which come and go, in the navigation."""
    for section in config["nav"]:
        if "Decisions" in section:
            section["Decisions"] = [f"decisions/{path.name}" for path in sorted((ROOT / "docs/decisions").glob("*.md"))]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages whose files are outside `docs/`."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Leads links to pages, and lists the names of `kserdes`."""
    return linked(markdown, page.file.src_uri).replace(NAMES, public_names() if NAMES in markdown else NAMES)


def on_post_build(config: Any) -> None:
    """Looks at what was built: every public name is there, and nothing comes from another host."""
    site = Path(config["site_dir"])
    for problem in (*unnamed(site), *from_elsewhere(site)):
        logging.getLogger("mkdocs.kserdes").warning(problem)  # an error, as the build is strict


def unnamed(site: Path) -> list[str]:
    """The public names that the reference does not describe."""
    missing = []
    for source in sorted((ROOT / "docs/reference").glob("*.md")):
        text = (site / "reference" / f"{source.stem}.html").read_text()
        described = re.findall(r'\bid="([^"]+)"', text)
        if source.stem == "kserdes":  # lists its names and leads to their homes
            described = [f"kserdes.{name}" for name in re.findall(r'<a [^>]*href="[^"#]*#[\w.]*\.(\w+)"', text)]
        names = importlib.import_module(source.stem).__all__
        missing += [
            f"{source.stem}.{name} is not in the reference"
            for name in names
            if f"{source.stem}.{name}" not in described
        ]
    return missing


def from_elsewhere(site: Path) -> list[str]:
    """The scripts, styles, fonts, images and frames that the pages would load from another host."""
    found = []
    for path in sorted(site.rglob("*")):
        pattern = _LOADED.get(path.suffix)
        if pattern is not None:
            found += [f"{path.relative_to(site)} loads {match[0]}" for match in pattern.finditer(path.read_text())]
    return found


def linked(markdown: str, page: str) -> str:
    """The text of a page of the site, its links leading to pages of the site where the files they name are pages."""
    folder = posixpath.dirname(_SOURCES.get(page, f"docs/{page}"))

    def link(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, hash_sign, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        file = posixpath.normpath(posixpath.join(folder, path))
        if file in PAGES:
            there = PAGES[file]
        elif file.startswith("docs/") and not (ROOT / file).is_dir():
            there = file.removeprefix("docs/")
        else:
            return text
        return f"[{text}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{hash_sign}{anchor})"

    # Links may hold code (`[`kserdes`](…)`), so only whole links are looked for between blocks of code.
    parts = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if index % 2 else _LINK.sub(link, part) for index, part in enumerate(parts))


def public_names() -> str:
    """The names of `kserdes`, by the module they come from, as links into the reference."""
    import kserdes

    homes = {**kserdes.HOMES, "pipeline": kserdes.SPARK}
    return "\n\n".join(
        f"## From `{module}`\n\n" + "\n".join(f"- [`{name}`][{module}.{name}]" for name in sorted(names))
        for module, names in homes.items()
    )
