# SPDX-License-Identifier: MIT OR Apache-2.0
"""Limits of the tree: sizes of folders, files and functions, direction of imports, licences."""

import re
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
import python_code
import rust_code
import tree

ENTRIES = 12
LINES = 500  # of a file
LONGEST = 60  # lines of a function
MEDIAN = 8  # lines of the functions of one part
# A folder is a room, but these are lists: a reader looks for one entry and knows what it is called.
LISTS = {
    *(".", "src", "addon", "docs", "docs/images"),
    # Fabrics, models of cloth, rules of untangling, checks of a scene, ways to make a garment.
    *("addon/presets", "src/forces", "src/forces/bending", "src/untangling"),
    *("addon/checks", "addon/authoring"),
    # Tests of one subject each.
    *("tests/blender/bake", "tests/blender/scene", "tests/hostile/families"),
    *("tests/physics/models", "tests/python/motion", "tests/python/objects"),
}
LICENCE = "SPDX-License-Identifier: "
WITH_LICENCE = {".rs", ".py", ".pyi", ".toml", ".sh", ".yml"}
# Registries are those that a machine is set up with.
HOSTS = [host + "." for host in ("crates", "pypi", "pythonhosted", "debian", "npmjs", "ubuntu")]
ENDINGS = ("io", "org", "com")

Module = tuple[str, ...]
Imports = dict[Module, set[Module]]
PARTS = {"src": rust_code, "addon": python_code}


def imports(part: str) -> Imports:
    """All imports of a part of the tree, but for those of its head, which all may use."""
    heads = {(), ("error",)}
    modules = PARTS[part].modules().keys() - heads
    return {module: PARTS[part].imports(module) - heads for module in modules}


def folder(part: str, module: Module) -> Module:
    """Folder that a module lies in, or that it is the head of."""
    file = PARTS[part].modules()[module]
    return module if file.stem in ("mod", "__init__", "lib") else module[:-1]


def functions(path: Path) -> list[tuple[str, int]]:
    code = rust_code if path.suffix == ".rs" else python_code
    return list(code.functions(path))


def reachable(graph: Imports, start: Module) -> set[Module]:
    """All modules that a module imports, directly or not."""
    found: set[Module] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def sources() -> list[Path]:
    return tree.files(".rs", ".py")


def test_no_folder_has_more_than_twelve_entries_but_lists():
    crowded = {
        tree.name(each): len(tree.entries(each))
        for each in tree.folders()
        if len(tree.entries(each)) > ENTRIES and tree.name(each) not in LISTS
    }
    assert not crowded


def test_every_list_is_a_folder():
    assert not LISTS - {tree.name(each) for each in tree.folders()}


def test_no_file_is_longer_than_500_lines():
    lengths = {tree.name(path): len(tree.text(path).splitlines()) for path in sources()}
    assert not {name: length for name, length in lengths.items() if length > LINES}


def test_no_function_is_longer_than_60_lines():
    each = ((path, *function) for path in sources() for function in functions(path))
    long = [(tree.name(path), name, lines) for path, name, lines in each if lines > LONGEST]
    assert not long


@pytest.mark.parametrize("part", PARTS)
def test_functions_are_short(part):
    lengths = [
        lines
        for path in sources()
        if path.is_relative_to(tree.ROOT / part)
        for _, lines in functions(path)
    ]
    assert median(lengths) <= MEDIAN


@pytest.mark.parametrize("part", PARTS)
def test_every_folder_of_the_page_exists_and_no_other(part):
    """docs/architecture.md has them in their order."""
    folders = {path.name for path in tree.entries(tree.ROOT / part) if path.is_dir()}
    assert set(tree.layers(part)) == folders - {"presets"}


def test_the_front_page_has_every_folder():
    page = tree.text(tree.ROOT / "README.md")
    table = page.split("| Folder, from the top;")[1].split("\n\n")[0]
    assert set(re.findall(r"`src/(\w+)/`", table)) == set(tree.layers("src"))
    row = next(line for line in table.splitlines() if line.startswith("| `addon/`"))
    assert set(tree.layers("addon")) <= set(re.findall(r"`(\w+)`", row))


def test_pages_count_fabrics_and_scenes_as_they_are():
    fabrics = len(list((tree.ROOT / "addon/presets").glob("*.toml")))
    assert f"all {fabrics} files" in tree.text(tree.ROOT / "CONTRIBUTING.md")
    scenes = re.search(r"for scene in \(([^)]*)\)", tree.text(tree.ROOT / "examples/scenes.py"))
    count = len(scenes[1].split(","))
    words = {8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve"}
    for page in ("README.md", "docs/testing.md"):
        assert f"{words[count]} scenes to learn from" in tree.text(tree.ROOT / page)


@pytest.mark.parametrize("part", PARTS)
def test_no_import_runs_up_the_folders(part):
    """A folder imports those below it."""
    ranks = tree.layers(part)
    up = [
        f"{'/'.join(module)} -> {'/'.join(used)}"
        for module, others in imports(part).items()
        for used in others
        if used[0] in ranks and ranks.get(module[0], -1) > ranks[used[0]]
    ]
    assert not sorted(up)


@pytest.mark.parametrize("part", PARTS)
def test_no_circle_of_imports_runs_through_two_folders(part):
    """Files of one folder may need each other, as may the head of a folder and what is inside."""
    graph = {module: others - ancestors(module) for module, others in imports(part).items()}
    used = {module: reachable(graph, module) for module in graph}
    circles = [
        f"{'/'.join(first)} <-> {'/'.join(second)}"
        for first in graph
        for second in used[first]
        if first < second and first in used[second]
        if folder(part, first) != folder(part, second)
    ]
    assert not circles


def ancestors(module: Module) -> set[Module]:
    """Heads of the folders that a module lies in."""
    return {module[:depth] for depth in range(1, len(module))}


def test_every_file_names_its_licence():
    missing = [
        tree.name(path)
        for path in tree.files()
        if path.suffix in WITH_LICENCE or path.name == "Makefile"
        if LICENCE not in "\n".join(tree.text(path).splitlines()[:3])
    ]
    assert not missing


def test_no_file_names_the_host_of_a_registry():
    hosts = [host + ending for host in HOSTS for ending in ENDINGS]
    naming = [
        (tree.name(path), host)
        for path in tree.files()
        if path.suffix not in tree.BINARY | {".lock"}
        for host in hosts
        if host in tree.text(path)
    ]
    assert not naming


def test_the_add_on_names_the_faces_that_the_library_does_not_guard():
    """The add-on checks meshes without the library, and has the number of corners for itself."""
    places = "src/mesh/polygons/alternatives.rs", "addon/checks/meshes.py"
    number = re.compile(r"^(?:const )?MAX_GUARDED_CORNERS(?:: usize)? = (\d+)", re.MULTILINE)
    assert len({number.search(tree.text(tree.ROOT / place)).group(1) for place in places}) == 1


@pytest.mark.parametrize("check", [rust_code.functions, rust_code.code])
def test_rust_is_read_without_a_compiler(check: Callable, tmp_path):
    path = tmp_path / "a.rs"
    path.write_text(
        "/// fn no() {\nfn one<'a>(x: [u8; 3]) -> &'a str {\n    \"}{\"\n}\nfn two();\n"
    )
    found = check(path)
    assert found.count("fn") == 2 if isinstance(found, str) else list(found) == [("one", 3)]
