# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels from closed curves and from the borders of meshes, where these are in the scene."""

from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Mesh, Object, Spline

from ..blender import mesh_arrays
from .panels import Contour, Curve, Panel, contour_of, panel_name, signed_area

FLAT = 0.01  # largest distance from the plane of an outline, over its extent
SAME = 1e-6  # distance of points of an outline that are one, over its extent
COPLANAR = 1e-4  # of an outline from the plane of another in whose plane it lies
AWAY = 0.1  # least cosine of the front and the normal of a plane, which decides its right side
LEAST_POINTS = 3  # of an outline
UP = np.array((0.0, 0.0, 1.0))
FRONT = np.array((0.1, -1.0, 0.01))  # where right sides are seen from if nothing else tells
LEVEL = 0.5  # sine of the slope from which a plane has an up of its own


@dataclass(frozen=True)
class _Plane:
    """Where an outline lies: origin, and its axes x, y and normal as columns."""

    origin: np.ndarray
    axes: np.ndarray

    def flat(self, points: np.ndarray) -> np.ndarray:
        return (points - self.origin) @ self.axes[:, :2]

    @property
    def placement(self) -> np.ndarray:
        placed = np.eye(4)
        placed[:3, :3], placed[:3, 3] = self.axes, self.origin
        return placed

    def holds(self, points: np.ndarray, part: float) -> bool:
        """Whether points lie in the plane, but for a part of their extent."""
        return self.height(points) <= part * np.ptp(points, axis=0).max()

    def is_same(self, other: "_Plane", points: np.ndarray) -> bool:
        """Whether another plane has its right side to the same side, and its points lie in this."""
        return self.axes[:, 2] @ other.axes[:, 2] > 0.0 and self.holds(points, COPLANAR)

    def height(self, points: np.ndarray) -> float:
        """Largest distance of points from the plane."""
        return float(np.abs((points - self.origin) @ self.axes[:, 2]).max())


@dataclass(frozen=True)
class _Drawn:
    """A closed outline in the scene in m, and the side from which its right side is seen."""

    contour: Contour
    front: np.ndarray


def panels_of(obj: Object, mesh: Mesh | None, scale: float, grain: float) -> list[Panel]:
    """A panel for each closed outline of a curve, or of a mesh of an object, in m; outlines inside
    are cut-outs.

    `grain` is the direction of the warp, in degrees from the horizontal of the panel upwards.
    """
    drawn = _of_curve(obj, scale) if mesh is None else _of_mesh(obj, mesh, scale)
    if not drawn:
        reason = "no spline is cyclic" if mesh is None else "its surface has no border"
        raise ValueError(f"'{obj.name}' has no closed outline: {reason}")
    axes = np.array(obj.matrix_world.to_3x3().normalized(), np.float64)
    planes: list[tuple[_Plane, list[Contour]]] = []
    for each in drawn:
        points = each.contour.samples()
        own = _plane(obj.name, points, each.front, axes)
        if not any(plane.is_same(own, points) for plane, _ in planes):
            planes.append((own, []))
        plane, flat = next(pair for pair in planes if pair[0].is_same(own, points))
        flat.append(_counterclockwise(each.contour.mapped(plane.flat)))
    pieces = [(plane, *piece) for plane, flat in planes for piece in _nested(flat)]
    if not pieces:
        raise ValueError(f"outlines of '{obj.name}' coincide: remove one of them")
    return [
        Panel(panel_name(number), outline, plane.placement, cutouts, grain)
        for number, (plane, outline, cutouts) in enumerate(pieces)
    ]


# --- outlines of objects ------------------------------------------------------------------------


def _of_curve(obj: Object, scale: float) -> list[_Drawn]:
    matrix = np.array(obj.matrix_world, np.float64)
    place = lambda points: scale * mesh_arrays.transformed(points, matrix)  # noqa: E731
    splines = [spline for spline in obj.data.splines if spline.use_cyclic_u]
    return [_Drawn(_of_spline(obj, spline).mapped(place), matrix[:3, 2]) for spline in splines]


def _of_spline(obj: Object, spline: Spline) -> Contour:
    if spline.type == "BEZIER":
        return _of_bezier(obj.name, spline)
    if spline.type == "POLY":
        points = np.array([point.co[:3] for point in spline.points], np.float64)
    else:
        points = _evaluated(obj, spline)
    return contour_of(_distinct(obj.name, points))


def _of_bezier(name: str, spline: Spline) -> Contour:
    knots = [knot for pair in _apart(list(spline.bezier_points)) for knot in pair]
    if len(knots) < 2 * 2:
        raise ValueError(f"an outline of '{name}' needs two points or more")
    starts, ends = knots[1::2], knots[2::2] + knots[:1]
    curves: list[Curve | None] = []
    for knot, following in zip(starts, ends, strict=True):
        is_line = knot.handle_right_type == following.handle_left_type == "VECTOR"
        controls = np.array([knot.handle_right, following.handle_left], np.float64)
        curves.append(None if is_line else Curve("cubic", controls))
    return Contour(np.array([knot.co for knot in starts], np.float64), curves)


def _apart(knots: list) -> list[tuple]:
    """The knots that the outline comes to and goes from at each place, which differ where two
    knots lie on each other.
    """
    size = max((one.co - knots[0].co).length for one in knots)
    places: list[tuple] = []
    for knot in knots:
        if places and (knot.co - places[-1][1].co).length <= SAME * size:
            places[-1] = (places[-1][0], knot)
        else:
            places.append((knot, knot))
    first, last = places[0], places[-1]
    if len(places) > 1 and (first[0].co - last[1].co).length <= SAME * size:
        places[0] = (last[0], first[1])
        places.pop()
    return places


