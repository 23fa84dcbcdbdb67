# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams of a mesh in edit mode: runs of selected edges, sewing edges between them, lengths."""

from dataclasses import dataclass
from itertools import pairwise

import bmesh
import numpy as np
from bmesh.types import BMEdge, BMesh, BMVert
from bpy.types import Object
from mathutils import Vector

from ..properties.fabric import as_decimal
from . import seams


@dataclass(frozen=True)
class Run:
    """Vertices along selected edges; the first is not repeated at the end of a closed run."""

    vertices: list[BMVert]
    is_closed: bool

    def reversed(self) -> "Run":
        return Run(self.vertices[::-1], self.is_closed)

    def rotated(self, place: int) -> "Run":
        return Run(self.vertices[place:] + self.vertices[:place], True)


class EditedSeams:
    """The seams of an object in edit mode; `save` shows what was changed."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj
        self.mesh: BMesh = bmesh.from_edit_mesh(obj.data)
        layers = self.mesh.edges.layers.int
        self._numbers = layers.get(seams.SEAM) or layers.new(seams.SEAM)
        self.mesh.edges.ensure_lookup_table()
        self._uv = None
        if obj.weft.rest_shape == "PATTERN":
            self._uv = self.mesh.loops.layers.uv.active

    def save(self) -> None:
        bmesh.update_edit_mesh(self._obj.data)

    # --- runs -----------------------------------------------------------------------------------

    def selected_runs(self) -> tuple[Run, Run]:
        """Two runs of selected edges of faces; one that the active vertex is in the middle of is
        taken for both legs of a dart.
        """
        chosen = [edge for edge in self.mesh.edges if edge.select and edge.link_faces]
        runs = [_chained(piece) for piece in _pieces(chosen)]
        if len(runs) == 1:
            tip = self.mesh.select_history.active
            if tip in runs[0].vertices[1:-1] and not runs[0].is_closed:
                place = runs[0].vertices.index(tip)
                legs = (runs[0].vertices[:place][::-1], runs[0].vertices[place + 1 :])
                return Run(legs[0], False), Run(legs[1], False)
        if len(runs) != 2:
            raise ValueError(
                f"select two runs of edges, or both legs of a dart with its tip as the active "
                f"vertex; {len(runs)} runs are selected"
            )
        return runs[0], runs[1]

    def length(self, run: Run) -> float:
        """Length of a run at rest: in m on the UV map of a pattern, else of the mesh as it is."""
        places = [self._place(vertex) for vertex in run.vertices]
        ends = places[1:] + (places[:1] if run.is_closed else [])
        return sum((end - start).length for start, end in zip(places, ends, strict=False))

    def _place(self, vertex: BMVert) -> Vector:
        if self._uv is None:
            scale = self._obj.matrix_world.to_scale()
            return Vector(c * s for c, s in zip(vertex.co, scale, strict=True))
        size = as_decimal(self._obj.weft.pattern_size)
        return vertex.link_loops[0][self._uv].uv * size if vertex.link_loops else Vector((0.0, 0.0))

    def _shares(self, run: Run) -> np.ndarray:
        places = [self._place(vertex) for vertex in run.vertices]
        if run.is_closed:
            places.append(places[0])
        steps = [(end - start).length for start, end in pairwise(places)]
        return np.concatenate([[0.0], np.cumsum(steps)])

    # --- seams ----------------------------------------------------------------------------------

    def sew(self, first: Run, second: Run) -> int:
        """Sewing edges between two runs, ends that are nearer to each other together; the number
        of the new seam, whose edges are selected.
        """
        for run in (first, second):
            if len(run.vertices) < 2:
                raise ValueError("a run needs two vertices or more")
        if set(first.vertices) & set(second.vertices):
            raise ValueError("both runs share a vertex: only the legs of a dart may")
        second = _aligned(first, second)
        number = 1 + max((edge[self._numbers] for edge in self._loose()), default=0)
        self._connect(first, second, number)
        return number

    def _connect(self, first: Run, second: Run, number: int) -> None:
        for edge in self.mesh.edges:
            edge.select_set(False)
        pairs = seams.paired(self._shares(first), self._shares(second))
        counts = len(first.vertices), len(second.vertices)
        for one, other in pairs:
            ends = first.vertices[one % counts[0]], second.vertices[other % counts[1]]
            edge = self.mesh.edges.get(ends) or self.mesh.edges.new(ends)
            if not edge.link_faces:
                edge[self._numbers] = number
                edge.select_set(True)

    def _loose(self) -> list[BMEdge]:
        return [edge for edge in self.mesh.edges if not edge.link_faces]

    def selected_seams(self) -> dict[int, list[BMEdge]]:
        """Edges by the numbers of the seams that have a selected sewing edge."""
        loose = self._loose()
        numbers = {edge[self._numbers] for edge in loose if edge.select} - {0}
        return {
            number: [edge for edge in loose if edge[self._numbers] == number]
            for number in sorted(numbers)
        }

    def sides(self, edges: list[BMEdge]) -> tuple[Run, Run]:
        """Both runs of a seam."""
        firsts, seconds = ([edge.verts[k] for edge in edges] for k in (0, 1))
        return self._side(firsts), self._side(seconds)

    def _side(self, vertices: list[BMVert]) -> Run:
        along = list(dict.fromkeys(vertices))
        closing = self.mesh.edges.get((along[0], along[-1])) if len(along) > 2 else None
        return Run(along, closing is not None and len(closing.link_faces) == 1)

    def flip(self, number: int, edges: list[BMEdge]) -> None:
        """Sews a seam the other way round."""
        first, second = self.sides(edges)
        self.remove(edges)
        self._connect(first, second.reversed(), number)

    def remove(self, edges: list[BMEdge]) -> None:
        """Removes sewing edges; their vertices stay."""
        for edge in edges:
            self.mesh.edges.remove(edge)
        self.mesh.edges.ensure_lookup_table()


def _pieces(edges: list[BMEdge]) -> list[list[BMEdge]]:
    """Edges grouped by whether they hang together."""
    left, pieces = dict.fromkeys(edges), []
    while left:
        waiting, piece = [next(iter(left))], []
        del left[waiting[0]]
        while waiting:
            edge = waiting.pop()
            piece.append(edge)
            for vertex in edge.verts:
                for other in vertex.link_edges:
                    if other in left:
                        del left[other]
                        waiting.append(other)
        pieces.append(piece)
    return pieces


def _chained(edges: list[BMEdge]) -> Run:
    """The vertices along edges that hang together; `ValueError` if they branch."""
    neighbours: dict[BMVert, list[BMVert]] = {}
    for edge in edges:
        for vertex in edge.verts:
            neighbours.setdefault(vertex, []).append(edge.other_vert(vertex))
    if max(map(len, neighbours.values())) > 2:
        raise ValueError("the selected edges branch: select runs of edges, one after the other")
    ends = [vertex for vertex, others in neighbours.items() if len(others) == 1]
    vertex = min(ends or neighbours, key=lambda vertex: vertex.index)
    along, before = [vertex], None
    while True:
        following = [other for other in neighbours[vertex] if other is not before]
        if not following or following[0] is along[0]:
            return Run(along, not ends)
        before, vertex = vertex, following[0]
        along.append(vertex)


def _aligned(first: Run, second: Run) -> Run:
    """The second run in the direction, and from the vertex if closed, nearest to the first."""
    candidates = [second, second.reversed()]
    start = first.vertices[0].co
    if second.is_closed and first.is_closed:
        candidates = [run.rotated(_nearest(run.vertices, start)) for run in candidates]
    return min(candidates, key=lambda run: _distance(first, run))


def _nearest(vertices: list[BMVert], point: Vector) -> int:
    return min(range(len(vertices)), key=lambda k: (vertices[k].co - point).length)


def _distance(first: Run, second: Run) -> float:
    """Distance of vertices at the same share of both runs, at the start, the middle and the end."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    return sum((_at(first, share) - _at(second, share)).length for share in shares)


def _at(run: Run, share: float) -> Vector:
    count = len(run.vertices)
    place = round(share * (count if run.is_closed else count - 1))
    return run.vertices[place % count].co


def ends(obj: Object) -> tuple[np.ndarray, np.ndarray]:
    """Ends of all sewing edges of an object in edit mode, `(2 edges, 3)`, and numbers of seams."""
    mesh = bmesh.from_edit_mesh(obj.data)
    layer = mesh.edges.layers.int.get(seams.SEAM)
    loose = [edge for edge in mesh.edges if not edge.link_faces]
    points = [tuple(vertex.co) for edge in loose for vertex in edge.verts]
    numbers = [edge[layer] if layer else 0 for edge in loose]
    return np.array(points).reshape(-1, 3), np.array(numbers, int)
