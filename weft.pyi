# SPDX-License-Identifier: MIT OR Apache-2.0
# ruff: noqa: RUF002 (Greek letters and minus signs are meant)
"""Physically true, penetration-free cloth.

SI units throughout: metres, kilograms, seconds, newtons; z points up. Arrays are NumPy: points and
vectors float64 or float32 of shape (n, 3), indices of any integer dtype.

What is wrong in an argument raises ValueError or TypeError with the name of the argument, the index
of the element, what came and what was wanted. The GIL is released while computing.
"""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_FloatArray: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
_IntegerArray: TypeAlias = NDArray[np.integer[Any]]
_Rows: TypeAlias = _FloatArray | Iterable[Iterable[float]]
_Numbers: TypeAlias = _FloatArray | Iterable[float]
_Indices: TypeAlias = _IntegerArray | Iterable[int]
_Curve: TypeAlias = Mapping[str, _Rows]
_Faces: TypeAlias = _IntegerArray | Iterable[_Indices]

__all__ = ["Cloth", "Collider", "Dressing", "Material", "NotFiniteError", "Pattern", "PatternMesh"]
__all__ += ["Report", "Settings", "Simulation", "TrimmedMesh", "__version__", "preset_names"]

__version__: str

def preset_names() -> list[str]:
    """Names of the fabrics that Material.preset knows.

    Returns:
        list[str]: The names, in the order of a menu.
    """

class NotFiniteError(RuntimeError):
    """A position, velocity or force stopped being a number, or a vertex was thrown away; the
    state before that step is kept.
    """

