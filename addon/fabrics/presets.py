# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: those of the folder `presets`, and those of the user.

A preset is a TOML file with a title and fields in SI units. A field is a number, or a table of a
number and its source; curves and quality are tables. The presets of the user are in Blender's
folder for presets, from which they can be copied to other machines.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import bpy

from ..cache import atomic_file
from ..properties.fabric import MATERIAL_FIELDS, OPTIONS, WeftMaterial, as_decimal, normalised_curve
from .look import Look

SHIPPED = Path(__file__).parents[1] / "presets"
MAX_TITLE_LENGTH = 60  # characters
UNNAMED = "cotton"  # what a fabric without a name is compared with
OPTIONAL = frozenset(("bend_twist",))  # derived from the others if absent
BRANCHES = frozenset(("load", "unload"))
CURVE_KEYS = BRANCHES | {"virgin", "cycles"}


@dataclass(frozen=True)
class Fabric:
    """A preset, read and validated."""

    name: str  # file name without suffix
    title: str
    description: str
    fields: dict[str, object]
    origins: dict[str, str]  # source of each field, as a sentence
    look: Look
    path: Path

    @property
    def is_user_preset(self) -> bool:
        return self.path.parent != SHIPPED

    @property
    def preview(self) -> Path:
        """Path of the preview image; need not exist."""
        return self.path.with_suffix(".png")


def user_folder() -> Path:
    """Folder of user presets; need not exist."""
    return Path(bpy.utils.user_resource("SCRIPTS", path="presets")) / "weft"


def all_presets() -> dict[str, Fabric]:
    """All readable presets by name, those of the user last."""
    return dict(_readable())


def problems() -> list[str]:
    """Reasons why preset files are unreadable."""
    return [found for found in map(_problem, _files()) if found]


def find(name: str) -> Fabric:
    """A preset by name; `ValueError` lists the available names."""
    known = all_presets()
    if name not in known:
        raise ValueError(f"there is no fabric '{name}'; there are {', '.join(known)}")
    return known[name]


def fields_of(name: str) -> dict[str, object]:
    """Fields of a preset, of cotton if there is no such preset."""
    known = all_presets()
    return (known.get(name) or known[UNNAMED]).fields


# --- reading ----------------------------------------------------------------------------------


def _files() -> list[Path]:
    own = user_folder()
    return [*sorted(SHIPPED.glob("*.toml")), *(sorted(own.glob("*.toml")) if own.is_dir() else ())]


def _readable() -> list[tuple[str, Fabric]]:
    found = []
    for path in _files():
        try:
            fabric = _read(path, path.stat().st_mtime_ns)
        except (OSError, ValueError):
            continue
        found.append((fabric.name, fabric))
    return found


def _problem(path: Path) -> str:
    try:
        _read(path, path.stat().st_mtime_ns)
    except (OSError, ValueError) as error:
        return f"{path.name}: {error}"
    return ""


