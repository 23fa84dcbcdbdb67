# SPDX-License-Identifier: MIT OR Apache-2.0
"""NumPy's matrix products leave busy threads behind; a bake has none of long arrays."""

import ast
import inspect

import pytest

from addon import bake_files, fields, mesh_arrays, record, scene_reader, worker
from addon.fields import fluid, forces, formulas, snapshot

MODULES = (
    bake_files, mesh_arrays, record, scene_reader, worker,
    fields, fluid, forces, formulas, snapshot,
)  # fmt: skip
OF_TWO_MATRICES = {"_to_cells"}


def functions_with_products(module):
    for part in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(part, ast.FunctionDef):
            operators = (each.op for each in ast.walk(part) if isinstance(each, ast.BinOp))
            if any(isinstance(operator, ast.MatMult) for operator in operators):
                yield part.name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_bake_multiplies_no_long_arrays_by_the_operator(module):
    assert set(functions_with_products(module)) <= OF_TWO_MATRICES
