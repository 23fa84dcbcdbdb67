# SPDX-License-Identifier: MIT OR Apache-2.0
"""NumPy's products of long arrays leave busy threads behind; the add-on has none during a bake."""

import ast
from pathlib import Path

import addon

FOLDER = Path(addon.__file__).parent
OF_MATRICES = {"_is_long", "_to_cells", "_touches_mirror", "draw"}
BESIDE_BAKES = {"preview_render.py", "authoring", "arrangement"}  # files and folders


def functions_with_products(path: Path) -> set[str]:
    parts = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {
        function.name
        for function in parts
        if isinstance(function, ast.FunctionDef)
        for part in ast.walk(function)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult)
    }


def test_the_addon_multiplies_no_long_arrays_by_the_operator():
    found = {
        f"{path.relative_to(FOLDER)}: {name}"
        for path in FOLDER.rglob("*.py")
        if not (BESIDE_BAKES | {"wheels"}) & set(path.parts)
        for name in functions_with_products(path) - OF_MATRICES
    }
    assert not found


def test_a_product_would_be_found(tmp_path):
    path = tmp_path / "products.py"
    path.write_text("def product(a, b):\n    return a @ b\n\n\ndef total(a):\n    return sum(a)\n")
    assert functions_with_products(path) == {"product"}
