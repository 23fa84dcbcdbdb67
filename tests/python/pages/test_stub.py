# SPDX-License-Identifier: MIT OR Apache-2.0
"""The stub that is shipped says what the module is: names, signatures, docstrings."""

import ast
import inspect
from importlib import resources
from pathlib import Path

import pytest
import weft

STUB = ast.parse(resources.files("weft").joinpath("__init__.pyi").read_text(encoding="utf-8"))
DEFINED = {
    node.name: node for node in STUB.body if isinstance(node, ast.ClassDef | ast.FunctionDef)
}
CLASSES = {name: node for name, node in DEFINED.items() if isinstance(node, ast.ClassDef)}
MEMBERS = [
    (name, member.name, member)
    for name, node in CLASSES.items()
    for member in node.body
    if isinstance(member, ast.FunctionDef) and member.name != "__new__"
]


def is_property(function: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list)


def stub_parameters(function: ast.FunctionDef) -> list[tuple]:
    """Name, kind and default of each parameter but the first `self` or `cls`."""
    arguments, kinds = function.args, inspect.Parameter
    missing = [inspect.Parameter.empty] * (len(arguments.args) - len(arguments.defaults))
    defaults = missing + [ast.literal_eval(value) for value in arguments.defaults]
    parameters = [
        (argument.arg, kinds.POSITIONAL_OR_KEYWORD, default)
        for argument, default in zip(arguments.args, defaults, strict=True)
        if argument.arg not in ("self", "cls")
    ]
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = kinds.empty if value is None else ast.literal_eval(value)
        parameters.append((argument.arg, kinds.KEYWORD_ONLY, default))
    if arguments.kwarg:
        parameters.append((arguments.kwarg.arg, kinds.VAR_KEYWORD, kinds.empty))
    return parameters


def parameters(callable_object: object) -> list[tuple]:
    signature = inspect.signature(callable_object)
    return [(p.name, p.kind, p.default) for p in signature.parameters.values() if p.name != "self"]


def test_the_package_is_typed():
    assert resources.files("weft").joinpath("py.typed").is_file()


def test_the_stub_has_exactly_the_public_names():
    stated = [node.value for node in STUB.body if isinstance(node, ast.Assign | ast.AugAssign)]
    assert {name for part in stated for name in ast.literal_eval(part)} == set(weft.__all__)
    assert {*DEFINED, "__version__"} == set(weft.__all__)
    assert set(weft.__all__) <= set(dir(weft))


@pytest.mark.parametrize("name", DEFINED)
def test_a_docstring_is_that_of_the_module(name):
    assert ast.get_docstring(DEFINED[name]) == inspect.getdoc(getattr(weft, name))


def test_the_docstring_of_the_module():
    assert ast.get_docstring(STUB) == inspect.getdoc(weft)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_exactly_the_public_members(name):
    public = {member for member in vars(getattr(weft, name)) if not member.startswith("_")}
    assert {member for owner, member, _ in MEMBERS if owner == name} == public


@pytest.mark.parametrize("name", CLASSES)
def test_a_constructor_has_the_signature_of_the_stub(name):
    stated = [node for node in CLASSES[name].body if getattr(node, "name", "") == "__new__"]
    if stated:
        assert stub_parameters(stated[0]) == parameters(getattr(weft, name))
    elif not issubclass(getattr(weft, name), Exception):
        with pytest.raises(TypeError, match=name):
            getattr(weft, name)()


@pytest.mark.parametrize(
    ("owner", "name", "node"), MEMBERS, ids=[f"{o}.{n}" for o, n, _ in MEMBERS]
)
def test_a_member_is_that_of_the_module(owner, name, node):
    member = getattr(getattr(weft, owner), name)
    stated = ast.get_docstring(node)
    if stated is None and is_property(node):  # said among the arguments of its class
        assert f"    {name} (" in ast.get_docstring(CLASSES[owner])
    else:
        assert stated == inspect.getdoc(member)
    assert is_property(node) == inspect.isgetsetdescriptor(member)
    if not is_property(node):
        assert stub_parameters(node) == parameters(member)


def test_the_stated_defaults_are_those_that_act():
    stated = {name: default for name, _, default in parameters(weft.Settings)}
    assert weft.Settings(**stated) == weft.Settings()
    assert {name: getattr(weft.Settings(), name) for name in stated} == stated


# --- docs/api.md ------------------------------------------------------------------------------

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/api.md").read_text(encoding="utf-8")


def test_the_page_of_the_module_is_that_of_its_docstrings(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/setup")
    import make_api

    assert make_api.page() == PAGE, "run tests/setup/make_api.py"


@pytest.mark.parametrize(
    ("owner", "name", "node"), MEMBERS, ids=[f"{o}.{n}" for o, n, _ in MEMBERS]
)
def test_a_member_is_on_the_page_with_its_own_words(owner, name, node):
    words = ast.get_docstring(node) or inspect.getdoc(getattr(getattr(weft, owner), name))
    of_owner = PAGE.split(f"\n## `{owner}")[1].split("\n## ")[0]
    if is_property(node):
        assert f"**`{name}`**: {' '.join(words.split())}\n" in of_owner
    else:
        shown = of_owner.split(f"\n### `{owner}.{name}(")[1].split("\n### ")[0]
        assert words.splitlines()[0] in shown


def test_the_page_has_nothing_of_pythons_own():
    for foreign in ("staticmethod", "Ellipsis", "- **"):
        assert foreign not in PAGE
