// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Cloth`.

mod springs;

pub(super) use springs::given_springs;

use super::{
    arrays::{
        FACES, FaceCorners, FaceKind, indices, numbers, points, read_faces, read_triangles, rows,
        to_index_array,
    },
    errors::guarded,
    material::PyMaterial,
    scalars::{flag, index, instance, number},
};
use crate::{
    error::Error,
    material::Material,
    mesh::{Polygons, Uv, check_positions},
    scene::{Cloth, Sewing, Springs},
    surface::{InternalSprings, internal_springs},
    vec3::Vec3,
};
use numpy::PyArray2;
use pyo3::prelude::*;

const PAIRS: FaceKind = FaceKind {
    argument: "sewing",
    element: "pair",
    widths: &[2],
    wanted: "integers, shape (k, 2), or a sequence of pairs of vertex indices",
};

/// Default largest angle between an internal spring and the normal, in rad: Blender's.
const MAX_DIVERSION: f64 = std::f64::consts::FRAC_PI_4;

/// Default closing time of seams, in s.
const SEWING_TIME: f64 = 1.0;

/// A sheet of cloth: triangles, quads, n-gons or a mixture, in one piece or several. Immutable.
///
/// Args:
///     positions (float64 or float32 array, shape (n, 3)): Where the vertices start, in m.
///     faces (integer array, shape (m, 3) or (m, 4), or a sequence of index sequences): Vertices
///         around each face.
///     material (Material): The fabric.
///     rest_positions (float64 or float32 array, shape (n, 3) or (corners, 3), optional):
///         Undeformed shape, in m, per vertex or per face corner; positions where not given. Per
///         corner every face has a shape of its own, and an edge at which two faces differ is a
///         seam, flat at rest: a garment whose panels were welded.
///     uv (float64 or float32 array, shape (n, 2) or (corners, 2), optional): Yarn axes, in m, per
///         vertex or per face corner; u runs along the warp. Lengths at rest still come from
///         rest_positions. Without uv the warp follows the longest axis of each piece.
///     vertex_mass_scale (float64 or float32 array, shape (n,), optional): Factor on the mass of
///         each vertex, more than 0.
///     rest_scale (float64 or float32 array, shape (n, 2), optional): Factors b_u, b_v on the
///         lengths at rest along warp and weft at each vertex, more than 0: below 1 for cuffs and
///         waistbands, above 1 for fullness. An element takes the mean over its vertices.
///     stiffness_scale (float64 or float32 array, shape (n,), optional): Factor on the stiffness of
///         the springs at each vertex, more than 0. Only models of springs take it.
///     sewing (integer array, shape (k, 2), or a sequence of index pairs, optional): Pairs of
///         vertices that are drawn together and then held.
///     sewing_time (float): Time in which sewn vertices come together, in s, more than 0.
///     sewing_force (float | None): Largest force of a pair, in N; None is what stretches the cloth
///         beside it by a quarter.
///     stretch_scale, shear_scale, bend_scale (float64 or float32 array, shape (n,), optional):
///         Factors on the stiffness against stretch, shear and bending at each vertex, more than 0.
///         Curves are multiplied as moduli are.
///     friction_scale (float64 or float32 array, shape (n,), optional): Factor on the friction at
///         each vertex, 0 or more.
///     free_of_colliders (integer array, shape (k,), or a sequence of int, optional): Vertices that
///         pass through colliders, with the edges and triangles that are all made of them.
///     free_of_cloth (integer array, shape (k,), or a sequence of int, optional): The same for this
///         cloth and others.
///     ignored_colliders (integer array, shape (k,), or a sequence of int, optional): Indices of
///         the colliders that this cloth passes through.
///     layer (int): Place in the order of garments, from the body outwards, 0 or more. Of two
///         cloths that intersect, that of the higher layer comes to lie on the side of the normals
///         of the lower one; of equal layers, each on the side where most of it is.
///     corner_coverage (float64 or float32 array, shape (corners,), optional): Part of each face
///         corner that is cloth, more than 0 and at most 1, where an outline cuts through a grid
///         (TrimmedMesh). Mass, elasticity, contact and resistance of the air are those of that
///         part. Only the models of particles take it.
///     triangles (integer array, shape (m, 3), or a sequence of index sequences, optional): What
///         the faces are cut into for the simulation, triangles of each face together and in the
///         order of the faces. Where not given, quads are cut along their shorter diagonal, or
///         alternating ones on a grid.
///     springs (integer array, shape (k, 2), or a sequence of index pairs, optional): Springs
///         between any two vertices, beside the fabric.
///     spring_stiffness (float64 or float32 array, shape (k,), or float, optional): Stiffness of
///         each spring, in N/m, 0 or more; needed where springs are given.
///     spring_compression (float64 or float32 array, shape (k,), or float, optional): Stiffness of
///         each where it is shorter than at rest, in N/m; spring_stiffness where not given.
///     spring_damping (float64 or float32 array, shape (k,), or float, optional): Damping of each
///         spring, in N·s/m; 0 where not given.
///     spring_lengths (float64 or float32 array, shape (k,), or float, optional): Length at rest
///         of each spring, in m; that in the undeformed shape where not given.
///
/// Raises:
///     TypeError: An array of the wrong dtype, or an object of the wrong type.
///     ValueError: A coordinate that is not finite, an index that is no vertex, a degenerate face,
///         an edge of more than two faces, an array of the wrong shape.
#[pyclass(name = "Cloth", module = "weft", frozen)]
pub(super) struct PyCloth(pub(super) Cloth);

