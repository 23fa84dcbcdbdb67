// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strains and forces of triangles, four at a time.

use super::{CornerForces, Strain, Tension, TriangleTangent, buckling::stress, laws::TriangleLaw};
use crate::{
    mesh::ShapeGradients,
    parallel::reductions,
    simd::{Kernel, Lanes, dispatch, four_from, lane_indices, write_lanes},
    vec3::Vec3,
};
use rayon::prelude::*;

/// Triangles that are worth a task of their own.
const MIN_PER_TASK: usize = reductions::MIN_ELEMENTS_PER_TASK;

/// Triangles at rest.
#[derive(Clone, Copy)]
pub(super) struct TriangleBatch<'a> {
    pub(super) triangles: &'a [[u32; 3]],
    pub(super) gradients: &'a [ShapeGradients],
    pub(super) areas: &'a [f64],
}

impl TriangleBatch<'_> {
    /// Computes stresses, and forces at the second and third corners. Returns the potential, in J.
    pub(super) fn evaluate(
        &self,
        positions: &[Vec3],
        stresses: &mut [Strain],
        corner_forces: &mut [CornerForces],
        law: &(impl TriangleLaw + Sync),
    ) -> f64 {
        let chunks =
            stresses.par_chunks_mut(MIN_PER_TASK).zip(corner_forces.par_chunks_mut(MIN_PER_TASK));
        let potentials: Vec<f64> = chunks
            .enumerate()
            .map(|(chunk, (results, corner_forces))| {
                let (batch, first) = (*self, chunk * MIN_PER_TASK);
                dispatch(EvaluateTriangles { batch, positions, first, results, corner_forces, law })
            })
            .collect();
        potentials.iter().sum()
    }

    /// Writes the strains at `positions`.
    pub(super) fn measure(&self, positions: &[Vec3], strains: &mut [Strain]) {
        strains.par_chunks_mut(MIN_PER_TASK).enumerate().for_each(|(chunk, results)| {
            let (batch, first) = (*self, chunk * MIN_PER_TASK);
            dispatch(MeasureTriangles { batch, positions, first, results });
        });
    }

    /// Writes the tensions at `start`, or those predicted for a displacement to first order.
    pub(super) fn tensions(
        &self,
        at: StressPoint<'_>,
        results: &mut [Tension],
        law: &(impl TriangleLaw + Sync),
    ) {
        results.par_chunks_mut(MIN_PER_TASK).enumerate().for_each(|(chunk, results)| {
            let (batch, first) = (*self, chunk * MIN_PER_TASK);
            dispatch(Tensions { batch, at, first, results, law });
        });
    }
}

/// Where stresses are asked for.
#[derive(Clone, Copy)]
pub(super) enum StressPoint<'a> {
    /// At these positions, in m.
    At(&'a [Vec3]),
    /// After a displacement in m from a shape in m with its stresses in N/m, to first order.
    After { shape: &'a [Vec3], stresses: &'a [Strain], displacement: &'a [Vec3] },
}

/// Evaluates triangles from the first on; the output is their potential in J.
struct EvaluateTriangles<'a, Law> {
    batch: TriangleBatch<'a>,
    positions: &'a [Vec3],
    first: usize,
    results: &'a mut [Strain],
    corner_forces: &'a mut [CornerForces],
    law: &'a Law,
}