def _evaluated(obj: Object, spline: Spline) -> np.ndarray:
    """Points of one spline as Blender draws it, in object space."""
    index, data = list(obj.data.splines).index(spline), obj.data.copy()
    drawn = bpy.data.objects.new("outline", data)
    if data.shape_keys is not None:
        drawn.shape_key_clear()
    for number in reversed(range(len(data.splines))):
        if number != index:
            data.splines.remove(data.splines[number])
    data.dimensions, data.extrude, data.bevel_depth, data.bevel_object = "3D", 0.0, 0.0, None
    try:
        points = mesh_arrays.coordinates(drawn.to_mesh()).astype(np.float64)
        drawn.to_mesh_clear()
    finally:
        bpy.data.objects.remove(drawn)
        bpy.data.curves.remove(data)
    return points


def _of_mesh(obj: Object, mesh: Mesh, scale: float) -> list[_Drawn]:
    """Contours of the edges that have one face or none."""
    matrix = np.array(obj.matrix_world, np.float64)
    neighbours = _border(mesh)
    points = scale * mesh_arrays.transformed(mesh_arrays.coordinates(mesh), matrix)
    fronts = np.zeros_like(points)
    for face in mesh.polygons:
        fronts[list(face.vertices)] += face.area * np.array(face.normal)
    drawn = []
    while neighbours:
        chain = _chain(neighbours)
        front = np.linalg.pinv(matrix[:3, :3]).T @ fronts[chain].sum(axis=0)
        drawn.append(
            _Drawn(
                contour_of(_distinct(obj.name, points[chain])),
                front if front.any() else matrix[:3, 2],
            )
        )
    return drawn


def _border(mesh: Mesh) -> dict[int, list[int]]:
    """Both neighbours of each vertex along the edges that have one face or none."""
    neighbours: dict[int, list[int]] = {}
    for one, other in mesh_arrays.edges(mesh)[mesh_arrays.edge_uses(mesh) < 2].tolist():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    for vertex, others in neighbours.items():
        if len(others) != 2:
            raise ValueError(
                f"{len(others)} edges of the outline of '{mesh.name}' meet at vertex {vertex}: "
                "an outline is closed, and touches neither itself nor another one"
            )
    return neighbours


def _chain(neighbours: dict[int, list[int]]) -> list[int]:
    """Takes one closed chain of vertices out of those that are left."""
    vertex = min(neighbours)
    chain = []
    while vertex in neighbours:
        chain.append(vertex)
        one, other = neighbours.pop(vertex)
        vertex = one if one in neighbours else other
    return chain


def _distinct(name: str, points: np.ndarray) -> np.ndarray:
    """Points without those that lie on the ones before them."""
    steps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    kept = points[steps > SAME * np.ptp(points, axis=0).max()]
    if len(kept) < LEAST_POINTS:
        raise ValueError(f"an outline of '{name}' has fewer than {LEAST_POINTS} points")
    return kept


# --- in their plane -----------------------------------------------------------------------------


def _plane(name: str, points: np.ndarray, front: np.ndarray, axes: np.ndarray) -> _Plane:
    """The plane of points, seen from the front; its y is upright, or else along an axis."""
    middle = points.mean(axis=0)
    normal = np.linalg.svd(points - middle, full_matrices=False)[2][2]
    if abs(normal @ front) < AWAY * np.linalg.norm(front):
        front = FRONT
    normal = normal * (np.sign(normal @ front) or 1.0)
    ups = (axis - (axis @ normal) * normal for axis in (UP, axes[:, 1], axes[:, 0]))
    up = next((up for up in ups if np.linalg.norm(up) > LEVEL), None)
    if up is None or not np.ptp(points, axis=0).any():
        raise ValueError(f"an outline of '{name}' has no size")
    up = up / np.linalg.norm(up)
    plane = _Plane(middle, np.stack([np.cross(up, normal), up, normal], axis=1))
    if not plane.holds(points, FLAT):
        raise ValueError(
            f"an outline of '{name}' does not lie in a plane: it is up to "
            f"{1000.0 * plane.height(points):.3g} mm beside it"
        )
    return plane


def _counterclockwise(contour: Contour) -> Contour:
    return contour if signed_area(contour.samples()) > 0.0 else contour.turned()


def _nested(contours: list[Contour]) -> list[tuple[Contour, list[Contour]]]:
    """Outlines with their cut-outs: a contour in an odd number of others is cut out of the
    smallest of these.
    """
    samples = [contour.samples() for contour in contours]
    areas = [signed_area(points) for points in samples]
    around = [
        [k for k in range(len(contours)) if k != one and _contains(samples[k], samples[one][0])]
        for one in range(len(contours))
    ]
    cutouts: dict[int, list[Contour]] = {}
    for one, outer in enumerate(around):
        if len(outer) % 2:
            smallest = min(outer, key=areas.__getitem__)
            cutouts.setdefault(smallest, []).append(contours[one])
    panels = (k for k, outer in enumerate(around) if not len(outer) % 2)
    return [(contours[k], cutouts.get(k, [])) for k in panels]


def _contains(polygon: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point is within a polygon, by the edges that a ray along x crosses."""
    x, y = (polygon - point).T
    after_x, after_y = np.roll(x, -1), np.roll(y, -1)
    is_crossed = (y > 0.0) != (after_y > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x - y * (after_x - x) / (after_y - y)
    return bool(np.count_nonzero(is_crossed & (at > 0.0)) % 2)