#[pymethods]
impl PyCloth {
    #[new]
    #[pyo3(
        signature = (
            positions, faces, material, *, rest_positions=None, uv=None, vertex_mass_scale=None,
            rest_scale=None, stiffness_scale=None, sewing=None, sewing_time=None, sewing_force=None,
            stretch_scale=None, shear_scale=None, bend_scale=None, friction_scale=None,
            free_of_colliders=None, free_of_cloth=None, ignored_colliders=None, layer=None,
            corner_coverage=None, triangles=None, springs=None, spring_stiffness=None, spring_compression=None,
            spring_damping=None, spring_lengths=None
        ),
        text_signature = "(positions, faces, material, *, rest_positions=None, uv=None, \
            vertex_mass_scale=None, rest_scale=None, stiffness_scale=None, sewing=None, \
            sewing_time=1.0, sewing_force=None, stretch_scale=None, shear_scale=None, \
            bend_scale=None, friction_scale=None, free_of_colliders=None, free_of_cloth=None, \
            ignored_colliders=None, layer=0, corner_coverage=None, triangles=None, springs=None, \
            spring_stiffness=None, spring_compression=None, spring_damping=0.0, \
            spring_lengths=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        positions: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        material: &Bound<'_, PyAny>,
        rest_positions: OptionalArgument<'_, '_>,
        uv: OptionalArgument<'_, '_>,
        vertex_mass_scale: OptionalArgument<'_, '_>,
        rest_scale: OptionalArgument<'_, '_>,
        stiffness_scale: OptionalArgument<'_, '_>,
        sewing: OptionalArgument<'_, '_>,
        sewing_time: OptionalArgument<'_, '_>,
        sewing_force: OptionalArgument<'_, '_>,
        stretch_scale: OptionalArgument<'_, '_>,
        shear_scale: OptionalArgument<'_, '_>,
        bend_scale: OptionalArgument<'_, '_>,
        friction_scale: OptionalArgument<'_, '_>,
        free_of_colliders: OptionalArgument<'_, '_>,
        free_of_cloth: OptionalArgument<'_, '_>,
        ignored_colliders: OptionalArgument<'_, '_>,
        layer: OptionalArgument<'_, '_>,
        corner_coverage: OptionalArgument<'_, '_>,
        triangles: OptionalArgument<'_, '_>,
        springs: OptionalArgument<'_, '_>,
        spring_stiffness: OptionalArgument<'_, '_>,
        spring_compression: OptionalArgument<'_, '_>,
        spring_damping: OptionalArgument<'_, '_>,
        spring_lengths: OptionalArgument<'_, '_>,
    ) -> PyResult<Self> {
        let positions = points("positions", positions)?;
        check_positions("positions", &positions)?;
        let FaceCorners { counts, corners } = read_faces(FACES, faces)?;
        let mut polygons = Polygons::new(&counts, &corners, positions.len())?;
        if let Some(given) = triangles {
            polygons = polygons.with_triangles(&read_triangles(given)?)?;
        }
        let material = instance::<PyMaterial>("material", material)?.get().0.clone();
        let rest =
            rest_positions.map(|given| read_rest(given, positions.len(), &polygons)).transpose()?;
        let uv = uv.map(|given| read_uv(given, positions.len(), &polygons)).transpose()?;
        let count = positions.len();
        let springiness = [spring_stiffness, spring_compression, spring_damping, spring_lengths];
        let extras = ClothOptions {
            mass: factors("vertex_mass_scale", vertex_mass_scale)?,
            rest: rest_scale.map(|given| rows::<2>("rest_scale", given)).transpose()?,
            stiffness: factors("stiffness_scale", stiffness_scale)?,
            sewing: read_sewing(sewing, [sewing_time, sewing_force], count)?,
            properties: read_properties([stretch_scale, shear_scale, bend_scale], count)?,
            friction: factors("friction_scale", friction_scale)?,
            free: read_free([free_of_colliders, free_of_cloth], count)?,
            ignored: read_ignored(ignored_colliders)?,
            coverage: factors("corner_coverage", corner_coverage)?,
            layer: layer.map_or(Ok(0), |given| index("layer", given))?,
            springs: given_springs(springs, springiness, count)?,
        };
        let build = || {
            let cloth = shaped(positions, &polygons, material, rest, uv.as_ref())?;
            Ok(Self(extras.apply_to(cloth, &polygons)?))
        };
        faces.py().detach(|| guarded(build))
    }

    /// Number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.0.vertex_count()
    }

    /// What the faces are cut into for the simulation, int64 of shape (m, 3), in the order of
    /// the faces. Nothing passes through these triangles, nor through any others that a face with
    /// up to 8 corners may be cut into.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        to_index_array(py, self.0.triangles())
    }

    /// Pairs of vertices for springs through the inside of a closed surface, found as *Internal
    /// Springs* of Blender's cloth are: a ray from each vertex against its normal meets another
    /// triangle, of which the nearest vertex is the other end. In the undeformed shape.
    ///
    /// Args:
    ///     max_length (float | None): Longest spring, in m, more than 0; any where not given.
    ///     max_diversion (float): Largest angle between a ray and the normal, in rad, from 0 to
    ///         π/2. Angles are random, and the same on every run; 0.785 where not given.
    ///     check_normals (bool): Whether the surfaces at both ends have to face away from each
    ///         other; False where not given.
    ///
    /// Returns:
    ///     int64 array, shape (k, 2): Vertices of each pair, the smaller one first.
    #[pyo3(
        signature = (*, max_length=None, max_diversion=None, check_normals=None),
        text_signature = "($self, *, max_length=None, max_diversion=0.7853981633974483, \
            check_normals=False)"
    )]
    fn internal_springs<'py>(
        &self,
        py: Python<'py>,
        max_length: OptionalArgument<'_, 'py>,
        max_diversion: OptionalArgument<'_, 'py>,
        check_normals: OptionalArgument<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let options = InternalSprings {
            max_length: max_length
                .map_or(Ok(f64::INFINITY), |given| positive("max_length", given))?,
            max_diversion: max_diversion
                .map_or(Ok(MAX_DIVERSION), |given| angle("max_diversion", given))?,
            checks_normals: check_normals
                .map_or(Ok(false), |given| flag("check_normals", given))?,
        };
        let mesh = &self.0.mesh;
        let find = || internal_springs(&mesh.rest.positions, &mesh.topology.triangles, &options);
        to_index_array(py, &py.detach(find))
    }

    fn __repr__(&self) -> String {
        let triangles = self.0.mesh.topology.triangles.len();
        format!("<weft.Cloth: {} vertices, {triangles} triangles>", self.0.vertex_count())
    }
}

