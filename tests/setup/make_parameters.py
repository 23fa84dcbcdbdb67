# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes docs/parameters.md: every setting of the extension with its unit, default and meaning.

usage: make_parameters.py    (in an environment with a bpy wheel)
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
TARGET = ROOT / "docs/parameters.md"
HEAD = """# Every setting

Written by `tests/setup/make_parameters.py` from the extension itself. Numbers are SI units whatever
the unit scale of the scene. What can be keyframed has a dot in the last column.
"""
HIDDEN = frozenset(("rna_type", "name", "identity", "fabric"))


def row(owner: str, prop) -> str:
    """One line of a table."""
    default = ""
    if prop.is_skip_save:
        default = "the same"  # another view of the setting in µN·m
    elif prop.type == "FLOAT":
        values = prop.default_array if prop.is_array else [prop.default]
        default = ", ".join(f"{value:.4g}" for value in values)
    elif prop.type == "INT":
        default = str(prop.default)
    elif prop.type == "BOOLEAN":
        default = "on" if prop.default else "off"
    elif prop.type == "STRING":
        default = prop.default
    elif prop.type == "ENUM" and prop.enum_items:
        default = prop.enum_items[0].name
        default = next((i.name for i in prop.enum_items if i.identifier == prop.default), default)
    path = f"`{owner}.{prop.identifier}`"
    dot = "•" if prop.is_animatable else ""
    return f"| {prop.name} | {path} | {default} | {prop.description} | {dot} |"


def table(title: str, owner: str, group) -> list[str]:
    """The settings of one group."""
    lines = [
        "",
        f"## {title}",
        "",
        "| | for scripts | default | | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for prop in group.bl_rna.properties:
        if prop.identifier not in HIDDEN and prop.name and prop.description:
            lines.append(row(owner, prop))
    return lines


def page() -> str:
    """The whole page; the extension must be registered."""
    from addon import properties
    from addon.properties import fabric

    lines = HEAD.splitlines()
    lines += table("Objects", "object.weft", properties.WeftObject)
    lines += table("Attachments", "object.weft.attachments[0]", properties.WeftAttachment)
    lines += table("Takes", "object.weft.takes[0]", properties.WeftTake)
    lines += table("Fabric", "object.weft.material", fabric.WeftMaterial)
    lines += table("Field weights", "object.weft.field_weights", properties.WeftFieldWeights)
    lines += table("Scene", "scene.weft", properties.WeftScene)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Registers the extension and writes the page."""
    import addon

    addon.register()
    try:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(page(), encoding="utf-8")
    finally:
        addon.unregister()


if __name__ == "__main__":
    main()
