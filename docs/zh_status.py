"""Names the Chinese pages whose English page has changed since they were written.

`README.zh-CN.md` follows `README.md`, and each page of `docs/zh/` the page of its name in `docs/`. Its last line is a
comment with a digest of that English page. `.venv/bin/python docs/zh_status.py` lists the pages whose digest is another
one and never fails, so that a correction of an English page need not wait for its translation. After a Chinese page has
been brought up to date, `docs/zh_status.py --accept PAGE…` writes the digest of the English page as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
MARK = re.compile(r"\n<!-- English page: (\w+) -->\n\Z")


def main() -> None:
    """List the pages, or accept those that are named."""
    parser = argparse.ArgumentParser(description="Names the Chinese pages whose English page has changed.")
    parser.add_argument("--accept", nargs="+", type=Path, metavar="PAGE", help="these pages are up to date")
    accepted = parser.parse_args().accept
    for page in accepted or ():
        accept(page.resolve())
    if not accepted:
        for page in stale(chinese_pages()):
            source = english_of(page).relative_to(REPOSITORY)
            print(f"{page.relative_to(REPOSITORY)}: {source} has changed since this page was written.")


def chinese_pages() -> list[Path]:
    """Every page in Chinese."""
    return [REPOSITORY / "README.zh-CN.md", *sorted((REPOSITORY / "docs" / "zh").glob("*.md"))]


def english_of(page: Path) -> Path:
    """The English page that a Chinese one follows."""
    if page.parent.name == "zh":
        return page.parents[1] / page.name
    return page.with_name(page.name.replace(".zh-CN", ""))


def stale(pages: Iterable[Path]) -> list[Path]:
    """Those of these Chinese pages whose English page is not the one that they were written after."""
    found = []
    for page in pages:
        mark = MARK.search(page.read_text(encoding="utf-8"))
        if mark is None or mark[1] != digest(english_of(page)):
            found.append(page)
    return found


def accept(page: Path) -> None:
    """Write the digest of the English page, as it is, into a Chinese one."""
    text = MARK.sub("", page.read_text(encoding="utf-8")).rstrip("\n")
    page.write_text(f"{text}\n\n<!-- English page: {digest(english_of(page))} -->\n", encoding="utf-8")


def digest(page: Path) -> str:
    """A short digest of a page's text, the same whatever its line ends."""
    return hashlib.sha256(page.read_text(encoding="utf-8").encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