/// A cloth with rest positions of its vertices or face corners.
fn shaped(
    positions: Vec<Vec3>,
    polygons: &Polygons,
    material: Material,
    rest: Option<(Vec<Vec3>, Each)>,
    uv: Option<&Uv>,
) -> crate::error::Result<Cloth> {
    match rest {
        Some((rest, Each::Corner)) => Cloth::of_panels(positions, polygons, material, &rest, uv),
        Some((rest, Each::Vertex)) => Cloth::new(positions, polygons, material, Some(&rest), uv),
        None => Cloth::new(positions, polygons, material, None, uv),
    }
}

/// A keyword that may be left out.
type OptionalArgument<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Optional arguments of a cloth.
struct ClothOptions {
    mass: Option<Vec<f64>>,
    rest: Option<Vec<[f64; 2]>>,
    stiffness: Option<Vec<f64>>,
    sewing: Option<Sewing>,
    properties: Option<Vec<[f64; 3]>>,
    friction: Option<Vec<f64>>,
    free: Option<Vec<[bool; 2]>>,
    ignored: Vec<u32>,
    coverage: Option<Vec<f64>>,
    layer: usize,
    springs: Option<Springs>,
}

impl ClothOptions {
    fn apply_to(self, mut cloth: Cloth, polygons: &Polygons) -> crate::error::Result<Cloth> {
        if let Some(coverage) = self.coverage {
            cloth = cloth.with_corner_coverage(polygons, &coverage)?;
        }
        if let Some(scale) = self.mass {
            cloth = cloth.with_mass_scale(scale)?;
        }
        if let Some(scale) = self.rest {
            cloth = cloth.with_rest_scale(scale)?;
        }
        if let Some(scale) = self.stiffness {
            cloth = cloth.with_stiffness_scale(scale)?;
        }
        if let Some(sewing) = self.sewing {
            cloth = cloth.with_sewing(sewing)?;
        }
        if let Some(scale) = self.properties {
            cloth = cloth.with_property_scale(scale)?;
        }
        if let Some(scale) = self.friction {
            cloth = cloth.with_friction_scale(scale)?;
        }
        if let Some(free) = self.free {
            cloth = cloth.with_free_vertices(free)?;
        }
        if let Some(springs) = self.springs {
            cloth = cloth.with_springs(springs)?;
        }
        Ok(cloth.with_ignored_colliders(self.ignored).with_layer(self.layer))
    }
}

