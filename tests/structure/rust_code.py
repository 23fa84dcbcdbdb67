# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the structure tests read from Rust files, without a compiler: functions and imports."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tree

SRC = tree.ROOT / "src"
Module = tuple[str, ...]
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL
)
FUNCTION = re.compile(r"\bfn\s+(\w+)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*(?=\{)")
USE = re.compile(r"(?:\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"\b(?:crate|super)(?:::\w+)+")


def code(path: Path) -> str:
    """A file with comments, strings and characters blanked out; lines stay where they are."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), tree.text(path))


def block_end(source: str, start: int) -> int:
    """Place behind the brace that closes the one at `start`."""
    depth = 0
    for place in re.finditer(r"[{}]", source[start:]):
        depth += 1 if place[0] == "{" else -1
        if depth == 0:
            return start + place.end()
    raise ValueError("a brace is not closed")


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Names of the functions with a body, and how many lines each has."""
    source = code(path)
    for found in FUNCTION.finditer(source):
        opening = re.compile(r"[{;]").search(source, found.end())
        # The length of an array type has a semicolon, too.
        while opening and source.count("[", found.end(), opening.start()) != source.count(
            "]", found.end(), opening.start()
        ):
            opening = re.compile(r"[{;]").search(source, opening.end())
        if opening and opening[0] == "{":
            body = source[found.start() : block_end(source, opening.start())]
            yield found[1], body.count("\n") + 1


def module_of(path: Path) -> Module:
    """Path of the module in a file of `src`."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts


def is_test(module: Module) -> bool:
    return "tests" in module


@cache
def modules() -> dict[Module, Path]:
    """Files of all modules but those of tests."""
    found = {module_of(path): path for path in tree.files(".rs", below=SRC)}
    return {module: path for module, path in found.items() if not is_test(module)}


@cache
def without_tests(module: Module) -> str:
    """Code of a module but for its tests."""
    source = code(modules()[module])
    while found := TESTS.search(source):
        source = source[: found.start()] + source[block_end(source, found.end()) :]
    return source


def branches(text: str) -> Iterator[list[str]]:
    """All paths of a `use` tree, each with the name that it binds last."""
    text = text.strip()
    brace = text.find("{")
    if brace < 0:
        path, _, alias = text.partition(" as ")
        parts = [part.strip() for part in path.split("::")]
        yield [*parts, alias.strip() or parts[-1]]
        return
    stem = [part.strip() for part in text[:brace].split("::") if part.strip()]
    depth, start = 0, brace + 1
    inside = text[: text.rindex("}")] + ","
    for place in range(brace + 1, len(inside)):
        depth += {"{": 1, "}": -1}.get(inside[place], 0)
        if inside[place] == "," and depth == 0:
            if inside[start:place].strip():
                for branch in branches(inside[start:place]):
                    last = stem[-1:] if branch[-1] == "self" else branch[-1:]
                    yield [*stem, *(part for part in branch[:-1] if part != "self"), *last]
            start = place + 1


@cache
def bindings(module: Module) -> dict[str, Module]:
    """Names that `use` brings into a module, with their paths."""
    uses = USE.findall(without_tests(module))
    paths = [branch for use in uses for branch in branches(" ".join(use.split()))]
    return {path[-1]: tuple(path[:-1]) for path in paths}


def resolved(module: Module, path: Module, depth: int = 0) -> Module | None:
    """Module that defines what a path in a module means; `None` for other crates."""
    first, *rest = path
    if first in ("crate", "self"):
        here = () if first == "crate" else module
    elif first == "super":
        here = module[:-1]
    elif (*module, first) in modules():
        here = (*module, first)
    elif first in bindings(module) and bindings(module)[first] != path and depth < 9:
        return resolved(module, (*bindings(module)[first], *rest), depth + 1)
    else:
        return None
    return descended(here, rest, depth)


def descended(here: Module, rest: list[str], depth: int) -> Module | None:
    """Module in which a path from a module on ends, through what is exported again on the way."""
    for place, part in enumerate(rest):
        if part == "super":
            here = here[:-1]
        elif (*here, part) in modules():
            here = (*here, part)
        elif part in bindings(here) and depth < 9:
            return resolved(here, (*bindings(here)[part], *rest[place + 1 :]), depth + 1)
        else:
            break
    return here


def imports(module: Module) -> set[Module]:
    """Modules of which a module uses something."""
    source = without_tests(module)
    # What a parent only hands on from its children counts for those who ask for it.
    paths = {tuple(found[0].split("::")) for found in PATH.finditer(USE.sub("", source))}
    paths |= {path for path in bindings(module).values()}
    used = {resolved(module, path) for path in paths if path != ("*",)}
    return {other for other in used if other is not None and other != module}
