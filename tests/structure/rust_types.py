# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sizes of types and functions in Rust code: fields, methods and files of a type, parameters."""

import re
from collections import Counter
from collections.abc import Iterator

from rust_code import Module, block_end, modules, resolved, without_tests

PUBLIC = r"\bpub(?:\([^)]*\))?\s+"
STRUCT = re.compile(r"\bstruct\s+(\w+)")
DEFINED = re.compile(r"\b(?:struct|enum|union)\s+(\w+)")
# Behind an attribute, a brace or the start of the file, `impl` is no type of a parameter or result.
IMPL = re.compile(r"(?:^|(?<=[\]};]))\s*(?:unsafe\s+)?impl\b")
PUBLIC_FUNCTION = re.compile(PUBLIC + r"(?:const\s+|async\s+|unsafe\s+)*fn\s+(\w+)")
FUNCTION = re.compile(r"\bfn\s+(\w+)")
PYTHON_IMPL = re.compile(r"#\[pymethods\]\s*impl\b[^{]*")
PYTHON_FUNCTION = re.compile(r"#\[pyfunction\]")
SIGNATURE = re.compile(r"\bsignature\s*=\s*\(")
PARAMETER_STRUCT = re.compile(r"\w*Parameters$")
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def close(source: str, start: int) -> int:
    """Place of the bracket that closes the one at `start`; arrows are no brackets."""
    waiting = []
    for place in range(start, len(source)):
        sign = source[place]
        if sign in CLOSING:
            waiting.append(CLOSING[sign])
        elif sign == waiting[-1] and source[place - 1 : place + 1] not in ("->", "=>"):
            waiting.pop()
            if not waiting:
                return place
    raise ValueError("a bracket is not closed")


def items(inside: str) -> list[str]:
    """What commas separate, but for commas within brackets."""
    found, start, place = [], 0, 0
    while place < len(inside):
        if inside[place] in CLOSING:
            place = close(inside, place)
        elif inside[place] == ",":
            found.append(inside[start:place])
            start = place + 1
        place += 1
    return [item.strip() for item in (*found, inside[start:]) if item.strip()]


def behind_generics(source: str, place: int) -> int:
    """Place behind white space and generic parameters, if any."""
    place += len(source[place:]) - len(source[place:].lstrip())
    return close(source, place) + 1 if source[place] == "<" else place


def fields(source: str) -> dict[str, int]:
    """Number of fields of each struct."""
    found = {}
    for struct in STRUCT.finditer(source):
        opening = re.compile(r"[({;]").search(source, behind_generics(source, struct.end()))
        if opening and opening[0] != ";":
            body = source[opening.end() : close(source, opening.start())]
            found[struct[1]] = len(items(body))
    return found


def inherent_impls(source: str) -> Iterator[tuple[str, int]]:
    """Path of the type of each inherent `impl`, and how many methods it has."""
    for impl in IMPL.finditer(source):
        head = behind_generics(source, impl.end())
        opening = source.index("{", head)
        if not re.search(r"\bfor\b(?!\s*<)", source[head:opening]):
            body = source[opening + 1 : block_end(source, opening) - 1]
            # Functions within those of the type are none of its methods.
            while nested := re.search(r"\{[^{}]*\}", body):
                body = body[: nested.start()] + ";" + body[nested.end() :]
            yield re.compile(r"[\w:]+").search(source, head)[0], len(FUNCTION.findall(body))


def parameters(source: str, name_end: int) -> list[str]:
    """Parameters of the function whose name ends at a place, without `self`."""
    opening = source.index("(", behind_generics(source, name_end))
    each = items(source[opening + 1 : close(source, opening)])
    return [one for one in each if not re.fullmatch(r"(?:&(?:\s*'\w+)?\s*)?(?:mut\s+)?self", one)]


def public_parameters(source: str) -> Iterator[tuple[str, int]]:
    """Public functions, and how many parameters each has that are no keywords of Python."""
    for function in PUBLIC_FUNCTION.finditer(source):
        yield function[1], len(parameters(source, function.end()))
    for start, end in python_parts(source):
        for function in FUNCTION.finditer(source, start, end):
            yield function[1], len(positional(source, function))


def python_parts(source: str) -> Iterator[tuple[int, int]]:
    """Places of the functions that Python calls."""
    for impl in PYTHON_IMPL.finditer(source):
        yield impl.end(), block_end(source, impl.end())
    for function in PYTHON_FUNCTION.finditer(source):
        yield function.end(), source.index("{", function.end())


def positional(source: str, function: re.Match[str]) -> list[str]:
    """Parameters of a function that Python may pass by their places."""
    # Attributes begin behind the last item.
    before = max(source.rfind(sign, 0, function.start()) for sign in "{};")
    signature = SIGNATURE.search(source, before + 1, function.start())
    if signature is None:
        return parameters(source, function.end())
    opening = signature.end() - 1
    names = items(source[opening + 1 : close(source, opening)])
    return names[: names.index("*")] if "*" in names else [name for name in names if name != "/"]


def owner(module: Module, path: str) -> tuple[Module, str]:
    """Module that defines a type which a path in another module means, and its name."""
    *_, name = parts = path.split("::")
    if len(parts) == 1 and name in DEFINED.findall(without_tests(module)):
        return module, name
    return resolved(module, tuple(parts)) or module, name


def named(module: Module, name: str) -> str:
    return "::".join((*module, name))


def field_counts() -> dict[str, int]:
    """Number of fields of every struct of `src`."""
    each = ((module, fields(without_tests(module))) for module in modules())
    return {named(module, name): size for module, found in each for name, size in found.items()}


def method_counts() -> Counter[str]:
    """Number of inherent methods of every type of `src`."""
    total: Counter[str] = Counter()
    for module in modules():
        for path, methods in inherent_impls(without_tests(module)):
            total[named(*owner(module, path))] += methods
    return total


def file_counts() -> Counter[str]:
    """Number of files with inherent `impl`s of every type of `src`."""
    pairs = {
        (named(*owner(module, path)), module)
        for module in modules()
        for path, _ in inherent_impls(without_tests(module))
    }
    return Counter(name for name, _ in pairs)


def parameter_counts() -> dict[str, int]:
    """Largest number of parameters of the public functions of `src` with one name in one file."""
    found: dict[str, int] = {}
    for module in modules():
        for function, size in public_parameters(without_tests(module)):
            name = named(module, function)
            found[name] = max(size, found.get(name, 0))
    return found


def heuristic_counts() -> dict[str, int]:
    """Number of fields of the parameter structs of all algorithms."""
    counts = field_counts().items()
    sizes = (size for name, size in counts if PARAMETER_STRUCT.match(name.split("::")[-1]))
    return {"fields of all parameter structs": sum(sizes)}