fn positive(name: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let value = number(name, given)?;
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::value(name, value, "a finite number more than 0").into())
}

/// An angle up to a right one, in rad.
fn angle(name: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let value = number(name, given)?;
    if (0.0..=std::f64::consts::FRAC_PI_2).contains(&value) {
        return Ok(value);
    }
    Err(Error::value(name, value, "an angle from 0 to π/2").into())
}

fn factors(name: &str, given: OptionalArgument<'_, '_>) -> PyResult<Option<Vec<f64>>> {
    given.map(|given| numbers(name, given)).transpose()
}

/// Pairs of vertices, with the time that they close in and the largest force.
fn read_sewing(
    given: OptionalArgument<'_, '_>,
    [time, force]: [OptionalArgument<'_, '_>; 2],
    vertex_count: usize,
) -> PyResult<Option<Sewing>> {
    let time = time.map_or(Ok(SEWING_TIME), |given| number("sewing_time", given))?;
    let force = force.map(|given| number("sewing_force", given)).transpose()?;
    let Some(given) = given else { return Ok(None) };
    Ok(Some(Sewing { pairs: read_pairs(PAIRS, given, vertex_count)?, time, force }))
}

/// Pairs of vertices.
fn read_pairs(
    kind: FaceKind,
    given: &Bound<'_, PyAny>,
    vertex_count: usize,
) -> PyResult<Vec<[u32; 2]>> {
    let read = read_faces(kind, given)?;
    if let Some(pair) = read.counts.iter().position(|count| *count != 2) {
        let found = format!("{} vertices", read.counts[pair]);
        return Err(kind.refused(pair, found, "two vertices").into());
    }
    let mut vertices = Vec::with_capacity(read.corners.len());
    for (place, vertex) in read.corners.iter().enumerate() {
        vertices.push(u32::try_from(*vertex).map_err(|_| {
            let wanted = format!("indices below the {vertex_count} vertices");
            kind.refused(place / 2, format!("vertex {vertex}"), &wanted)
        })?);
    }
    Ok(vertices.as_chunks::<2>().0.to_vec())
}

