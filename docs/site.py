"""Makes the documentation site of docs/ and of the documents at the top of the repository, for `mkdocs build`.

The documents are written to be read in the repository. On the site README.md is the first page, and links to files that
are not on the site lead to the repository, if `repo_url` says where it is, and are plain words otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).parents[1]
ABOVE = {
    "README.md": "index.md",
    "README.zh-CN.md": "index.zh-CN.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security_policy.md",  # docs/security.md is the threat model
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "THIRD_PARTY_NOTICES.md": "third_party_notices.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+|(?=LICENSE\)|\.env|systemd/|compose))([^)#\s]*)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents at the top, whose links and pictures begin with docs/."""
    for name, page in ABOVE.items():
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        text = re.sub(r"(\]\(|src=\"|srcset=\")docs/", r"\1", text)
        for other, its_page in ABOVE.items():
            text = text.replace(f"]({other}", f"]({its_page}")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - mkdocs passes these names
    """Lead links that leave docs/ to the page of that document, or to the repository."""

    def led(found: re.Match[str]) -> str:
        words, ups, target, place = found[1], found[2], found[3], found[4] or ""
        depth = page.file.src_uri.count("/")
        if ups and ups.count("../") <= depth:
            return found[0]  # from docs/zh/ to docs/
        if target in ABOVE:
            return f"[{words}]({'../' * depth}{ABOVE[target]}{place})"
        return f"[{words}]({config.repo_url.rstrip('/')}/blob/main/{target}{place})" if config.repo_url else words

    return LINK.sub(led, markdown)