impl<Law: TriangleLaw> Kernel for EvaluateTriangles<'_, Law> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Self { batch, positions, first, results, corner_forces, law } = self;
        let mut sum = lanes.splat_four(0.0);
        let fours = results.chunks_mut(4).zip(corner_forces.chunks_mut(4)).enumerate();
        for (four, (results, corner_forces)) in fours {
            let first = first + 4 * four;
            let own = lane_indices(first, batch.triangles.len());
            let current = FourTriangles::new(lanes, &batch, &own, positions);
            let (stresses, potentials) = law.respond(lanes, &own, &current.strains(lanes));
            let areas = lanes.load_four(&four_from(batch.areas, first));
            sum = lanes.plus(sum, lanes.product(areas, potentials));
            write_lanes(results, &lanes.rows(&stresses));
            let [[a, b, c], [d, e, f]] = current.forces(lanes, &stresses, areas);
            let first = lanes.split_pairs(&[a, b]);
            let second = lanes.split_pairs(&[c, d]);
            let third = lanes.split_pairs(&[e, f]);
            let force = |k: usize| {
                let ([a, b], [c, d], [e, f]) = (first[k], second[k], third[k]);
                [[a, b, c], [d, e, f]]
            };
            write_lanes(corner_forces, &[force(0), force(1), force(2), force(3)]);
        }
        lanes.to_numbers(sum).iter().sum()
    }
}

/// Measures triangles from the first on.
struct MeasureTriangles<'a> {
    batch: TriangleBatch<'a>,
    positions: &'a [Vec3],
    first: usize,
    results: &'a mut [Strain],
}

impl Kernel for MeasureTriangles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { batch, positions, first, results } = self;
        for (four, results) in results.chunks_mut(4).enumerate() {
            let own = lane_indices(first + 4 * four, batch.triangles.len());
            let strains = FourTriangles::new(lanes, &batch, &own, positions).strains(lanes);
            write_lanes(results, &lanes.rows(&strains));
        }
    }
}

/// Computes tensions of triangles from the first on.
struct Tensions<'a, Law> {
    batch: TriangleBatch<'a>,
    at: StressPoint<'a>,
    first: usize,
    results: &'a mut [Tension],
    law: &'a Law,
}

impl<Law: TriangleLaw> Kernel for Tensions<'_, Law> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { batch, at, first, results, law } = self;
        for (four, results) in results.chunks_mut(4).enumerate() {
            let own = lane_indices(first + 4 * four, batch.triangles.len());
            let stress = match at {
                StressPoint::At(positions) => {
                    let now = FourTriangles::new(lanes, &batch, &own, positions);
                    law.respond(lanes, &own, &now.strains(lanes)).0
                }
                StressPoint::After { shape, stresses, displacement } => {
                    let now = FourTriangles::new(lanes, &batch, &own, shape);
                    let change = FourTriangles::new(lanes, &batch, &own, displacement);
                    let moduli = law.moduli(lanes, &own, &now.strains(lanes));
                    let step = stress(lanes, &moduli, &now.strain_rates(lanes, &change));
                    let before = lanes.columns(|k| &stresses[own[k]]);
                    lanes.vector_sums(&before, &step)
                }
            };
            write_lanes(results, &tensions(lanes, &batch, &own, &stress));
        }
    }
}

/// Parts of the stresses of four triangles that enter their tangents.
#[inline(always)]
fn tensions<L: Lanes>(
    lanes: L,
    batch: &TriangleBatch<'_>,
    own: &[usize; 4],
    stress: &[L::Four; 3],
) -> [Tension; 4] {
    let areas = lanes.gather_four(own, batch.areas);
    let parts = lanes.rows(&lanes.scaled(areas, &tensile_parts(lanes, stress)));
    parts.map(|part| part.map(|number| number as f32))
}

/// [`tensile_part`](super::tensile_part) of four stresses.
#[inline(always)]
fn tensile_parts<L: Lanes>(lanes: L, stress: &[L::Four; 3]) -> [L::Four; 3] {
    let [s11, s22, s12] = *stress;
    let (zero, one) = (lanes.splat_four(0.0), lanes.splat_four(1.0));
    let in_half = |a: L::Four| lanes.product(lanes.splat_four(0.5), a);
    let (mean, half) = (in_half(lanes.plus(s11, s22)), in_half(lanes.minus(s11, s22)));
    let radius = lanes.root(lanes.two_products([half, half], [s12, s12]));
    let value = in_half(lanes.plus(mean, radius));
    let (cosine, sine) = (lanes.quotient(half, radius), lanes.quotient(s12, radius));
    let (more, less) = (lanes.plus(one, cosine), lanes.minus(one, cosine));
    let of_one = lanes.scaled(value, &[more, less, sine]);
    let compressive = lanes.negative(radius);
    let part = |k: usize| {
        let of_one = lanes.select_less(compressive, mean, of_one[k], zero);
        lanes.select_less(mean, radius, of_one, stress[k])
    };
    [part(0), part(1), part(2)]
}

