// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hinge angles of the current shape, and the two maps between their rates and velocities.
//!
//! Every ∂θ/∂x is a multiple of a triangle normal. With N = (x₁ − x₀) × (x₂ − x₀), ν = N/|N|² and
//! c_i = (x_j − x_i)·(x_k − x_i), a velocity p turns triangle T about its edge i by
//!   t_i/l_i,  t_i = c_j (s_i − s_k) + c_k (s_i − s_j),  s = ν·p,
//! and a hinge folds by (t of the left triangle + t of the right one)/l. So B = ∂θ/∂x needs six numbers
//! per triangle and one per hinge, and Bᵀ gathers a scalar times ν from the triangles at a vertex.
//!
//! A triangle crushed towards a line has ∂θ/∂x ~ 1/height. Below [`MIN_REST_RATIO`] of its rest area,
//! |N|² in ν is bounded from below, and likewise l: forces remain bounded, and only there they are not the gradient of
//! the energy and do not conserve angular momentum.

use super::{
    angle::{AngleAndChange, wrap_angle},
    hinges::Hinges,
};
use crate::{
    mesh::{Incidence, Mesh, angle_between_lanes},
    parallel::reductions,
    simd::{Kernel, Lanes, dispatch, lane_indices, write_lanes},
    vec3::Vec3,
};
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

/// Ratio of area and of edge length to the rest shape down to which ∂θ/∂x is exact; below it forces are bounded.
/// Evidence: `forces_are_the_gradient_of_the_potential` (fails with 0.5); with 10⁻⁹ no test fails.
const MIN_REST_RATIO: f64 = 0.05;

/// Triangles or hinges that are worth a task of their own.
const MIN_PER_TASK: usize = reductions::MIN_ELEMENTS_PER_TASK;

/// The current shape as far as folding depends on it.
#[derive(Clone, Debug)]
pub(super) struct HingeAngles {
    triangles: Arc<Vec<[u32; 3]>>,
    incidence: Arc<Incidence>,
    /// Area at rest of each triangle, and least l² of each hinge.
    areas: Arc<Vec<f64>>,
    least_lengths: Vec<f64>,
    /// ν and c of each triangle, 1/l of each hinge.
    normals: Vec<Vec3>,
    dots: Vec<[f64; 3]>,
    inverse_lengths: Vec<f64>,
    /// Three numbers for each triangle, between the passes of a product; none before the first one.
    corner_values: Vec<[f64; 3]>,
}

impl HingeAngles {
    pub(super) fn new(mesh: &Mesh, hinges: &Hinges) -> Self {
        let triangles = Arc::clone(&mesh.topology.triangles);
        let edges = mesh.topology.edges.iter().filter(|edge| !edge.is_boundary());
        let mut least_lengths = Vec::with_capacity(hinges.count());
        least_lengths
            .extend(edges.map(|edge| (MIN_REST_RATIO * mesh.rest.edge_length(edge)).powi(2)));
        Self {
            incidence: Arc::clone(&mesh.topology.incidence),
            areas: Arc::clone(&mesh.rest.areas),
            least_lengths,
            normals: vec![Vec3::zeros(); triangles.len()],
            dots: vec![[0.0; 3]; triangles.len()],
            inverse_lengths: vec![0.0; hinges.count()],
            corner_values: Vec::new(),
            triangles,
        }
    }

    /// Updates normals, lengths and gradients to `positions` and writes the deviation of every angle from that at rest,
    /// and its change since the past.
    pub(super) fn update(
        &mut self,
        positions: &[Vec3],
        hinges: &Hinges,
        references: AngleReferences<'_>,
        angles: &mut [AngleAndChange],
    ) {
        let Self { triangles, areas, least_lengths, normals, dots, .. } = self;
        let results = normals.par_chunks_mut(MIN_PER_TASK).zip(dots.par_chunks_mut(MIN_PER_TASK));
        let given = triangles.par_chunks(MIN_PER_TASK).zip(areas.par_chunks(MIN_PER_TASK));
        results.zip(given).for_each(|((normals, dots), (triangles, areas))| {
            dispatch(UpdateTriangles { positions, triangles, areas, normals, dots });
        });
        let normals = normals.as_slice();
        let results = angles
            .par_chunks_mut(MIN_PER_TASK)
            .zip(self.inverse_lengths.par_chunks_mut(MIN_PER_TASK));
        results.enumerate().for_each(|(chunk, (angles, inverse_lengths))| {
            let first = chunk * MIN_PER_TASK;
            let results = (angles, inverse_lengths);
            dispatch(UpdateHinges {
                positions,
                hinges,
                normals,
                least_lengths,
                first,
                references,
                results,
            });
        });
    }

