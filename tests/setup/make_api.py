# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes docs/api.md: the Python module as its docstrings tell it.

usage: make_api.py    (in an environment with the library)
"""

import inspect
import re
from pathlib import Path

import weft

TARGET = Path(__file__).resolve().parents[2] / "docs/api.md"
HEAD = """# The Python module

Written by `tests/setup/make_api.py` from the docstrings of the module.
"""
SECTION = re.compile(r"^(Args|Returns|Raises):$")
ITEM = re.compile(r"^    ([\w*, ]+?)(?: \((.+)\))?: (.*)$")


def paragraphs(docstring: str) -> list[str]:
    """A docstring as Markdown: sections become lists."""
    lines, section = [], ""
    for line in joined(inspect.cleandoc(docstring).splitlines()):
        found = SECTION.match(line)
        if found:
            section = found[1]
            lines += ["", f"*{section}*", ""]
        elif section and line.startswith(" "):
            lines.append(item(line, section))
        else:
            section = "" if line else section
            lines.append(line)
    return lines


def joined(lines: list[str]) -> list[str]:
    """Lines with those that go on an item put behind it."""
    whole: list[str] = []
    for line in lines:
        if line.startswith("        ") and whole and whole[-1].startswith("    "):
            whole[-1] += f" {line.strip()}"
        else:
            whole.append(line)
    return whole


def item(line: str, section: str) -> str:
    """One entry of a section."""
    found = ITEM.match(line)
    if found is None or section == "Returns":
        return f"- {line.strip()}"
    kind = f" ({found[2]})" if found[2] else ""
    return f"- `{found[1]}`{kind}: {found[3]}"


def heading(depth: int, name: str, thing: object) -> list[str]:
    """A heading with the signature, where there is one."""
    try:
        signature = re.sub(r"\(self(, )?/?(, )?", "(", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        signature = ""
    signature = signature.replace("($", "(").replace("=Ellipsis", "=...")
    return ["", f"{'#' * depth} `{name}{signature}`", ""]


def described(kind: type) -> list[str]:
    """A class with its members."""
    lines = heading(2, kind.__name__, kind) + paragraphs(kind.__doc__)
    # Properties come in no order of their own.
    order = {name: inspect.isgetsetdescriptor(member) for name, member in vars(kind).items()}
    for name in sorted(order, key=lambda name: (not order[name], name)):
        member = getattr(kind, name)  # not from vars: static methods are wrapped there
        words = inspect.getdoc(member)
        if name.startswith("_") or not words:
            continue
        if inspect.isgetsetdescriptor(member):
            lines += ["", f"**`{name}`**: {' '.join(words.split())}"]
        else:
            lines += heading(3, f"{kind.__name__}.{name}", member) + paragraphs(words)
    return lines


def page() -> str:
    """The whole page."""
    lines = [*HEAD.splitlines(), "", *paragraphs(weft.__doc__)]
    for name in sorted(weft.__all__, key=lambda name: (name[0].islower(), name)):
        thing = getattr(weft, name)
        if inspect.isclass(thing):
            lines += described(thing)
        elif callable(thing):
            lines += heading(2, name, thing) + paragraphs(thing.__doc__)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