/// Computes the tangents of triangles.
pub(super) struct Tangents<'a, Law> {
    pub(super) batch: TriangleBatch<'a>,
    /// Triangles to compute the tangents of.
    pub(super) members: &'a [u32],
    /// Positions, in m, and stresses there, in N/m.
    pub(super) shape: &'a [Vec3],
    pub(super) stresses: &'a [Strain],
    /// Predicted tensions of all triangles, in N·m.
    pub(super) predicted: Option<&'a [Tension]>,
    pub(super) law: &'a Law,
}

impl<Law: TriangleLaw> Kernel for Tangents<'_, Law> {
    type Output = Vec<TriangleTangent>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Vec<TriangleTangent> {
        let Self { batch, members, shape, stresses, predicted, law } = self;
        let mut tangents = vec![TriangleTangent::default(); members.len()];
        for (four, results) in tangents.chunks_mut(4).enumerate() {
            let places = lane_indices(4 * four, members.len());
            let own = places.map(|place| members[place] as usize);
            let now = FourTriangles::new(lanes, &batch, &own, shape);
            let tension = predicted.map_or_else(
                || tensions(lanes, &batch, &own, &lanes.columns(|k| &stresses[own[k]])),
                |list| own.map(|triangle| list[triangle]),
            );
            let areas = lanes.gather_four(&own, batch.areas);
            let [c11, c22, c12, c33] = law.moduli(lanes, &own, &now.strains(lanes));
            let plane = lanes.rows(&lanes.scaled(areas, &[c11, c22, c12]));
            let shear = lanes.to_numbers(lanes.product(areas, c33));
            let [su, sv] = &now.derivatives;
            let (su, sv) = (lanes.split_vectors(su), lanes.split_vectors(sv));
            for (k, result) in results.iter_mut().enumerate() {
                let [c11, c22, c12] = plane[k];
                let moduli = [c11 as f32, c22 as f32, c12 as f32, shear[k] as f32];
                let gradients = &batch.gradients[own[k]];
                *result = TriangleTangent::new(&[su[k], sv[k]], moduli, tension[k], gradients);
            }
        }
        tangents
    }
}

/// Four triangles.
struct FourTriangles<L: Lanes> {
    /// Gradients of the second and third corner along warp and weft, in 1/m.
    gradients: [[L::Four; 2]; 2],
    /// Derivatives of the position along warp and weft.
    derivatives: [[L::Four; 3]; 2],
}

impl<L: Lanes> FourTriangles<L> {
    #[inline(always)]
    fn new(lanes: L, batch: &TriangleBatch<'_>, own: &[usize; 4], positions: &[Vec3]) -> Self {
        let rest = |corner: usize| lanes.pairs(|k| &batch.gradients[own[k]][corner]);
        let gradients = [rest(0), rest(1)];
        let corner = |c: usize| lanes.vectors(|k| &positions[batch.triangles[own[k]][c] as usize]);
        let (x, y, z) = (corner(0), corner(1), corner(2));
        let derivative = |axis: usize, k: usize| {
            lanes.two_products(
                [lanes.minus(y[k], x[k]), gradients[0][axis]],
                [lanes.minus(z[k], x[k]), gradients[1][axis]],
            )
        };
        let derivatives = [
            [derivative(0, 0), derivative(0, 1), derivative(0, 2)],
            [derivative(1, 0), derivative(1, 1), derivative(1, 2)],
        ];
        Self { gradients, derivatives }
    }