    /// Rates at which hinges fold when vertices move along `direction`: B · direction.
    pub(super) fn fold_rates(
        &mut self,
        direction: &[Vec3],
        hinges: &Hinges,
        rates: &mut [AngleAndChange],
    ) {
        let mut corner_values = std::mem::take(&mut self.corner_values);
        corner_values.resize(self.triangles.len(), [0.0; 3]);
        corner_values.par_chunks_mut(MIN_PER_TASK).enumerate().for_each(|(chunk, values)| {
            let (angles, first) = (&*self, chunk * MIN_PER_TASK);
            dispatch(TriangleRates { angles, direction, first, values });
        });
        self.corner_values = corner_values;
        let each = rates.par_iter_mut().enumerate().with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        let values = self.corner_values.as_flattened();
        each.for_each(|(hinge, rate)| *rate = [self.rate(hinges, values, hinge); 2]);
    }

    /// Adds `sign` · Bᵀ · moments to the vertices, given each moment times 1/l and a 0 past the last hinge, with room for
    /// three numbers of each triangle.
    pub(super) fn gather(
        &self,
        loads: &[f64],
        room: &mut [[f64; 3]],
        hinges: &Hinges,
        sign: f64,
        out: &mut [Vec3],
    ) {
        let values = &mut room[..self.triangles.len()];
        values.par_chunks_mut(MIN_PER_TASK).enumerate().for_each(|(chunk, values)| {
            let (dots, first) = (self.dots.as_slice(), chunk * MIN_PER_TASK);
            dispatch(TurnTriangles { loads, hinges, dots, sign, first, values });
        });
        let values = &*values;
        let each = out.par_iter_mut().enumerate().with_min_len(reductions::MIN_VERTICES_PER_TASK);
        each.for_each(|(vertex, out)| {
            for (triangle, corner) in self.incidence.elements_of(vertex) {
                let triangle = triangle as usize;
                *out += self.normals[triangle] * values[triangle][usize::from(corner)];
            }
        });
    }

    /// Rate at which a hinge folds, given the rates of all edges of triangles.
    #[inline(always)]
    pub(super) fn rate(&self, hinges: &Hinges, edge_rates: &[f64], hinge: usize) -> f64 {
        let [left, right] = hinges.slots[hinge].map(|slot| edge_rates[slot as usize]);
        (left + right) * self.inverse_lengths[hinge]
    }

    /// 1/l of each hinge.
    pub(super) fn inverse_lengths(&self) -> &[f64] {
        &self.inverse_lengths
    }

    /// ∂θ/∂x of one hinge at its vertices a, b, c, d.
    pub(super) fn gradients(&self, hinge: usize, hinges: &Hinges) -> [Vec3; 4] {
        // ν/l times the `turns` of 1 at the edge: of the corner opposite, and of the two after it.
        let side = |slot: u32| {
            let (triangle, corner) = (slot as usize / 3, slot as usize % 3);
            let dots = &self.dots[triangle];
            let (next, last) = (dots[(corner + 1) % 3], dots[(corner + 2) % 3]);
            let normal = self.normals[triangle] * self.inverse_lengths[hinge];
            [normal * (next + last), normal * -last, normal * -next]
        };
        // After the opposite corner come a, b in the left triangle, b, a in the right one.
        let [c, left_a, left_b] = side(hinges.slots[hinge][0]);
        let [d, right_b, right_a] = side(hinges.slots[hinge][1]);
        [left_a + right_a, left_b + right_b, c, d]
    }
}

