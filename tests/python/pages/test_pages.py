# SPDX-License-Identifier: MIT OR Apache-2.0
"""The pages of the project: links, paths, names and examples are those of the tree."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
GUIDES = [ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md"]
# A paragraph, an item of a list, or a row of a table.
BLOCK = re.compile(r"\n(?=\n|\||- |\d+\. )")
# A link to a file of the project, and perhaps to a heading of it.
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
TREE = re.compile(r"`((?:src|addon|tests|examples|docs)/[\w./-]*)`")
CALL = re.compile(r"`(?:\w+::)*(\w+)\(\)`")
FILE = re.compile(r"`((?:src|addon|tests|examples|docs)/[\w./-]*|weft\.pyi)`")
TASKS = re.compile(r"^\| To read or change \|.*\n\|.*\n((?:\|.*\n)+)", re.MULTILINE)
# A constant, type, field or reason in code.
NAME = re.compile(r"`(?:\w+(?:::|\.))*(\w+)`")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Those that GitHub makes of the headings."""
    titles = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_a_heading(page):
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_that_is_named_is_there(page):
    paths = TREE.findall(page.read_text(encoding="utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", GUIDES, ids=named)
def test_every_function_that_is_named_is_in_a_file_beside_it(page):
    for block in BLOCK.split(page.read_text(encoding="utf-8")):
        files = [ROOT / path for path in TREE.findall(block) if (ROOT / path).is_file()]
        text = "".join(file.read_text(encoding="utf-8") for file in files)
        for function in CALL.findall(block):
            assert re.search(rf"\b(fn|def) {function}\b", text), f"{function} in {block}"


def test_every_name_in_a_table_of_places_is_in_a_file_beside_it():
    for block in BLOCK.split((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        files = [ROOT / path for path in FILE.findall(block) if (ROOT / path).is_file()]
        text = "".join(file.read_text(encoding="utf-8") for file in files)
        names = NAME.findall(FILE.sub("", block)) if block.lstrip().startswith("|") else []
        for name in names if files else []:
            assert re.search(rf"\b{name}\b", text), f"{name} in {block}"


def test_every_task_in_the_readme_leads_to_its_list_of_places():
    (tasks,) = TASKS.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    linked = re.findall(r"\(CONTRIBUTING\.md#([\w-]+)\) \|$", tasks, re.MULTILINE)
    lists = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Friction\n")[1]
    titles = ["Friction", *HEADING.findall(lists.split("\n## Other changes\n")[0])]
    assert linked == [title.lower().replace(" ", "-") for title in titles]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_example_of_the_readme_runs(capsys):
    (example,) = EXAMPLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    exec(compile(example, "README.md", "exec"), {})
    lowest = float(capsys.readouterr().out.split()[0])
    assert -0.2 < lowest < 0.8  # two corners of the sheet hang at a height of 1 m


# --- docs/heuristics.md -----------------------------------------------------------------------

SAMPLE = """\
/// Step control: length of the next step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepControlParameters {
    /// Factor after a rejected step (fraction of its length). Effect: larger, more rejections;
    /// smaller, more steps. Evidence: `a_test` (fails with 0.9).
    pub(crate) shrink_factor: f64,
    /// No more than a role.
    pub(crate) band: [f64; 2],
}

impl StepControlParameters {
    pub(crate) const DEFAULT: Self =
        Self { shrink_factor: 0.75, band: [0.25, 20.0] };
}
"""


@pytest.fixture
def heuristics(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/setup")
    import make_heuristics

    return make_heuristics


def test_parameters_are_read_with_their_words(heuristics, tmp_path):
    source = tmp_path / "src"
    source.mkdir()
    (source / "step_control.rs").write_text(SAMPLE, encoding="utf-8")
    (group,) = heuristics.groups(source)
    assert (group.path, group.doc) == (
        "src/step_control.rs",
        "Step control: length of the next step.",
    )
    factor, band = group.parameters
    assert (factor.value, band.value) == ("0.75", "[0.25, 20.0]")
    assert factor.role == "Factor after a rejected step (fraction of its length)."
    assert factor.effect == "larger, more rejections; smaller, more steps."
    assert factor.evidence == "`a_test` (fails with 0.9)."
    assert heuristics.incomplete([group]) == ["StepControlParameters.band"]


def test_the_page_of_heuristics_is_that_of_the_structs(heuristics):
    assert heuristics.page() == heuristics.TARGET.read_text(encoding="utf-8"), (
        "run tests/setup/make_heuristics.py"
    )


def test_every_parameter_has_a_role_an_effect_and_evidence(heuristics):
    assert heuristics.incomplete(heuristics.groups()) == []


def test_the_evidence_exists(heuristics):
    """Every name in code is that of a test, a benchmark, a scene or a target of make."""
    files = [*(ROOT / "tests").rglob("*.rs"), *(ROOT / "tests").rglob("*.py"), ROOT / "Makefile"]
    text = "".join(
        file.read_text(encoding="utf-8") for file in [*files, *(ROOT / "src").rglob("*.rs")]
    )
    words = set(re.findall(r"\w+", text))
    unknown = [
        f"{group.name}.{parameter.name}: {name}"
        for group in heuristics.groups()
        for parameter in group.parameters
        for name in re.findall(r"`([^`]+)`", parameter.evidence)
        if not set(re.findall(r"\w+", name)) <= words
    ]
    assert unknown == []