    /// Green strains.
    #[inline(always)]
    fn strains(&self, lanes: L) -> [L::Four; 3] {
        let [su, sv] = &self.derivatives;
        let half = |square: L::Four| {
            lanes.product(lanes.splat_four(0.5), lanes.minus(square, lanes.splat_four(1.0)))
        };
        [half(lanes.dot(su, su)), half(lanes.dot(sv, sv)), lanes.dot(su, sv)]
    }

    /// Changes of strain to first order, with these changes of the position.
    #[inline(always)]
    fn strain_rates(&self, lanes: L, change: &Self) -> [L::Four; 3] {
        let ([su, sv], [du, dv]) = (&self.derivatives, &change.derivatives);
        let shear = lanes.plus(lanes.dot(su, dv), lanes.dot(sv, du));
        [lanes.dot(su, du), lanes.dot(sv, dv), shear]
    }

    /// Forces at the second and third corner.
    #[inline(always)]
    fn forces(&self, lanes: L, stresses: &[L::Four; 3], areas: L::Four) -> [[L::Four; 3]; 2] {
        let [su, sv] = &self.derivatives;
        let against = lanes.negative(areas);
        let [s11, s22, s12] = lanes.scaled(against, stresses);
        let warp = lanes.vector_sums(&lanes.scaled(s11, su), &lanes.scaled(s12, sv));
        let weft = lanes.vector_sums(&lanes.scaled(s22, sv), &lanes.scaled(s12, su));
        let [[a, b], [c, d]] = self.gradients;
        [
            lanes.vector_sums(&lanes.scaled(a, &warp), &lanes.scaled(b, &weft)),
            lanes.vector_sums(&lanes.scaled(c, &warp), &lanes.scaled(d, &weft)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        forces::{Membrane, StrainHistory, membrane::tensile_part},
        material::Material,
        scene::Cloth,
    };

    struct Parts([Strain; 4]);

    impl Kernel for Parts {
        type Output = [Strain; 4];

        fn run<L: Lanes>(self, lanes: L) -> [Strain; 4] {
            lanes.rows(&tensile_parts(lanes, &lanes.columns(|k| &self.0[k])))
        }
    }

    #[test]
    fn four_stresses_have_the_tensile_parts_of_one() {
        let values = [-3.0, -0.5, 0.0, 0.2, 4.0];
        let all = values.iter().flat_map(|a| values.map(|b| (*a, b)));
        for (s11, s22) in all {
            let stresses = [-1.0, 0.0, 0.3, 2.0].map(|s12| [s11, s22, s12]);
            let wanted = stresses.map(|stress| tensile_part(&stress));
            for (found, wanted) in dispatch(Parts(stresses)).iter().zip(&wanted) {
                for (found, wanted) in found.iter().zip(wanted) {
                    assert!((found - wanted).abs() < 1e-15, "{found} {wanted}");
                }
            }
        }
    }

    /// A stretched and sheared shape of three triangles: not a multiple of four.
    #[test]
    fn the_stress_at_a_shape_is_that_of_its_evaluation_without_viscosity() {
        let material = Material::default();
        let cloth = Cloth::of_three_triangles(material.clone());
        let (mesh, flat) = (&cloth.mesh, &cloth.positions);
        let shape: Vec<Vec3> =
            flat.iter().map(|x| Vec3::new(1.02 * x.x + 0.1 * x.y, 0.99 * x.y, x.x)).collect();
        let mut membrane = Membrane::new(mesh, &[material]);
        let count = membrane.triangle_count();
        let (mut strains, mut forces) = (vec![[0.0; 3]; count], vec![Vec3::zeros(); flat.len()]);
        membrane.strains(flat, &mut strains);
        let history = StrainHistory { reference: strains.as_slice(), inverse_beta: 0.0 };
        membrane.evaluate(&shape, history, &mut forces);
        let (mut found, mut wanted) = (vec![[0.0; 3]; count], vec![[1.0; 3]; count]);
        membrane.predict_stress(&vec![Vec3::zeros(); flat.len()], &mut wanted);
        membrane.elastic_stress(&shape, &mut found);
        assert!(found == wanted && found.iter().flatten().any(|tension| *tension > 0.0));
    }
}
