# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exact signs of determinants of many points at once.

A floating-point determinant with a bound on its rounding error decides nearly all rows (the bound
of J. R. Shewchuk, Adaptive precision floating-point arithmetic, 1997). The few that remain are
computed again in integers of any length, which a float64 is after scaling by a power of two.
"""

import numpy as np

# Shewchuk's bounds in units of the rounding error 2^-53, and what underflow can hide.
ROUNDING = 2.0**-53
BOUND_3D = (7.0 + 56.0 * ROUNDING) * ROUNDING
BOUND_2D = (3.0 + 16.0 * ROUNDING) * ROUNDING
UNDERFLOW = 1e-290
MANTISSA_BITS = 53


def as_integers(*points: np.ndarray) -> list[np.ndarray]:
    """The same points as arrays of Python integers, all scaled by one power of two."""
    mantissas, exponents = zip(*(np.frexp(array) for array in points), strict=True)
    used = [
        exponent[mantissa != 0.0] for mantissa, exponent in zip(mantissas, exponents, strict=True)
    ]
    lowest = min((int(exponent.min()) for exponent in used if exponent.size), default=0)
    scaled = []
    for mantissa, exponent in zip(mantissas, exponents, strict=True):
        whole = np.ldexp(mantissa, MANTISSA_BITS).astype(np.int64).astype(object)
        shift = np.where(mantissa == 0.0, 0, exponent - lowest).astype(object)
        scaled.append(whole << shift)
    return scaled


def _products(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """The terms of det(a, b, c): a factor, and both products of its minor."""
    return [
        (a[:, 0], b[:, 1] * c[:, 2], b[:, 2] * c[:, 1]),
        (a[:, 1], b[:, 2] * c[:, 0], b[:, 0] * c[:, 2]),
        (a[:, 2], b[:, 0] * c[:, 1], b[:, 1] * c[:, 0]),
    ]


def _determinant(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return sum(factor * (plus - minus) for factor, plus, minus in _products(a, b, c))


def _sign(values: np.ndarray) -> np.ndarray:
    return (values > 0).astype(np.int8) - (values < 0).astype(np.int8)


@np.errstate(over="ignore", invalid="ignore", under="ignore")
def orientation_3d(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Sign of det(a - d, b - d, c - d) in every row: 1, 0 or -1, without error."""
    edges = (a - d, b - d, c - d)
    terms = _products(*edges)
    value = sum(factor * (plus - minus) for factor, plus, minus in terms)
    size = sum(np.abs(factor) * (np.abs(plus) + np.abs(minus)) for factor, plus, minus in terms)
    signs = _sign(value)
    doubtful = np.flatnonzero(~(np.abs(value) > BOUND_3D * size + UNDERFLOW))
    if doubtful.size:
        p, q, r, s = as_integers(a[doubtful], b[doubtful], c[doubtful], d[doubtful])
        signs[doubtful] = _sign(_determinant(p - s, q - s, r - s))
    return signs


@np.errstate(over="ignore", invalid="ignore", under="ignore")
def orientation_2d(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Sign of the area of the triangle a, b, c in the plane, in every row, without error."""
    left = (a[:, 0] - c[:, 0]) * (b[:, 1] - c[:, 1])
    right = (a[:, 1] - c[:, 1]) * (b[:, 0] - c[:, 0])
    value, size = left - right, np.abs(left) + np.abs(right)
    signs = _sign(value)
    doubtful = np.flatnonzero(~(np.abs(value) > BOUND_2D * size + UNDERFLOW))
    if doubtful.size:
        p, q, r = as_integers(a[doubtful], b[doubtful], c[doubtful])
        left = (p[:, 0] - r[:, 0]) * (q[:, 1] - r[:, 1])
        right = (p[:, 1] - r[:, 1]) * (q[:, 0] - r[:, 0])
        signs[doubtful] = _sign(left - right)
    return signs
