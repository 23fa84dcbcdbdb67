# SPDX-License-Identifier: MIT OR Apache-2.0
"""Limits of types and functions of `src`, and the list of what exceeds them: it only shrinks."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import rust_code
import rust_types
import tree

LISTED = tomllib.loads(tree.text(Path(__file__).with_name("offenders.toml")))


class Limit(NamedTuple):
    largest: int
    figures: Callable[[], Mapping[str, int]]


LIMITS = {
    "fields": Limit(15, rust_types.field_counts),
    "methods": Limit(40, rust_types.method_counts),
    "files": Limit(3, rust_types.file_counts),
    "parameters": Limit(8, rust_types.parameter_counts),
    # A number that no equation determines: their total is the limit.
    "heuristics": Limit(0, rust_types.heuristic_counts),
}


def deviations(figures: Mapping[str, int], largest: int, listed: Mapping[str, int]) -> list[str]:
    """What differs from the list, and what to do about it."""
    offenders = {name: size for name, size in figures.items() if size > largest}
    found = []
    for name in sorted(offenders.keys() | listed.keys()):
        size, known = offenders.get(name, 0), listed.get(name, 0)
        if size > known:
            found.append(f"{name}: {size}, at most {known or largest} allowed")
        elif size < known:
            now = f"lower it to {size}" if size else "remove it"
            found.append(f"{name}: listed with {known}; {now}")
    return found


@pytest.mark.parametrize("measure", LIMITS)
def test_nothing_exceeds_its_limit_but_what_is_listed(measure):
    """A listed figure that is too high is a fault as well, so that nothing grows back."""
    limit = LIMITS[measure]
    assert not deviations(limit.figures(), limit.largest, LISTED[measure])


def test_every_list_has_its_limit():
    assert LISTED.keys() == LIMITS.keys()


@pytest.mark.parametrize(
    ("figures", "found"),
    [
        ({"Large": 17, "Small": 15}, []),
        ({"Large": 18}, ["Large: 18, at most 17 allowed"]),
        ({"Large": 17, "Small": 16}, ["Small: 16, at most 15 allowed"]),
        ({"Large": 16}, ["Large: listed with 17; lower it to 16"]),
        ({"Large": 15}, ["Large: listed with 17; remove it"]),
        ({}, ["Large: listed with 17; remove it"]),
    ],
)
def test_the_list_only_shrinks(figures, found):
    assert deviations(figures, 15, {"Large": 17}) == found


def test_fields_are_counted_whatever_their_types():
    source = """
        pub(crate) struct Named<'a, T: Fn(u8) -> u8> where T: Copy {
            pub(crate) one: HashMap<u8, (u8, u8)>, #[cfg(a)] two: [u8; 3], three: fn(u8, u8) -> T,
        }
        struct Pair(u8, Vec<(u8, u8)>); struct Unit; struct Empty {}
        enum Kind { One { a: u8, b: u8 }, Two }
    """
    assert rust_types.fields(source) == {"Named": 3, "Pair": 2, "Empty": 0}


def test_methods_are_those_of_inherent_impls():
    source = """
        impl<'a, T: Fn() -> u8> Named<'a, T> {
            fn one(&self) -> impl Fn() { fn inner() {} || () }
            pub(crate) const fn two() {}
        }
        #[pymethods]
        impl super::Other { fn three(&self) {} }
        impl Trait for Named { fn four() {} }
        impl<T> Of<T> for Named where T: for<'b> Fn(&'b u8) { fn five() {} }
        fn free(of: impl Fn()) {}
    """
    impls = list(rust_types.inherent_impls(source))
    assert impls == [("Named", 2), ("super::Other", 1)]


def test_parameters_are_counted_but_for_self_and_keywords_of_python():
    source = """
        fn hidden(a: u8, b: u8) {}
        pub fn none() {}
        pub(crate) fn method<'a, F: Fn(u8, u8) -> u8>(&'a mut self, a: [u8; 2], f: F) {}
        #[pymethods]
        impl Of {
            #[pyo3(signature = (a, b=None, *, c=None, d=None))]
            fn called(&self, a: u8, b: u8, c: u8, d: u8) {}
            fn plain(&self, a: u8) {}
        }
        impl Of { fn private(a: u8, b: u8, c: u8) {} }
    """
    found = dict(rust_types.public_parameters(source))
    assert found == {"none": 0, "method": 2, "called": 2, "plain": 1}


def test_impls_belong_to_the_type_that_their_file_imports(monkeypatch, tmp_path):
    sources = {
        "a/mod.rs": "mod b;\nstruct Of;\nimpl Of { fn a() {} }\nstruct FewParameters(u8, u8);",
        "a/b.rs": "use super::Of;\nimpl Of { fn b() {} fn c() {} }\n"
        "#[cfg(test)]\nmod tests { impl Of { fn d() {} } }",
        "c.rs": "struct Of(u8);\nimpl Of { fn e() {} }\nimpl crate::a::Of { fn f() {} }",
    }
    paths = {tmp_path / name: source for name, source in sources.items()}
    for path, source in paths.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    monkeypatch.setattr(rust_code, "SRC", tmp_path)
    modules = {rust_code.module_of(path): path for path in paths}
    for place in (rust_code, rust_types):
        monkeypatch.setattr(place, "modules", lambda: modules)
    caches = (rust_code.without_tests, rust_code.bindings)
    for cached in caches:
        cached.cache_clear()
    try:
        assert rust_types.method_counts() == {"a::Of": 4, "c::Of": 1}
        assert rust_types.file_counts() == {"a::Of": 3, "c::Of": 1}
        assert sum(rust_types.heuristic_counts().values()) == 2
    finally:
        for cached in caches:
            cached.cache_clear()