/// Finds ν and c of some triangles.
struct UpdateTriangles<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    areas: &'a [f64],
    normals: &'a mut [Vec3],
    dots: &'a mut [[f64; 3]],
}

impl Kernel for UpdateTriangles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { positions, triangles, areas, normals, dots } = self;
        let batches = normals.chunks_mut(4).zip(dots.chunks_mut(4)).enumerate();
        for (batch, (normals, dots)) in batches {
            let own = lane_indices(4 * batch, triangles.len());
            let corner = |c: usize| lanes.vectors(|k| &positions[triangles[own[k]][c] as usize]);
            let (x0, x1, x2) = (corner(0), corner(1), corner(2));
            let (first, second) =
                (lanes.vectors_between(&x1, &x0), lanes.vectors_between(&x2, &x0));
            let third = lanes.vectors_between(&x2, &x1);
            let cross = lanes.cross(&first, &second);
            // Least |N|.
            let least = lanes
                .product(lanes.splat_four(2.0 * MIN_REST_RATIO), lanes.gather_four(&own, areas));
            let square = lanes.maximum_of(lanes.dot(&cross, &cross), lanes.product(least, least));
            let x = lanes.to_numbers(lanes.quotient(cross[0], square));
            let y = lanes.to_numbers(lanes.quotient(cross[1], square));
            let z = lanes.to_numbers(lanes.quotient(cross[2], square));
            let a = lanes.to_numbers(lanes.dot(&first, &second));
            let b = lanes.to_numbers(lanes.dot(&first, &third));
            let c = lanes.to_numbers(lanes.dot(&second, &third));
            for (k, (normal, dots)) in normals.iter_mut().zip(dots).enumerate() {
                *normal = Vec3::new(x[k], y[k], z[k]);
                *dots = [a[k], -b[k], c[k]];
            }
        }
    }
}

/// Angles of all hinges that others are counted from, in rad.
#[derive(Clone, Copy)]
pub(super) struct AngleReferences<'a> {
    pub(super) rest: &'a [f64],
    /// Of the past state; `None` without viscosity.
    pub(super) past: Option<&'a [f64]>,
}

impl AngleReferences<'_> {
    /// Deviations of four angles from those at rest, and their changes.
    #[inline(always)]
    fn count_from<L: Lanes>(&self, lanes: L, own: &[usize; 4], angles: L::Four) -> [L::Four; 2] {
        let rest = lanes.gather_four(own, self.rest);
        let deviations = wrap_angles(lanes, lanes.minus(angles, rest));
        let Some(past) = self.past else { return [deviations, lanes.splat_four(0.0)] };
        let since = lanes.minus(lanes.plus(deviations, rest), lanes.gather_four(own, past));
        [deviations, wrap_angles(lanes, since)]
    }
}

/// [`wrap_angle`] of four angles.
#[inline(always)]
fn wrap_angles<L: Lanes>(lanes: L, angles: L::Four) -> L::Four {
    if lanes.is_any_less(lanes.splat_four(PI), lanes.magnitude(angles)) {
        return lanes.load_four(&lanes.to_numbers(angles).map(wrap_angle));
    }
    angles
}

/// Finds the angles and inverse lengths of some hinges.
struct UpdateHinges<'a> {
    positions: &'a [Vec3],
    hinges: &'a Hinges,
    normals: &'a [Vec3],
    least_lengths: &'a [f64],
    first: usize,
    references: AngleReferences<'a>,
    results: (&'a mut [AngleAndChange], &'a mut [f64]),
}

impl Kernel for UpdateHinges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { positions, hinges, normals, least_lengths, first, references, results } = self;
        let batches = results.0.chunks_mut(4).zip(results.1.chunks_mut(4)).enumerate();
        for (batch, (angles, inverse_lengths)) in batches {
            let own = lane_indices(first + 4 * batch, hinges.count());
            let end = |c: usize| lanes.vectors(|k| &positions[hinges.vertices[own[k]][c] as usize]);
            let edge = lanes.vectors_between(&end(1), &end(0));
            let least = lanes.gather_four(&own, least_lengths);
            let length = lanes.root(lanes.maximum_of(lanes.dot(&edge, &edge), least));
            let side = |s: usize| lanes.vectors(|k| &normals[hinges.slots[own[k]][s] as usize / 3]);
            let found = angle_between_lanes(lanes, [&side(0), &side(1)], &edge, length);
            let inverses = lanes.to_numbers(lanes.quotient(lanes.splat_four(1.0), length));
            let pairs = lanes.split_pairs(&references.count_from(lanes, &own, found));
            write_lanes(angles, &pairs);
            write_lanes(inverse_lengths, &inverses);
        }
    }
}