/// The factors on stretch, shear and bending, 1 where they are not given.
fn read_properties(
    given: [OptionalArgument<'_, '_>; 3],
    vertex_count: usize,
) -> PyResult<Option<Vec<[f64; 3]>>> {
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut properties = vec![[1.0; 3]; vertex_count];
    let names = ["stretch_scale", "shear_scale", "bend_scale"];
    for (kind, (name, given)) in names.into_iter().zip(given).enumerate() {
        let Some(factors) = factors(name, given)? else { continue };
        if factors.len() != vertex_count {
            let wanted = format!("{vertex_count}, one per vertex");
            return Err(Error::value(name, format!("{} factors", factors.len()), wanted).into());
        }
        for (all, factor) in properties.iter_mut().zip(factors) {
            all[kind] = factor;
        }
    }
    Ok(Some(properties))
}

/// Whether each vertex passes through colliders, and through cloth.
fn read_free(
    given: [OptionalArgument<'_, '_>; 2],
    vertex_count: usize,
) -> PyResult<Option<Vec<[bool; 2]>>> {
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut free = vec![[false; 2]; vertex_count];
    for (kind, name) in ["free_of_colliders", "free_of_cloth"].into_iter().enumerate() {
        let vertices = given[kind].map_or(Ok(Vec::new()), |given| indices(name, given))?;
        for (entry, vertex) in vertices.into_iter().enumerate() {
            let Some(flags) = free.get_mut(vertex) else {
                let (found, wanted) = (
                    format!("vertex {vertex}"),
                    format!("an index below the {vertex_count} vertices"),
                );
                return Err(Error::element(name, "entry", entry, found, wanted).into());
            };
            flags[kind] = true;
        }
    }
    Ok(Some(free))
}

/// Colliders that the cloth passes through; the simulation says how many there are.
fn read_ignored(given: OptionalArgument<'_, '_>) -> PyResult<Vec<u32>> {
    let name = "ignored_colliders";
    let read = given.map_or(Ok(Vec::new()), |given| indices(name, given))?;
    let narrow = |(entry, index): (usize, usize)| {
        u32::try_from(index).map_err(|_| {
            let found = format!("collider {index}");
            Error::element(name, "entry", entry, found, "the index of a collider").into()
        })
    };
    read.into_iter().enumerate().map(narrow).collect()
}

/// One coordinate pair per vertex, or per corner where that is another number.
/// What an array has a row for.
#[derive(Clone, Copy)]
enum Each {
    Vertex,
    Corner,
}

impl Each {
    /// By the number of rows of an `argument`.
    fn of(
        argument: &str,
        count: usize,
        vertex_count: usize,
        polygons: &Polygons,
    ) -> PyResult<Self> {
        let corner_count = polygons.corner_count();
        if count == vertex_count {
            return Ok(Self::Vertex);
        }
        if count == corner_count {
            return Ok(Self::Corner);
        }
        let wanted =
            format!("{vertex_count}, one per vertex, or {corner_count}, one per face corner");
        Err(Error::value(argument, format!("{count} rows"), wanted).into())
    }
}

fn read_uv(given: &Bound<'_, PyAny>, vertex_count: usize, polygons: &Polygons) -> PyResult<Uv> {
    let rows = rows::<2>("uv", given)?;
    Ok(match Each::of("uv", rows.len(), vertex_count, polygons)? {
        Each::Vertex => Uv::Vertex(rows),
        Each::Corner => Uv::Corner(rows),
    })
}

fn read_rest(
    given: &Bound<'_, PyAny>,
    vertex_count: usize,
    polygons: &Polygons,
) -> PyResult<(Vec<Vec3>, Each)> {
    let rest = points("rest_positions", given)?;
    let each = Each::of("rest_positions", rest.len(), vertex_count, polygons)?;
    Ok((rest, each))
}
