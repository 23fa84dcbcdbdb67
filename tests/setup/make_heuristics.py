# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes docs/heuristics.md: every heuristic parameter with its value, effect and evidence.

Read from the parameter structs in `src`: those with a constant `DEFAULT` of themselves. The doc
comment of each field has the form "Role (unit or base). Effect: … Evidence: …".

usage: make_heuristics.py
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs/heuristics.md"
DELETED = ROOT / "tests/setup/deleted_heuristics.md"
HEAD = """# Heuristic parameters

Written by `tests/setup/make_heuristics.py` from the parameter structs in `src` (`make pages`).

A heuristic parameter is a number that no equation and no proof determines. Each algorithm has
one struct of them with a constant `DEFAULT`, in the file of the algorithm. The effect is that of a
larger and of a smaller value; the evidence names the test or benchmark that fails or changes with
another value. To change one: change `DEFAULT`, run the evidence, write the new value and what was
tried into the doc comment, and run `make pages`. `.venv/bin/python tests/bench/evidence.py NAME …`
runs scenes named `sheet/…`, `hostile/…` or `rest/…` and prints their figures.

Not listed: bounds on rounding, which stand beside their proofs, and sizes of parallel tasks.
"""
STRUCT = re.compile(r"^(?:pub(?:\([a-z: ]+\))? )?struct (\w+)(?:<[^>]*>)? \{$")
FIELD = re.compile(r"^ +(?:pub(?:\([a-z: ]+\))? )?(\w+): (.+),$")
DEFAULT = re.compile(r"^ +(?:pub(?:\([a-z: ]+\))? )?const DEFAULT: Self =")
IMPL = re.compile(r"^impl (\w+) \{$")
PARTS = re.compile(
    r"^(?P<role>.*?)(?:\s*Effect:\s*(?P<effect>.*?))?(?:\s*Evidence:\s*(?P<evidence>.*))?$"
)


@dataclass(frozen=True)
class Parameter:
    """One field of a parameter struct."""

    name: str
    value: str
    role: str
    effect: str
    evidence: str


@dataclass(frozen=True)
class Group:
    """The parameters of one algorithm."""

    name: str
    path: str
    doc: str
    parameters: tuple[Parameter, ...]


def groups(source: Path = ROOT / "src") -> list[Group]:
    """All parameter structs, by file."""
    files = sorted(source.rglob("*.rs"))
    return [group for file in files for group in groups_of(file, source.parent)]


def groups_of(file: Path, root: Path) -> Iterator[Group]:
    """The parameter structs of one file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    values = dict(defaults(lines))
    for number, line in enumerate(lines):
        found = STRUCT.match(line)
        if found and found[1] in values:
            doc = " ".join(doc_above(lines, number))
            parameters = tuple(parameters_of(lines, number, values[found[1]]))
            yield Group(found[1], file.relative_to(root).as_posix(), doc, parameters)


def defaults(lines: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The values of each constant `DEFAULT`, by the type that it belongs to."""
    owner = ""
    for number, line in enumerate(lines):
        if found := IMPL.match(line):
            owner = found[1]
        elif DEFAULT.match(line):
            yield owner, assignments(braced("\n".join(lines[number:])))


def braced(text: str) -> str:
    """What stands between the first brace and the one that closes it."""
    start, depth = text.index("{"), 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + 1 : place]
    raise ValueError(f"a brace is not closed: {text[:60]}")


def assignments(body: str) -> dict[str, str]:
    """`name: value` of a struct expression, by name."""
    body = re.sub(r"//.*", "", body)
    pieces, depth, start = [], 0, 0
    for place, character in enumerate(body + ","):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append(" ".join(body[start:place].split()))
            start = place + 1
    return dict(piece.split(": ", 1) for piece in pieces if ": " in piece)


def doc_above(lines: list[str], number: int) -> list[str]:
    """The doc comment of an item, without that of the file."""
    first = number
    while re.match(r"^\s*(///|#\[)", lines[first - 1]):
        first -= 1
    texts = (line.strip() for line in lines[first:number])
    return [text[3:].strip() for text in texts if text.startswith("///")]


def parameters_of(lines: list[str], number: int, values: dict[str, str]) -> Iterator[Parameter]:
    """The fields of the struct that begins at a line."""
    for place in range(number + 1, lines.index("}", number)):
        if found := FIELD.match(lines[place]):
            name = found[1]
            doc = " ".join(doc_above(lines, place))
            words = {key: text or "" for key, text in PARTS.match(doc).groupdict().items()}
            yield Parameter(name, values.get(name, ""), **words)


def incomplete(found: list[Group]) -> list[str]:
    """Parameters without value, role, effect or evidence."""
    return [
        f"{group.name}.{parameter.name}"
        for group in found
        for parameter in group.parameters
        if not all(vars(parameter).values())
    ]


def summary(found: list[Group]) -> str:
    """Numbers of parameters, and of those without evidence."""
    evidence = [parameter.evidence for group in found for parameter in group.parameters]
    without = sum(text.lower().startswith("none") for text in evidence)
    return (
        f"{len(evidence)} parameters of {len(found)} algorithms. For {without} of them the "
        "evidence is *none*: no test and no figure is known that depends on the value."
    )


def table(group: Group) -> list[str]:
    """One section of the page."""
    head = ["| parameter | value | role | effect | evidence |", "| --- | --- | --- | --- | --- |"]
    rows = [row(parameter) for parameter in group.parameters]
    return ["", f"## `{group.name}`", "", f"{plain(group.doc)} `{group.path}`", "", *head, *rows]


def row(parameter: Parameter) -> str:
    """One line of a table."""
    words = [plain(text) for text in (parameter.role, parameter.effect, parameter.evidence)]
    return " | ".join([f"| `{parameter.name}`", f"`{parameter.value}`", *words]) + " |"


def plain(text: str) -> str:
    """A doc comment in a table: no links of rustdoc, no bars."""
    return re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text).replace("|", "\\|").strip()


def page() -> str:
    """The whole page."""
    found = groups()
    lines = [*HEAD.splitlines(), "", summary(found)]
    for group in found:
        lines += table(group)
    if DELETED.exists():
        lines += ["", *DELETED.read_text(encoding="utf-8").splitlines()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