@cache
def _read(path: Path, _modified: int) -> Fabric:
    """Reads a preset file; memoised by its modification time."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = content.get("fields")
    if not isinstance(entries, dict):
        raise ValueError("it has no table [fields]")
    unknown = set(entries) - set(MATERIAL_FIELDS) - set(OPTIONS)
    missing = set(MATERIAL_FIELDS) - set(entries) - OPTIONAL
    if unknown or missing:
        defects = [f"unknown {n}" for n in sorted(unknown)] + [f"no {n}" for n in sorted(missing)]
        raise ValueError(", ".join(defects))
    return Fabric(
        name=path.stem,
        title=str(content.get("title", path.stem)),
        description=str(content.get("description", "")),
        fields={name: _value(name, entries.get(name)) for name in MATERIAL_FIELDS}
        | {name: _option(name, entries[name]) for name in OPTIONS if name in entries},
        origins={
            name: _origin(entries.get(name), content) for name in (*MATERIAL_FIELDS, *OPTIONS)
        },
        look=Look.from_dict(content.get("look", {})),
        path=path,
    )


def _value(name: str, entry: object) -> float | None:
    value = entry.get("value") if isinstance(entry, dict) else entry
    if value is None and name in OPTIONAL:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} is no number: {value!r}")
    return float(value)


def _option(name: str, entry: object) -> object:
    """A curve, or the numbers of the quality."""
    value = entry["value"] if isinstance(entry, dict) and "value" in entry else entry
    if name == "quality":
        if isinstance(value, dict) and set(value) == {"q", "low", "high"}:
            return {key: _value(f"quality.{key}", number) for key, number in value.items()}
        raise ValueError(f"quality is no table of q, low and high: {value!r}")
    curve = normalised_curve(value)
    if not isinstance(curve, dict) or not BRANCHES <= set(curve) <= CURVE_KEYS:
        raise ValueError(f"{name} is no curve: {value!r}")
    return curve


def _origin(entry: object, content: dict) -> str:
    """Source of a field, as a sentence."""
    if not isinstance(entry, dict):
        return ""
    if "estimated" in entry:
        return f"Estimated, {entry['estimated']}"
    source = content.get("sources", {}).get(entry.get("source"), "")
    return ". ".join(filter(None, (source.strip(), str(entry.get("how", "")).capitalize())))


# --- writing ----------------------------------------------------------------------------------


def save(title: str, material: WeftMaterial) -> Fabric:
    """Writes a material as a user preset; replaces one of the same name."""
    title = " ".join(title.split())[:MAX_TITLE_LENGTH]
    name = re.sub(r"[\W_]+", "_", title.casefold()).strip("_")
    if not name:
        raise ValueError("a fabric needs a name")
    if (SHIPPED / f"{name}.toml").exists():
        raise ValueError(f"'{title}' comes with Weft: choose another name")
    lines = [f'title = "{_quoted(title)}"', 'description = ""', "", "[fields]"]
    for field, value in material.as_dict().items():
        if value is not None:
            lines.append(f"{field} = {_written(value)}")
    folder = user_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    atomic_file.replace(path, ("\n".join(lines) + "\n").encode())
    path.with_suffix(".png").unlink(missing_ok=True)  # the preview of a replaced preset
    return find(name)


def delete(name: str) -> None:
    """Deletes a user preset."""
    fabric = find(name)
    if not fabric.is_user_preset:
        raise ValueError(f"'{fabric.title}' comes with Weft and cannot be removed")
    fabric.path.unlink()
    fabric.preview.unlink(missing_ok=True)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _written(value: object) -> str:
    """A number, list or table in TOML on one line."""
    if isinstance(value, dict):
        items = ", ".join(f"{name} = {_written(item)}" for name, item in value.items())
        return f"{{ {items} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, str):
        raise ValueError(f"{value!r} is no curve")
    return _number(value)


def _number(value: float) -> str:
    """A float in TOML, with a decimal point."""
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{mantissa}e{exponent}" if exponent else mantissa


# --- materials --------------------------------------------------------------------------------


def apply(material: WeftMaterial, name: str) -> None:
    """Sets all fields of a material to those of a preset."""
    material.assign(find(name).fields)
    material.fabric = name


def label(material: WeftMaterial) -> str:
    """Title of the preset of a material, marked if fields were changed."""
    fabric = all_presets().get(material.fabric)
    if fabric is None:
        return "Custom Fabric"
    return f"{fabric.title} (changed)" if changed_fields(material) else fabric.title


def changed_fields(material: WeftMaterial) -> set[str]:
    """Fields that differ from the selected preset; empty without one."""
    fabric = all_presets().get(material.fabric)
    if fabric is None:
        return set()
    wanted = {name: _rounded(value) for name, value in fabric.fields.items()}
    found = material.as_dict()
    return {name for name in {*wanted, *found} if found.get(name) != wanted.get(name)}


def reset_field(material: WeftMaterial, field: str) -> None:
    """Resets one field to the value of the selected preset."""
    fields = material.as_dict() | {field: find(material.fabric).fields.get(field)}
    material.assign(fields)


def _rounded(value: object) -> object:
    return as_decimal(value) if isinstance(value, float) else value
