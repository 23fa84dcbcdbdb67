# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables of malformed calls: function, exception and message."""

from collections.abc import Callable

import numpy as np
import pytest

NAN, INFINITY = float("nan"), float("inf")


def with_value(array: np.ndarray, index: object, value: float) -> np.ndarray:
    """A copy with one element changed."""
    changed = array.copy()
    changed[index] = value
    return changed


def cases(table: dict) -> pytest.MarkDecorator:
    """A test for each line of a table: `name: (call, (error, match))`."""
    values = [(call, error, match) for call, (error, match) in table.values()]
    return pytest.mark.parametrize(("call", "error", "match"), values, ids=table.keys())


def refuse(call: Callable, error: type[Exception], match: str) -> None:
    """The call raises exactly this error, and says so."""
    with pytest.raises(error, match=match) as refused:
        call()
    assert refused.type is error