/// Finds the multiples of ν that are the forces on the corners of some triangles: t, which is symmetric, for the loads of
/// their edges.
struct TurnTriangles<'a> {
    loads: &'a [f64],
    hinges: &'a Hinges,
    dots: &'a [[f64; 3]],
    sign: f64,
    first: usize,
    values: &'a mut [[f64; 3]],
}

impl Kernel for TurnTriangles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { loads, hinges, dots, sign, first, values } = self;
        let (sign, of) = (lanes.splat_four(sign), &hinges.of_triangle);
        for (batch, values) in values.chunks_mut(4).enumerate() {
            let own = lane_indices(first + 4 * batch, dots.len());
            let edges = [&of[own[0]], &of[own[1]], &of[own[2]], &of[own[3]]];
            let of_edges = [
                loads_of(lanes, loads, edges, 0),
                loads_of(lanes, loads, edges, 1),
                loads_of(lanes, loads, edges, 2),
            ];
            let loads = lanes.scaled(sign, &of_edges);
            let rates = edge_rates(lanes, &lanes.columns(|k| &dots[own[k]]), &loads);
            write_lanes(values, &lanes.rows(&rates));
        }
    }
}

/// Loads of one edge of each of four triangles, given their hinges.
#[inline(always)]
fn loads_of<L: Lanes>(lanes: L, loads: &[f64], edges: [&[u32; 3]; 4], edge: usize) -> L::Four {
    let [a, b, c, d] = edges;
    let places = [a[edge] as usize, b[edge] as usize, c[edge] as usize, d[edge] as usize];
    lanes.gather_four(&places, loads)
}

/// Finds the rates of the edges of some triangles whose vertices move.
struct TriangleRates<'a> {
    angles: &'a HingeAngles,
    direction: &'a [Vec3],
    first: usize,
    values: &'a mut [[f64; 3]],
}

impl Kernel for TriangleRates<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { angles, direction, first, values } = self;
        let HingeAngles { triangles, normals, dots, .. } = angles;
        for (batch, values) in values.chunks_mut(4).enumerate() {
            let own = lane_indices(first + 4 * batch, triangles.len());
            let corner = |c: usize| lanes.vectors(|k| &direction[triangles[own[k]][c] as usize]);
            let (p0, p1, p2) = (corner(0), corner(1), corner(2));
            let normal = lanes.vectors(|k| &normals[own[k]]);
            let first = lanes.dot(&normal, &lanes.vectors_between(&p1, &p0));
            let second = lanes.dot(&normal, &lanes.vectors_between(&p2, &p0));
            let heights = [lanes.splat_four(0.0), first, second];
            let rates = edge_rates(lanes, &lanes.columns(|k| &dots[own[k]]), &heights);
            write_lanes(values, &lanes.rows(&rates));
        }
    }
}

/// t of the three edges of four triangles for the heights s of the corners; being symmetric, the transposed map as well.
/// (It is the cotangent Laplacian of the triangle times 2|N|.)
#[inline(always)]
fn edge_rates<L: Lanes>(lanes: L, dots: &[L::Four; 3], heights: &[L::Four; 3]) -> [L::Four; 3] {
    let rate = |own: usize, next: usize, last: usize| {
        let from_last = lanes.minus(heights[own], heights[last]);
        let from_next = lanes.minus(heights[own], heights[next]);
        lanes.two_products([dots[next], from_last], [dots[last], from_next])
    };
    [rate(0, 1, 2), rate(1, 2, 0), rate(2, 0, 1)]
}
