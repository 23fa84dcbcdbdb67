# SPDX-License-Identifier: MIT OR Apache-2.0
"""Result of an experiment, and the page and file that it is written to."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path

AGREES, PARTLY, DIFFERS, SKIPPED = "agrees", "agrees in part", "differs", "skipped"


@dataclass
class Table:
    """Rows of words and numbers."""

    title: str
    head: Sequence[str]
    rows: list[Sequence[object]]


@dataclass
class Finding:
    """One experiment of one document."""

    name: str
    source: str
    statement: str
    measured: str
    verdict: str
    why: str
    tables: list[Table] = field(default_factory=list)
    plots: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0


def judged(relations: dict[str, bool]) -> tuple[str, str]:
    """Verdict on relations of a document, and which of them hold."""
    held = sum(relations.values())
    verdict = AGREES if held == len(relations) else PARTLY if held else DIFFERS
    told = "; ".join(
        f"{name}: {'agrees' if holds else 'differs'}" for name, holds in relations.items()
    )
    return verdict, told


STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 1180px; margin: 2em auto; padding: 0 1em; color: #222 }
h1 { font-size: 1.7em } h2 { font-size: 1.3em; margin-top: 2.2em; border-top: 1px solid #ccc;
padding-top: 1em } table { border-collapse: collapse; margin: 0.8em 0; font-size: 0.92em }
td, th { border: 1px solid #ccc; padding: 0.25em 0.7em; text-align: right }
td:first-child, th:first-child { text-align: left } caption { text-align: left; font-weight: bold }
dt { font-weight: bold; margin-top: 0.4em } dd { margin-left: 1.5em } .mark { padding: 0.1em 0.6em;
border-radius: 0.8em; color: white; font-size: 0.85em } .agrees { background: #2e8b57 }
.part { background: #b8741a } .differs { background: #d1495b } .skipped { background: #5b6770 }
.plots { display: flex; flex-wrap: wrap; gap: 12px }
"""


def shown(value: object) -> str:
    """A number with as many digits as matter, or words."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _mark(verdict: str) -> str:
    return f"<span class='mark {verdict.split()[-1]}'>{verdict}</span>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(shown(value))}</td>" for value in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><caption>{escape(table.title)}</caption><tr>{head}</tr>{rows}</table>"


def _section(index: int, finding: Finding) -> str:
    facts = {
        "Source": finding.source,
        "The document says": finding.statement,
        "Measured here": finding.measured,
        "Why": finding.why,
        "Left out": "; ".join(finding.skipped),
    }
    listed = "".join(
        f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts.items() if text
    )
    return (
        f"<h2 id='e{index}'>{escape(finding.name)} {_mark(finding.verdict)}</h2><dl>{listed}</dl>"
        + "".join(map(_table, finding.tables))
        + f"<div class='plots'>{''.join(finding.plots)}</div>"
    )


def write(folder: Path, findings: list[Finding], facts: dict[str, object]) -> None:
    """The page, with everything in it, and the same as JSON without the plots."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(
        f"<tr><td><a href='#e{index}'>{escape(finding.name)}</a></td>"
        f"<td>{escape(finding.source)}</td><td>{_mark(finding.verdict)}</td>"
        f"<td>{finding.seconds:.0f} s</td></tr>"
        for index, finding in enumerate(findings)
    )
    about = ", ".join(f"{name} {shown(value)}" for name, value in facts.items())
    page = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Experiments</title>"
        f"<style>{STYLE}</style></head><body><h1>The documents' experiments, done again</h1>"
        "<p>What four documents on cloth report, against what this library measures. Relations and "
        "orderings are compared; the seconds of machines of 1998 to 2004 are no target.</p>"
        f"<p>{escape(about)}</p><table><tr><th>experiment</th><th>source</th><th>verdict</th>"
        f"<th>took</th></tr>{rows}</table>"
    )
    page += "".join(_section(index, finding) for index, finding in enumerate(findings))
    (folder / "index.html").write_text(page + "</body></html>\n", encoding="utf-8")
    found = [asdict(finding) for finding in findings]
    for finding in found:
        del finding["plots"]
    text = json.dumps({"facts": facts, "experiments": found}, indent=1, default=float)
    (folder / "experiments.json").write_text(text + "\n", encoding="utf-8")
