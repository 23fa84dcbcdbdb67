# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the structure tests read from Python files: functions, and imports of the add-on."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tree

ADDON = tree.ROOT / "addon"
Module = tuple[str, ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(tree.text(path))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Names of the functions, and how many lines each has."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, Function) and node.end_lineno is not None:
            yield node.name, node.end_lineno - node.lineno + 1


def module_of(path: Path) -> Module:
    """Path of the module in a file of the add-on."""
    parts = path.relative_to(ADDON).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@cache
def modules() -> dict[Module, Path]:
    """Files of all modules."""
    return {module_of(path): path for path in tree.files(".py", below=ADDON)}


def imports(module: Module) -> set[Module]:
    """Modules of the add-on that a module imports something from."""
    path = modules()[module]
    package = module if path.name == "__init__.py" else module[:-1]
    used = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) + 1 - node.level]
            stem = (*base, *(node.module.split(".") if node.module else ()))
            inner = {(*stem, alias.name) for alias in node.names}
            used |= {place if place in modules() else stem for place in inner}
    return {other for other in used if other in modules() and other != module}