@final
class Material:
    """A fabric, in SI units. Immutable, and checked when built.

    Fields that are left out are those of the preset "cotton".

    Args:
        density (float): Areal density, in kg/m², more than 0.
        stretch_warp (float): Membrane modulus E·h along the warp, in N/m.
        stretch_weft (float): Membrane modulus E·h along the weft, in N/m.
        shear (float): In-plane shear modulus G·h, in N/m: stress = shear · γ with γ = ⟨s_u, s_v⟩.
        poisson (float): Transverse contraction from warp to weft, 0 or more. The elastic matrix
            must stay positive definite: poisson² · stretch_weft < stretch_warp, and poisson < 1.
        bend_warp (float): Bending rigidity per unit width of a strip cut along the warp, in N·m.
        bend_weft (float): Bending rigidity per unit width of a strip cut along the weft, in N·m.
        bend_twist (float | None): Twisting rigidity, moment per 2·κ₁₂, in N·m. None is the
            isotropic equivalent, (√(D₁₁D₂₂) − D₁₂)/2 with D₁₁ = bend_warp/(1 − poisson²), D₂₂ =
            bend_weft/(1 − poisson²) and D₁₂ = poisson·√(D₁₁D₂₂).
        stretch_damping (float): Kelvin-Voigt time of stretch, in s: viscosity = damping · modulus.
        shear_damping (float): Kelvin-Voigt time of shear, in s.
        bend_damping (float): Kelvin-Voigt time of bending, in s.
        air_drag (float): Aerodynamic coefficient of the flow across the cloth.
        air_lift (float): Aerodynamic coefficient of the flow along the cloth.
        friction (float): Coulomb coefficient of friction.
        thickness (float): Contact thickness, in m: the gap that the cloth keeps on its side.
        stretch_warp_curve (dict | sequence | None): Measured curve of a strip along the warp in
            place of stretch_warp: {"load": points, "unload": points}, each point a strain and a
            stress in N/m, or one list of points that is followed up and down alike. The strain
            grows along "load" and falls along "unload"; between them it changes with the modulus,
            or with the steepest slope of the curve where that is more. "virgin": points that are
            followed beyond the largest and the smallest strain so far; beside it "cycles": dicts of
            "load" and "unload" in place of the outer ones while no strain has been beyond
            "largest" and "smallest", the widest last. Strain is ½(λ² − 1) for a stretch λ, stress
            the force per width over λ.
        stretch_weft_curve (dict | sequence | None): The same along the weft.
        shear_curve (dict | sequence | None): The same for shear: stress in N/m over γ = ⟨s_u, s_v⟩.
        bend_warp_curve (dict | sequence | None): The same for bending a strip along the warp:
            moment per width in N over curvature in 1/m.
        bend_weft_curve (dict | sequence | None): The same along the weft.
        quality (dict | None): {"q": Q, "low": Hz, "high": Hz}: the part 2π/Q of the energy of every
            cycle is lost between two frequencies, from stretch, shear and bending alike. Moduli are
            then those of slow changes. Q is 1 or more, high at most 1000 · low.

    Strain and stress of stretch are those of the model: all but "fem" measure λ − 1 and the force
    per width. Curves of bending need a model with curvatures, "fem", "particles", "baraff_witkin"
    or "choi_ko"; a simulation with another refuses them by name.

    Raises:
        TypeError: A field that does not exist, or a value that is no number.
        ValueError: A value that is not finite or out of range.
    """

    def __new__(
        cls,
        *,
        density: float = ...,
        stretch_warp: float = ...,
        stretch_weft: float = ...,
        shear: float = ...,
        poisson: float = ...,
        bend_warp: float = ...,
        bend_weft: float = ...,
        bend_twist: float | None = None,
        stretch_damping: float = ...,
        shear_damping: float = ...,
        bend_damping: float = ...,
        air_drag: float = ...,
        air_lift: float = ...,
        friction: float = ...,
        thickness: float = ...,
        stretch_warp_curve: _Curve | _Rows | None = None,
        stretch_weft_curve: _Curve | _Rows | None = None,
        shear_curve: _Curve | _Rows | None = None,
        bend_warp_curve: _Curve | _Rows | None = None,
        bend_weft_curve: _Curve | _Rows | None = None,
        quality: Mapping[str, float] | None = None,
    ) -> Self: ...
    @staticmethod
    def preset(name: str) -> Material:
        """A fabric by name; weft.preset_names() lists them.

        Args:
            name (str): Name of the preset.

        Raises:
            ValueError: There is no such preset.
        """

    @staticmethod
    def from_dict(d: dict[str, Any]) -> Material:
        """A fabric from the fields that to_dict gives.

        Args:
            d (dict[str, Any]): Fields by name, as in the constructor.
        """

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; bend_twist is None where it follows from the others, curves and
        quality are left out where there are none."""

    def replace(self, **fields: Any) -> Material:
        """The same fabric with some fields changed.

        Args:
            **fields (Any): The new values, as in the constructor.
        """

    @property
    def density(self) -> float: ...
    @property
    def stretch_warp(self) -> float: ...
    @property
    def stretch_weft(self) -> float: ...
    @property
    def shear(self) -> float: ...
    @property
    def poisson(self) -> float: ...
    @property
    def bend_warp(self) -> float: ...
    @property
    def bend_weft(self) -> float: ...
    @property
    def bend_twist(self) -> float | None: ...
    @property
    def stretch_damping(self) -> float: ...
    @property
    def shear_damping(self) -> float: ...
    @property
    def bend_damping(self) -> float: ...
    @property
    def air_drag(self) -> float: ...
    @property
    def air_lift(self) -> float: ...
    @property
    def friction(self) -> float: ...
    @property
    def thickness(self) -> float: ...
    @property
    def stretch_warp_curve(self) -> dict[str, list[list[float]]] | None: ...
    @property
    def stretch_weft_curve(self) -> dict[str, list[list[float]]] | None: ...
    @property
    def shear_curve(self) -> dict[str, list[list[float]]] | None: ...
    @property
    def bend_warp_curve(self) -> dict[str, list[list[float]]] | None: ...
    @property
    def bend_weft_curve(self) -> dict[str, list[list[float]]] | None: ...
    @property
    def quality(self) -> dict[str, float] | None: ...

@final
class Cloth:
    """A sheet of cloth: triangles, quads, n-gons or a mixture, in one piece or several. Immutable.

    Args:
        positions (float64 or float32 array, shape (n, 3)): Where the vertices start, in m.
        faces (integer array, shape (m, 3) or (m, 4), or a sequence of index sequences): Vertices
            around each face.
        material (Material): The fabric.
        rest_positions (float64 or float32 array, shape (n, 3) or (corners, 3), optional):
            Undeformed shape, in m, per vertex or per face corner; positions where not given. Per
            corner every face has a shape of its own, and an edge at which two faces differ is a
            seam, flat at rest: a garment whose panels were welded.
        uv (float64 or float32 array, shape (n, 2) or (corners, 2), optional): Yarn axes, in m, per
            vertex or per face corner; u runs along the warp. Lengths at rest still come from
            rest_positions. Without uv the warp follows the longest axis of each piece.
        vertex_mass_scale (float64 or float32 array, shape (n,), optional): Factor on the mass of
            each vertex, more than 0.
        rest_scale (float64 or float32 array, shape (n, 2), optional): Factors b_u, b_v on the
            lengths at rest along warp and weft at each vertex, more than 0: below 1 for cuffs and
            waistbands, above 1 for fullness. An element takes the mean over its vertices.
        stiffness_scale (float64 or float32 array, shape (n,), optional): Factor on the stiffness of
            the springs at each vertex, more than 0. Only models of springs take it.
        sewing (integer array, shape (k, 2), or a sequence of index pairs, optional): Pairs of
            vertices that are drawn together and then held.
        sewing_time (float): Time in which sewn vertices come together, in s, more than 0.
        sewing_force (float | None): Largest force of a pair, in N; None is what stretches the cloth
            beside it by a quarter.
        stretch_scale, shear_scale, bend_scale (float64 or float32 array, shape (n,), optional):
            Factors on the stiffness against stretch, shear and bending at each vertex, more than 0.
            Curves are multiplied as moduli are.
        friction_scale (float64 or float32 array, shape (n,), optional): Factor on the friction at
            each vertex, 0 or more.
        free_of_colliders (integer array, shape (k,), or a sequence of int, optional): Vertices that
            pass through colliders, with the edges and triangles that are all made of them.
        free_of_cloth (integer array, shape (k,), or a sequence of int, optional): The same for this
            cloth and others.
        ignored_colliders (integer array, shape (k,), or a sequence of int, optional): Indices of
            the colliders that this cloth passes through.
        layer (int): Place in the order of garments, from the body outwards, 0 or more. Of two
            cloths that intersect, that of the higher layer comes to lie on the side of the normals
            of the lower one; of equal layers, each on the side where most of it is.
        corner_coverage (float64 or float32 array, shape (corners,), optional): Part of each face
            corner that is cloth, more than 0 and at most 1, where an outline cuts through a grid
            (TrimmedMesh). Mass, elasticity, contact and resistance of the air are those of that
            part. Only the models of particles take it.
        triangles (integer array, shape (m, 3), or a sequence of index sequences, optional): What
            the faces are cut into for the simulation, triangles of each face together and in the
            order of the faces. Where not given, quads are cut along their shorter diagonal, or
            alternating ones on a grid.
        springs (integer array, shape (k, 2), or a sequence of index pairs, optional): Springs
            between any two vertices, beside the fabric.
        spring_stiffness (float64 or float32 array, shape (k,), or float, optional): Stiffness of
            each spring, in N/m, 0 or more; needed where springs are given.
        spring_compression (float64 or float32 array, shape (k,), or float, optional): Stiffness of
            each where it is shorter than at rest, in N/m; spring_stiffness where not given.
        spring_damping (float64 or float32 array, shape (k,), or float, optional): Damping of each
            spring, in N·s/m; 0 where not given.
        spring_lengths (float64 or float32 array, shape (k,), or float, optional): Length at rest
            of each spring, in m; that in the undeformed shape where not given.

    Raises:
        TypeError: An array of the wrong dtype, or an object of the wrong type.
        ValueError: A coordinate that is not finite, an index that is no vertex, a degenerate face,
            an edge of more than two faces, an array of the wrong shape.
    """

    def __new__(
        cls,
        positions: _Rows,
        faces: _Faces,
        material: Material,
        *,
        rest_positions: _Rows | None = None,
        uv: _Rows | None = None,
        vertex_mass_scale: _Numbers | None = None,
        rest_scale: _Rows | None = None,
        stiffness_scale: _Numbers | None = None,
        sewing: _Faces | None = None,
        sewing_time: float = 1.0,
        sewing_force: float | None = None,
        stretch_scale: _Numbers | None = None,
        shear_scale: _Numbers | None = None,
        bend_scale: _Numbers | None = None,
        friction_scale: _Numbers | None = None,
        free_of_colliders: _Indices | None = None,
        free_of_cloth: _Indices | None = None,
        ignored_colliders: _Indices | None = None,
        layer: int = 0,
        corner_coverage: _Numbers | None = None,
        triangles: _Faces | None = None,
        springs: _Faces | None = None,
        spring_stiffness: _Numbers | float | None = None,
        spring_compression: _Numbers | float | None = None,
        spring_damping: _Numbers | float = 0.0,
        spring_lengths: _Numbers | float | None = None,
    ) -> Self: ...
    def internal_springs(
        self,
        *,
        max_length: float | None = None,
        max_diversion: float = 0.7853981633974483,
        check_normals: bool = False,
    ) -> NDArray[np.int64]:
        """Pairs of vertices for springs through the inside of a closed surface, found as *Internal
        Springs* of Blender's cloth are: a ray from each vertex against its normal meets another
        triangle, of which the nearest vertex is the other end. In the undeformed shape.

        Args:
            max_length (float | None): Longest spring, in m, more than 0; any where not given.
            max_diversion (float): Largest angle between a ray and the normal, in rad, from 0 to
                π/2. Angles are random, and the same on every run; 0.785 where not given.
            check_normals (bool): Whether the surfaces at both ends have to face away from each
                other; False where not given.

        Returns:
            int64 array, shape (k, 2): Vertices of each pair, the smaller one first.
        """

    @property
    def vertex_count(self) -> int:
        """Number of vertices."""

    @property
    def triangles(self) -> NDArray[np.int64]:
        """What the faces are cut into for the simulation, int64 of shape (m, 3), in the order of
        the faces. Nothing passes through these triangles, nor through any others that a face with
        up to 8 corners may be cut into.
        """

@final
class Collider:
    """A moving triangle mesh that cloth does not pass through. It may be open, and it may intersect
    itself. Immutable: Simulation.set_collider moves it.

    Args:
        positions (float64 or float32 array, shape (n, 3)): Where the vertices start, in m.
        triangles (integer array, shape (m, 3), or a sequence of index sequences): Vertices of each
            triangle.
        faces (integer array, shape (m, 3) or (m, 4), or a sequence of index sequences, optional):
            Faces that the triangles cut, those of each face together and in the order of faces.
            Whoever draws a face that bends may cut it otherwise: cloth is kept off these triangles
            too, of faces with up to 8 corners.
        friction (float): Coulomb coefficient of friction, 0 or more.
        thickness (float): Contact thickness, in m: the gap that the collider keeps on its side.

    Raises:
        TypeError: An array of the wrong dtype, or a value that is no number.
        ValueError: A coordinate that is not finite, an index that is no vertex, a negative value.
    """

    def __new__(
        cls,
        positions: _Rows,
        triangles: _Faces,
        *,
        faces: _Faces | None = None,
        friction: float = 0.3,
        thickness: float = 0.001,
    ) -> Self: ...
    @property
    def vertex_count(self) -> int:
        """Number of vertices."""

@final
class Pattern:
    """A sewing pattern: flat panels, and the stitches between them. Immutable.

    A file of GarmentCode is a pattern; docs/using.md has its fields and those that Weft adds.
    SVG and DXF-AAMA (ASTM D6673) are read as well. What is malformed is refused when the pattern
    is read; what cannot be sewn is found by findings().

    Args:
        text (str): The contents of a file.
        format (str): "json", "svg" or "dxf".

    Raises:
        TypeError: An argument that is no str.
        ValueError: Something malformed, with its panel and edge.
    """

    def __new__(cls, text: str, *, format: str = "json") -> Self: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> Pattern:
        """Reads a pattern from a file.

        Args:
            path (str | os.PathLike): The file; its name ends in .json, .svg or .dxf.

        Returns:
            Pattern: What it holds.

        Raises:
            OSError: The file cannot be read.
            TypeError: An argument that is no path.
            ValueError: Something malformed, with its panel and edge, or another ending.
        """

    def write(self, path: str | PathLike[str]) -> None:
        """Writes the pattern to a file, whole or not at all: JSON with everything, or SVG at 1:1
        with grain, notches and names, to cut cloth from.

        Args:
            path (str | os.PathLike): The file; its name ends in .json or .svg.

        Raises:
            OSError: The file cannot be written.
            TypeError: An argument that is no path.
            ValueError: Another ending.
        """

    def to_text(self, format: str = "json") -> str:
        """The contents of a file of the pattern.

        Args:
            format (str): "json" or "svg".

        Returns:
            str: The contents.

        Raises:
            ValueError: Another format.
        """

    @property
    def panel_names(self) -> list[str]:
        """Names of the panels, in their order."""

    @property
    def panels(self) -> list[dict[str, Any]]:
        """The panels, as dicts: "name", "edges" (number of edges of the outline), "cutouts" (their
        number), "area" in m², "grain" in degrees from x, "edge_length" in m, "fabric" and "label"
        (None where nothing is stated).
        """

    @property
    def stitches(self) -> list[dict[str, Any]]:
        """The stitches, as dicts: "panels", "cutouts" (None for the outline) and "edges" of both
        sides, "reversed" (whether the start of the first run meets the end of the second),
        "lengths" of both runs in m, "ratio" of the first to the second, and "label".
        """

    def edge_points(
        self, panel: str, edge: int, *, cutout: int | None = None
    ) -> NDArray[np.float64]:
        """Points along an edge where its panel is placed in space, to draw it.

        Args:
            panel (str): Name of the panel.
            edge (int): Index of the edge.
            cutout (int | None): Index of the cut-out; None is the outline.

        Returns:
            float64 array, shape (k, 3): The points in m, both ends included.

        Raises:
            ValueError: No such panel, cut-out or edge.
        """

    def findings(self, edge_length: float = 0.01) -> list[dict[str, Any]]:
        """Everything that is wrong with the pattern, or hardly meant.

        Args:
            edge_length (float): Edge length in m that edges count as tiny against.

        Returns:
            list[dict]: For each finding "kind", "severity" ("error" or "warning"), "panel",
                "cutout", "edge", "stitch" (None where it has none) and "message". Kinds are
                "empty", "duplicate_name", "value", "crossing", "degenerate", "outside",
                "tiny_edge", "missing_edge", "broken_run", "stitched_twice", "ratio",
                "mobius_band" and "unstitched".
        """

    def far_panels(self, colliders: Iterable[Collider]) -> list[dict[str, Any]]:
        """Panels that are far from every collider, whose units or placement are hardly meant.

        Args:
            colliders (sequence of Collider): Bodies that the pattern is to dress.

        Returns:
            list[dict]: As of findings(), of kind "far".
        """

    def with_dart(
        self, panel: str, edge: int, position: float, width: float, tip: _Numbers
    ) -> Pattern:
        """The pattern with a dart cut into the outline of a panel, and its legs sewn together. The
        edge becomes two with the legs between them; edges behind it are three numbers further
        on.

        Args:
            panel (str): Name of the panel.
            edge (int): Index of the edge of its outline, which no stitch has.
            position (float): Middle of the dart along the edge, from 0 at its start to 1 at its
                end.
            width (float): Width at the edge, in m.
            tip (float64 or float32 array, shape (2,)): Tip in m of the panel.

        Returns:
            Pattern: The pattern with it.

        Raises:
            ValueError: No such panel or edge, a dart that does not fit, or an edge that is sewn
                already.
        """

    def mesh(
        self,
        edge_length: float = 0.01,
        *,
        edge_length_factors: Mapping[str, tuple[_Rows, _Numbers]] | None = None,
    ) -> PatternMesh:
        """Meshes all panels: regular cells along the grain, and a strip of triangles along the
        outline. Both sides of a stitch get the same number of vertices.

        Args:
            edge_length (float): Length of edges in m, of panels that state none.
            edge_length_factors (dict | None): Painted edge lengths: for names of panels a pair
                of points of the panel in m, shape (n, 2), and factors of its edge length, shape
                (n,), which are interpolated between the points.

        Returns:
            PatternMesh: The mesh.

        Raises:
            ValueError: The first error of findings(), with its panel and edge; an edge length
                that is not more than 0 or too long for a panel.
        """

    def curvilinear_mesh(
        self, edge_length: float = 0.01, *, corners: Mapping[str, _Indices] | None = None
    ) -> PatternMesh:
        """Meshes all panels with quads between their four sides, along curvilinear coordinates
        (Etzmuss 2002, section 2.7). Opposite sides get the same number of vertices, as do both
        sides of a stitch, which joins whole sides.

        Args:
            edge_length (float): Length of edges in m, of panels that state none.
            corners (dict | None): For names of panels four indices of outline points, at which the
                sides meet, in the order of the outline. A panel with four edges needs none.

        Returns:
            PatternMesh: The mesh, all of whose triangles are halves of its cells.

        Raises:
            ValueError: The first error of findings(), with its panel and edge; a panel without
                four sides, or with quads that fold over; a stitch of a part of a side; an edge
                length that is not more than 0.
        """

    def trimmed_mesh(self, edge_length: float = 0.01) -> TrimmedMesh:
        """Inscribes all panels in regular grids of quads along the grain, which carry a visible
        mesh (Etzmuss 2002, section 2.7): trimmed surfaces, for the models of particles.

        Args:
            edge_length (float): Length of the sides of cells in m, of panels that state none.

        Returns:
            TrimmedMesh: The grids, and the visible mesh.

        Raises:
            ValueError: The first error of findings(), with its panel and edge; a pattern with
                stitches; a panel with a gap that is narrower than a cell; an edge length that is
                not more than 0.
        """

@final
class PatternMesh:
    """Triangulated panels of a Pattern, with the vertices that its stitches draw together.

    Cloth takes positions, triangles and uv as they are, seams as its sewing, and flat as its
    rest positions with a third coordinate of 0.
    """

    @property
    def positions(self) -> NDArray[np.float64]:
        """Vertices in space where the placement of their panel puts them, in m: float64, shape (n,
        3).
        """

    @property
    def flat(self) -> NDArray[np.float64]:
        """Vertices in the plane of their panel, in m: float64, shape (n, 2)."""

    @property
    def uv(self) -> NDArray[np.float64]:
        """Vertices in yarn axes, in m: along the warp and along the weft; float64, shape (n,
        2).
        """

    @property
    def triangles(self) -> NDArray[np.int64]:
        """Vertices of each triangle, counter-clockwise seen from the right side: int64, shape (m,
        3).
        """

    @property
    def cells(self) -> NDArray[np.int64]:
        """Vertices of each regular cell, which two triangles cut: int64, shape (c, 4)."""

    @property
    def cell_triangles(self) -> NDArray[np.int64]:
        """First of the two triangles of each regular cell, which follow each other: int64, shape
        (c,).
        """

    @property
    def panel_of_triangle(self) -> NDArray[np.int64]:
        """Index of the panel of each triangle: int64, shape (m,)."""

    @property
    def panel_starts(self) -> NDArray[np.int64]:
        """First vertex of each panel, and the number of all vertices last: int64, shape (panels +
        1,).
        """

    @property
    def seams(self) -> NDArray[np.int64]:
        """Pairs of vertices to be sewn together, each once, in the order of the stitches: int64,
        shape (k, 2).
        """

    @property
    def stitch_of_seam(self) -> NDArray[np.int64]:
        """Index of the stitch of each pair of seams: int64, shape (k,)."""

    @property
    def welded(self) -> NDArray[np.int64]:
        """Number of the vertex that each vertex becomes where closed seams are welded, in the order
        of the first of each: int64, shape (n,). Cloth takes welded[triangles] as its faces, and
        flat[triangles], a row for each corner, as its rest positions.
        """

    @property
    def internal_lines(self) -> list[dict[str, Any]]:
        """Internal lines as dicts: "panel" and "line" (indices), and "vertices" along one piece of
        it (int64 array).
        """

    @property
    def quality(self) -> list[dict[str, float]]:
        """Figures of the mesh of each panel, as dicts: "min_angle" in degrees; "regular_share",
        part of the area in regular cells; "mean_edge_ratio", "min_edge_ratio" and
        "max_edge_ratio" of edge lengths over those asked for, diagonals of regular cells left
        out.
        """

@final
class TrimmedMesh:
    """Regular grids of quads that the panels of a Pattern are inscribed in, and the visible mesh of
    the panels that they carry (Etzmuss 2002, section 2.7).

    Cloth takes positions, cells as its faces, triangles, uv and corner_coverage as they are, and
    flat as its rest positions with a third coordinate of 0, for a model of particles. Contact
    acts on the whole cells, of which the visible mesh is a part.
    """

    @property
    def positions(self) -> NDArray[np.float64]:
        """Vertices of the grids in space where the placement of their panel puts them, in m:
        float64, shape (n, 3).
        """

    @property
    def flat(self) -> NDArray[np.float64]:
        """Vertices of the grids in the plane of their panel, in m: float64, shape (n, 2)."""

    @property
    def uv(self) -> NDArray[np.float64]:
        """Vertices of the grids in yarn axes, in m: along the warp and along the weft; float64,
        shape (n, 2).
        """

    @property
    def cells(self) -> NDArray[np.int64]:
        """Vertices of each cell, counter-clockwise seen from the right side: int64, shape
        (c, 4).
        """

    @property
    def triangles(self) -> NDArray[np.int64]:
        """Vertices of both triangles of each cell, in the order of the cells: int64, shape
        (2c, 3).
        """

    @property
    def corner_coverage(self) -> NDArray[np.float64]:
        """Part of each corner of each cell that is cloth, more than 0 and at most 1, in the order
        of the cells: float64, shape (4c,).
        """

    @property
    def panel_of_cell(self) -> NDArray[np.int64]:
        """Index of the panel of each cell: int64, shape (c,)."""

    @property
    def panel_starts(self) -> NDArray[np.int64]:
        """First vertex of the grid of each panel, and the number of all vertices last: int64, shape
        (panels + 1,).
        """

    @property
    def visible_flat(self) -> NDArray[np.float64]:
        """Visible vertices in the plane of their panel, in m: float64, shape (k, 2)."""

    @property
    def visible_uv(self) -> NDArray[np.float64]:
        """Visible vertices in yarn axes, in m: float64, shape (k, 2)."""

    @property
    def visible_triangles(self) -> NDArray[np.int64]:
        """Vertices of each visible triangle, counter-clockwise seen from the right side: int64,
        shape (m, 3). Each triangle lies in one of triangles.
        """

    @property
    def visible_panel_starts(self) -> NDArray[np.int64]:
        """First visible vertex of each panel, and the number of all of them last: int64, shape
        (panels + 1,).
        """

    @property
    def visible_corners(self) -> NDArray[np.int64]:
        """Vertices of the triangle of a grid that carries each visible vertex: int64, shape
        (k, 3).
        """

    @property
    def visible_weights(self) -> NDArray[np.float64]:
        """Barycentric coordinates of each visible vertex in that triangle: float64, shape
        (k, 3).
        """

    def visible_positions(self, positions: _Rows) -> NDArray[np.float64]:
        """Where the visible vertices are.

        Args:
            positions (float64 or float32 array, shape (n, 3)): Where the vertices of the grids
                are, in m.

        Returns:
            float64 array, shape (k, 3): Positions in m.

        Raises:
            TypeError: An array of the wrong dtype.
            ValueError: Not one position for each vertex of the grids.
        """

@final
class Settings:
    """How a scene is simulated. Immutable, and checked when built.

    Args:
        integrator (str): How time is stepped. Implicit, for any fabric: "bdf2" (second order, the
            default), "implicit_euler" (first order, damps all motion), "implicit_midpoint" (second
            order, damps nothing). With one linear solve a step, sturdy but sluggish where the
            fabric is stiff: "imex_euler" (first order), "sbdf2", "imex_midpoint" (second order).
            Explicit: "euler", "symplectic_euler" (first order), "midpoint", "heun", "verlet"
            (second order), "rk4" (fourth), and "midpoint_cromer", "heun_cromer", "rk4_cromer",
            whose positions advance with the new velocities (first order). advance makes explicit
            steps as short as is stable, and raises ValueError where a frame of 1/24 s would take
            more than 10 000. step(h) takes any h, and what comes of it.
        solver (str): How the equations of implicit integrators are solved: "newton" (the default);
            "fixed_point", the iteration of Etzmuss 2002 with a constant matrix, slow for stiff and
            little damped fabrics; "linearised", one linearisation a step, shorter steps where the
            cloth stretches by much (Baraff and Witkin 1998).
        model (str): What the cloth is made of. "fem" (the default): linear triangles with
            plate-exact bending; "fem_corotational" and "fem_linear": the same with the strains of
            Huber 2018, the latter for small rotations; "fem_volino" and "fem_bridson": "fem" with
            the bending elements of Volino and of Bridson; "particles": the particle system of
            Etzmuss 2002, on quads;
            "particles_membrane": the same, bent as a membrane; "particles_projected": that force
            along the normals alone; "baraff_witkin": the triangles of Baraff and Witkin 1998;
            "choi_ko": springs that pull and beams that buckle;
            "mass_spring": linear springs; "mass_spring_16": the same to 16 neighbours, on quads.
            Only "fem", its variants and "particles" give back every modulus of a material;
            docs/models.md says what the others get wrong.
        time_step (float): Longest step, in s. The default, 1/48 s, is two steps a film frame;
            steps are shortened where Newton's method converges slowly.
        gravity (3 floats): Acceleration of gravity, in m/s²; (0, 0, -9.81) where not given.
        wind (3 floats): Velocity of the air, in m/s; still air where not given.
        air_density (float): Density of the air, in kg/m³; 1.2 where not given, 0 is a vacuum.
        stokes_drag (float): Stokes drag k of every vertex, in N·s/m, with the force −kv; 0 where
            not given.
        mass_damping (float): α of Rayleigh damping αM + βK, in 1/s; 0 where not given.
        stiffness_damping (float): β of Rayleigh damping αM + βK, in s, added to the damping times
            of all materials; 0 where not given.
        self_collision (bool): Whether cloths touch themselves and each other; True where not given.
        tolerance (float): Part of the motion that a step may leave unsolved: the error of the
            acceleration is estimated at no more than ten times this part of it, and the last
            Newton step, in the energy norm, is at most eight times this part of the mean edge
            length, or of 1/87 of the cloth's width if that is more; 0.02 where not given.
        max_iterations (int): Newton iterations after which a step is tried again with half the
            length; 30 where not given. The fixed-point solver is allowed four times as many
            updates.
        min_iterations (int): Lower bound of the iterations of a step: a step that has been
            shortened grows again where it took no more (Etzmuss 2002, section 3.4.3); 0, the
            default, is nine fortieths of max_iterations.
        growth_factor (float): Factor by which a step that has been shortened grows again, more than
            1; 2 where not given. Above 2.4 BDF2 restarts.
        shrink_factor (float): Factor by which a long step that took many iterations shortens the
            next one, more than 0 and at most 1; 0.75 where not given.
        linear_tolerance (float): η of conjugate gradients, the relative residual at which the
            linear equations of a Newton step count as solved, between 0 and 1; 0.03 where not
            given.
        preconditioner (str): What speeds up the linear equations: "multigrid" (the default),
            "incomplete_cholesky" or "block_jacobi". Results agree to the tolerance.
        threads (int): Threads; 0, the default, is one on every core. Results do not depend on it.

    Raises:
        TypeError: A field that does not exist, or a value of the wrong type.
        ValueError: A value out of range, or a name of something that does not exist here.
    """

    def __new__(
        cls,
        *,
        integrator: str = "bdf2",
        solver: str = "newton",
        model: str = "fem",
        time_step: float = 0.020833333333333332,
        gravity: _Numbers = (0.0, 0.0, -9.81),
        wind: _Numbers = (0.0, 0.0, 0.0),
        air_density: float = 1.2,
        stokes_drag: float = 0.0,
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
        self_collision: bool = True,
        tolerance: float = 0.02,
        max_iterations: int = 30,
        min_iterations: int = 0,
        growth_factor: float = 2.0,
        shrink_factor: float = 0.75,
        linear_tolerance: float = 0.03,
        preconditioner: str = "multigrid",
        threads: int = 0,
    ) -> Self: ...
    @property
    def integrator(self) -> str: ...
    @property
    def solver(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def time_step(self) -> float: ...
    @property
    def gravity(self) -> tuple[float, float, float]: ...
    @property
    def wind(self) -> tuple[float, float, float]: ...
    @property
    def air_density(self) -> float: ...
    @property
    def stokes_drag(self) -> float: ...
    @property
    def mass_damping(self) -> float: ...
    @property
    def stiffness_damping(self) -> float: ...
    @property
    def self_collision(self) -> bool: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def max_iterations(self) -> int: ...
    @property
    def min_iterations(self) -> int: ...
    @property
    def growth_factor(self) -> float: ...
    @property
    def shrink_factor(self) -> float: ...
    @property
    def linear_tolerance(self) -> float: ...
    @property
    def preconditioner(self) -> str: ...
    @property
    def threads(self) -> int: ...

@final
class Simulation:
    """Cloths and colliders in motion.

    One thread at a time: a call while another thread is in one raises RuntimeError. Computing
    releases the GIL.

    Where a piece of cloth crosses something at the start, or a face lies in it but for rounding,
    vertices that are nearer to that than a fortieth of the distance that both keep, and of the
    edges there, begin that far above its surface: sides are not told by the last digits of
    positions. Several copies become layers in their order, and so does cloth that is folded flat.

    Args:
        cloths (sequence of Cloth): One or more; they are numbered in this order.
        colliders (sequence of Collider): They are numbered in this order.
        settings (Settings | None): Settings() where not given.

    Raises:
        TypeError: An object of the wrong type.
        ValueError: No cloth.
        RuntimeError: The system refuses the threads.
    """

    def __new__(
        cls,
        cloths: Iterable[Cloth],
        colliders: Iterable[Collider] | None = (),
        settings: Settings | None = None,
    ) -> Self: ...
    def advance(self, duration: float) -> Report:
        """Simulates with as many steps as needed, none longer than Settings.time_step. Hard contact
        makes steps shorter, and what is not solved to the tolerance is reported; neither raises.

        Args:
            duration (float): Length of the frame, in s, more than 0.

        Returns:
            Report: What was done.

        Raises:
            NotFiniteError: A vertex, or the force on one, stopped being a number; the state before
                that step is kept, or that before the call where other cloths do not touch this one.
            ValueError: A duration that is not a finite number more than 0, or takes more than 10⁷
                of the longest steps; an explicit integrator that would need steps below 4.2 µs.
        """

    def step(self, h: float) -> Report:
        """Simulates exactly one step, for numerical experiments. Pins and colliders reach their
        targets at its end.

        Args:
            h (float): Length of the step, in s, more than 0.

        Returns:
            Report: What was done.

        Raises:
            NotFiniteError: A vertex, or the force on one, stopped being a number, or an explicit
                integrator stretched the cloth there by ten times its length; the state
                before the step is kept.
            ValueError: A length that is not a finite number more than 0.
        """

    def positions(self, cloth: int = 0) -> NDArray[np.float64]:
        """Positions of a cloth's vertices.

        Args:
            cloth (int): Index of the cloth.

        Returns:
            float64 array, shape (n, 3): A copy, in m.
        """

    def velocities(self, cloth: int = 0) -> NDArray[np.float64]:
        """Velocities of a cloth's vertices.

        Args:
            cloth (int): Index of the cloth.

        Returns:
            float64 array, shape (n, 3): A copy, in m/s.
        """

    def set_pins(
        self,
        cloth: int,
        vertices: _Indices,
        targets: _Rows | None = None,
        stiffness: _Numbers | None = None,
    ) -> None:
        """Holds vertices from now on.

        Args:
            cloth (int): Index of the cloth.
            vertices (integer array, shape (k,), or a sequence of int): The vertices.
            targets (float64 or float32 array, shape (k, 3), optional): Where to be at the end of
                the next advance, in m; the way there is a straight line. Without targets vertices
                are held where they are, or stay on the way they are on.
            stiffness (float64 or float32 array, shape (k,), optional): For soft pins, the stiffness
                of a spring in N/m that draws each vertex to its target, more than 0.
        """

    def release_pins(self, cloth: int, vertices: _Indices | None = None) -> None:
        """Lets vertices go that were held or guided.

        Args:
            cloth (int): Index of the cloth.
            vertices (integer array, shape (k,), or a sequence of int, optional): The vertices; all
                of the cloth where not given.
        """

    def set_guided_velocity(
        self, cloth: int, vertices: _Indices, directions: _Rows, velocity: _Numbers
    ) -> None:
        """Prescribes the velocity of vertices along one, two or three directions from now on; along
        others they stay free. release_pins lets them go.

        Args:
            cloth (int): Index of the cloth.
            vertices (integer array, shape (k,), or a sequence of int): The vertices.
            directions (float64 or float32 array, shape (1 to 3, 3)): Independent directions; their
                lengths do not matter.
            velocity (3 floats): Velocity whose part along the directions is prescribed, in m/s.
        """

    def set_collider(self, collider: int, positions: _Rows) -> None:
        """Moves a collider during the next advance.

        Args:
            collider (int): Index of the collider.
            positions (float64 or float32 array, shape (n, 3)): Where its vertices are at the end of
                the next advance, in m; the way there is a straight line.
        """

    def set_material(self, cloth: int, material: Material) -> None:
        """Gives a cloth another fabric from now on.

        Args:
            cloth (int): Index of the cloth.
            material (Material): The fabric.
        """

    def set_gravity(self, g: _Numbers) -> None:
        """New gravity from now on.

        Args:
            g (3 floats): Acceleration, in m/s².
        """

    def set_wind(self, w: _Numbers) -> None:
        """New wind from now on.

        Args:
            w (3 floats): Velocity of the air, in m/s.
        """

    def set_vertex_forces(self, cloth: int, forces: _Rows) -> None:
        """Forces on a cloth's vertices, held until changed.

        Args:
            cloth (int): Index of the cloth.
            forces (float64 or float32 array, shape (n, 3)): A force for each vertex, in N.
        """

    def set_springs(
        self,
        cloth: int,
        springs: _Faces,
        spring_stiffness: _Numbers | float,
        *,
        spring_compression: _Numbers | float | None = None,
        spring_damping: _Numbers | float | None = None,
        spring_lengths: _Numbers | float | None = None,
    ) -> None:
        """Sets the springs of a cloth from now on, in place of all that it had.

        Args:
            cloth (int): Index of the cloth.
            springs (integer array, shape (k, 2), or a sequence of index pairs): Ends of each.
            spring_stiffness (float64 or float32 array, shape (k,), or float): In N/m, 0 or more.
            spring_compression, spring_damping, spring_lengths (float64 or float32 array, shape
                (k,), or float, optional): As in Cloth.
        """

    def set_pressure(
        self,
        cloth: int,
        pressure: float,
        *,
        stiffness: float | None = None,
        volume: float | None = None,
        fluid_density: float | None = None,
        weights: _Numbers | None = None,
    ) -> None:
        """Sets the pressure inside a cloth above that outside, from now on.

        It is pressure + stiffness · (1 − V/volume) at the volume V, and acts along the normals:
        outwards if the faces of a closed cloth turn so.

        A fluid adds fluid_density · gravity · depth, the depth below the mean of the rim, or of the
        surface if it has no rim: on a closed cloth the weight of the fluid. It has no inertia.

        Args:
            cloth (int): Index of the cloth.
            pressure (float): Pressure at the target volume, in Pa.
            stiffness (float): Pressure for a volume that is missing as a whole, in Pa, 0 or more.
            volume (float | None): Target volume, in m³; that at the start where not given.
            fluid_density (float): Density of the fluid inside less that of that outside, in kg/m³.
            weights (float64 or float32 array, shape (n,), optional): Factor on the pressure at each
                vertex, 0 or more.
        """

    def volume(self, cloth: int = 0) -> float:
        """Volume inside a cloth.

        Args:
            cloth (int): Index of the cloth.

        Returns:
            float: Volume, in m³; more than 0 if the faces of a closed cloth turn outwards.
        """

    def set_settings(
        self,
        *,
        time_step: float | None = None,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        air_density: float | None = None,
    ) -> None:
        """Changes settings from now on; those not given stay as they are.

        Args:
            time_step (float, optional): Longest step, in s.
            tolerance (float, optional): Part of the motion that a step may leave unsolved, as in
                Settings.
            max_iterations (int, optional): Newton iterations after which a step is rejected.
            air_density (float, optional): Density of the air, in kg/m³.
        """

    def set_collider_surface(self, collider: int, friction: float, thickness: float) -> None:
        """Gives a collider another surface from now on.

        Args:
            collider (int): Index of the collider.
            friction (float): Coulomb coefficient of friction, 0 or more.
            thickness (float): Contact thickness, in m, 0 or more.
        """

    def set_rest_scale(self, cloth: int, rest_scale: _Rows) -> None:
        """Shrinks or lengthens a cloth from now on.

        Args:
            cloth (int): Index of the cloth.
            rest_scale (float64 or float32 array, shape (n, 2)): Factors b_u, b_v on the lengths at
                rest along warp and weft at each vertex, more than 0, in place of those before.
        """

    def energy(self) -> dict[str, float]:
        """Energies of all cloths.

        Returns:
            dict[str, float]: "kinetic", "stretch", "shear", "bend", "gravity" (0 at the origin) and
                "total", in J; with seams also "sewing", and with soft pins "pins".
        """

    def matrices(self, h: float | None = None) -> dict[str, Any]:
        """Sparse matrices of the linearised equations M·ẍ + D·ẋ + K·x = f at the present positions,
        for scipy.sparse.csr_array((data, indices, indptr)).

        Unknown 3·i + k is coordinate k of vertex i; the vertices of all cloths follow each other. K
        and D are those of cloth, seams and soft pins, as Newton's method uses them: symmetric,
        without negative eigenvalues, from single precision. K of the model "fem" has in it the
        stabilisation of bending, which resists waves of two to four edges. Pinned vertices have
        their rows; air and contacts are left out. The simulation is not changed.

        Args:
            h (float): Length of the step of implicit Euler that A belongs to, in s, more than 0;
                Settings.time_step where not given.

        Returns:
            dict: "stiffness" (K, in N/m), "damping" (D, in N·s/m) and "system" (A = M/h² + D/h + K,
                in N/m), each a tuple (data, indices, indptr) of arrays of float64, int64 and int64;
                "masses" (in kg, shape (n,)); "rest_positions" (the shape at rest, in m, shape
                (n, 3)); "positions" (where K and D hold, in m, shape (n, 3)).

        Raises:
            ValueError: A length that is not a finite number more than 0.
        """

    def state(self) -> bytes:
        """An exact checkpoint: continuing from it gives bit-identical results.

        Returns:
            bytes: To be handed to restore of a simulation of the same cloths and colliders.
        """

    def restore(self, bytes: bytes | bytearray, *, other_rest: bool = False) -> None:
        """Goes to a checkpoint of a simulation of the same cloths and colliders.
        Where its time_step, tolerances or growth were others, this one goes on with its own.

        Args:
            bytes (bytes): What state gave.
            other_rest (bool): Whether rest_positions, not triangles, may have been others there.

        Raises:
            ValueError: The bytes are damaged, foreign, of another version or of other cloths,
                colliders, model, integrator, solver or damping; nothing is changed then.
        """

    @property
    def time(self) -> float:
        """Seconds simulated."""

@final
class Dressing:
    """A pre-roll that sews the garments of a simulation together around its colliders.

    Without gravity and friction and in dense air the sewing of every cloth closes, then both act
    until all is at rest. The simulation may be read meanwhile, and is advanced by nothing else. It
    goes on from there once is_over; gravity, friction and air are then those from before. Where
    nothing is sewn, as in garments that were welded once the phase is "settling", all settles.

    Args:
        simulation (Simulation): Cloths with sewing, where their panels are placed.
        guards_seams (bool): Whether other cloth is kept out of the strips between both sides of
            closing seams. Either may lead a garment so that it cannot close; the other may help.

    Raises:
        TypeError: An object of the wrong type.
    """

    def __new__(cls, simulation: Simulation, guards_seams: bool = True) -> Self: ...
    @staticmethod
    def lift(cloth: Cloth, colliders: Iterable[Collider], up: _Numbers = (0.0, 0.0, 1.0)) -> float:
        """Distance along `up` by which a cloth is best moved before it is dressed: bodies are then
        between the fewest of its sewn vertices, and seams close on the side of a limb that is
        theirs. 0 where no other height is better; at most 0.2 m.

        Args:
            cloth (Cloth): With sewing, where its panels are placed.
            colliders (sequence of Collider): The bodies.
            up (float64 or float32 array, shape (3,)): Direction, of any length but 0.

        Returns:
            float: The distance, in m.

        Raises:
            TypeError: An object of the wrong type.
            ValueError: A direction that is 0 or not finite.
        """

    def advance(self, duration: float) -> Report:
        """Simulates, and goes to the next phase where one is done.

        Args:
            duration (float): Length of the frame, in s, more than 0.

        Returns:
            Report: What was done.

        Raises:
            NotFiniteError: As in Simulation.advance.
            ValueError: A duration that Simulation.advance refuses, or the dressing is over.
        """

    def cancel(self) -> None:
        """Ends the dressing where it is. The phase is then "open" or "moving", unless it was
        over.
        """

    def open_pairs(self) -> list[dict[str, float]]:
        """Pairs of sewn vertices that are farther apart than an eightieth of the mean edge length:
        what still has to be closed, or could not be.

        Returns:
            list[dict[str, float]]: For each pair "cloth", its index; "pair", its index in the
                sewing of that cloth, as in PatternMesh.stitch_of_seam; "gap", in m.
        """

    @property
    def phase(self) -> str:
        """Phase: "sewing", "settling"; once it is over, "worn", "open" (seams could not be closed
        in time) or "moving" (they are closed, but the garment did not come to rest in time).
        """

    @property
    def is_over(self) -> bool:
        """Whether nothing remains to be done."""

@final
class Report:
    """Account of an advance or a step.

    Cloths that do not touch are advanced independently, with steps of their own: counts and times
    by stage are sums over these groups.
    """

    @property
    def steps(self) -> int:
        """Steps taken."""

    @property
    def rejected_steps(self) -> int:
        """Steps given up and tried again with a shorter length."""

    @property
    def rejections(self) -> dict[str, int]:
        """Number of rejected steps by the criterion that they violated first; their sum is
        rejected_steps. "newton_step": the last Newton step, or update of the fixed-point
        solver, is too long at the iteration limit. "stagnation": Newton steps in contact
        stopped getting shorter. "force_balance": the net residual force on a cloth in contact
        is too large. "force_residual": the residual forces of the fixed-point solver allow too
        large an error. "penetration": its displacements are not certified free of
        intersections. "linear_solve": conjugate gradients found no descent direction.
        "not_finite": overflow. "stretch_change": a linearised step changes the stretch of a
        triangle drastically. "truncated_displacement": displacements were truncated to avoid
        intersections, which raised the energy. "instability": an explicit scheme throws the
        cloth away.
        """

    @property
    def newton_iterations(self) -> int:
        """Newton iterations of all steps, or updates of the fixed-point solver."""

    @property
    def linear_iterations(self) -> int:
        """Conjugate gradient iterations of all steps."""

    @property
    def contacts(self) -> int:
        """Pairs that press on each other at the end: a vertex and a triangle, or two edges."""

    @property
    def unresolved_contacts(self) -> int:
        """Places where surfaces cross, added up over all steps: edges that go through triangles
        where a step begins, and pairs that it could not keep from crossing.
        """

    @property
    def pinched_vertices(self) -> list[tuple[int, int]]:
        """Cloth and vertex wherever colliders left the cloth no room and held it at the end."""

    @property
    def residual(self) -> float:
        """The largest residual of any step taken, measured as Settings.tolerance is."""

    @property
    def converged(self) -> bool:
        """Whether every step was solved as closely as Settings.tolerance says, and none had to stop
        a vertex for good so that it crosses nothing. Where contacts come and go,
        eight times the tolerance will do; four times where the equations are linear.
        """

    @property
    def seconds(self) -> dict[str, float]:
        """Time by stage of the work, in s; "total" is all of it."""

    @property
    def max_stretch(self) -> float:
        """The largest principal stretch of any triangle at the end, less 1, against its lengths at
        rest as rest_scale makes them.
        """
