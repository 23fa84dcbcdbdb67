// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stiffness against waves of two to four edges, which a mesh cannot carry.
//!
//! Linear triangles bend only along their edges: a fold that crosses them locks, and cloth comes to rest in zigzags of one
//! edge's length. They are curvature that changes from edge to edge. The two triangles of a hinge have five hinges, and a
//! constant curvature has three components; V holds what is left of their angles θ̂, two numbers for each
//! such patch that vanish for every constant curvature:
//!
//!   W = ½ Σ_e k_e w_e s_e²,  s_e = (VVᵀθ̂)_e/(w_e d_e),  w_e = l²/(A₁ + A₂),  k_e = max(0, c Y h² − B).
//!
//! s is the part of an angle that its surroundings do not share; d_e = Σ_f |(VVᵀ)_ef|/√(w_e w_f) keeps it below the largest
//! angle around, whatever the triangulation. On squares it falls with the square of the wave number, so that W vanishes
//! with the eighth power: along a grid line ¼ of k stiffens a wave of two edges, 6 % one of four and 0.5 % one of eight,
//! and the whole vanishes with refinement. That is a hyperviscosity for the shape at rest. With h² = A₁ + A₂, Y the
//! membrane modulus and B the bending rigidity (geometric means of warp and weft) fabrics on fine meshes have k = 0.
//! Being a function of hinge angles, W is invariant under rigid motion, and 0 at a curved rest shape.

use super::{
    Bending,
    four_hinges::{FIVE, Pair},
    geometric_correction::{HingePatch, patches},
    hinge_matrix::{HingeMatrix, Row},
    hinges::{AngleShare, Hinges},
};
use crate::{material::Material, mesh::Mesh, simd::Lanes};
use nalgebra::SVector;
use rayon::prelude::*;
use sprs::{CsMatI, TriMatI};

/// Heuristic parameters of the stabilisation.
struct StabilisationParameters {
    /// c: least bending rigidity of the shortest waves over Y h² (1). Effect: larger stiffens waves of more edges; smaller
    /// leaves zigzags. Evidence: sheets of cotton of 1 m on a ball, edges of 4 cm: correlation of neighbouring
    /// second differences −0.47 at 0, 0.22 at 10⁻³, 0.30 at 2·10⁻³; `test_a_sheet_on_a_ball_has_no_zigzags`.
    rigidity: f64,
    /// Least part of a curvature's angles in a patch that is not angles of the other curvatures (1). Effect: smaller
    /// amplifies rounding; larger leaves out patches of slivers. Evidence: none; a guard against rounding.
    min_independent_part: f64,
}

impl StabilisationParameters {
    const DEFAULT: Self = Self { rigidity: 2.0e-3, min_independent_part: 1.0e-3 };
}

/// Hinges of a patch: those of two triangles.
const PATCH_HINGES: usize = 5;

/// Angles of the hinges of a patch.
type PatchAngles = SVector<f64, PATCH_HINGES>;

/// The stabilisation of all cloths.
#[derive(Clone, Debug)]
pub(super) struct Stabilisation {
    /// Columns of V: of each hinge, for both deviations of its patch.
    deviations: [HingeMatrix; 2],
    /// 1/(w_e d_e²) of each hinge.
    normalisation: Vec<f64>,
    /// k_e/(w_e d_e²) of four hinges at a time, in N·m; past the last 0.
    pub(super) stiffness: Vec<[f64; 4]>,
    /// Whether any of it is not 0.
    is_active: bool,
    /// Factor on the membrane modulus of each triangle; empty where all are 1.
    stretch_scales: Vec<f64>,
}

impl Stabilisation {
    fn new(mesh: &Mesh, hinges: &Hinges, stretch_scales: Vec<f64>) -> Self {
        let edges = mesh.topology.edges.iter().filter(|edge| !edge.is_boundary());
        let weight =
            |(hinge, edge)| mesh.rest.edge_length(edge).powi(2) / area_beside(mesh, hinges, hinge);
        let weights: Vec<f64> = edges.enumerate().map(weight).collect();
        let rows: Vec<[Row; 2]> = patches(mesh, hinges)
            .into_par_iter()
            .map(|patch| deviation_rows(&patch, hinges, &weights))
            .collect();
        let [first, second] =
            [0, 1].map(|k| rows.iter().map(|pair| pair[k].clone()).collect::<Vec<_>>());
        let normalisation = (0..hinges.count())
            .into_par_iter()
            .map(|hinge| normalisation(hinge, hinges, &rows, &weights))
            .collect();
        Self {
            deviations: [HingeMatrix::new(hinges, &first), HingeMatrix::new(hinges, &second)],
            stiffness: vec![[0.0; 4]; hinges.count().div_ceil(4)],
            is_active: false,
            normalisation,
            stretch_scales,
        }
    }

    /// Sets the stiffness of the hinges of a cloth.
    fn set_material(
        &mut self,
        mesh: &Mesh,
        hinges: &Hinges,
        cloth: usize,
        material: &Material,
        bend_scales: &[f64],
    ) {
        let modulus = (material.stretch_warp * material.stretch_weft).sqrt();
        let rigidity = (material.bend_warp * material.bend_weft).sqrt();
        for hinge in hinges.range_of_cloth(mesh, cloth) {
            let mean = |scales: &[f64]| {
                let of = hinges.slots[hinge]
                    .map(|slot| scales.get(slot as usize / 3).copied().unwrap_or(1.0));
                0.5 * (of[0] + of[1])
            };
            let least = StabilisationParameters::DEFAULT.rigidity
                * mean(&self.stretch_scales)
                * modulus
                * area_beside(mesh, hinges, hinge);
            let missing = (least - mean(bend_scales) * rigidity).max(0.0);
            self.stiffness[hinge / 4][hinge % 4] = missing * self.normalisation[hinge];
        }
        self.is_active = self.stiffness.as_flattened().iter().any(|stiffness| *stiffness > 0.0);
    }

    /// VVᵀ of the angles that `rates` gives, one row for each hinge.
    pub(super) fn deviation_matrix(
        &self,
        hinges: &Hinges,
        rates: &CsMatI<f64, u32>,
    ) -> CsMatI<f64, u32> {
        let count = hinges.count();
        let mut sum: CsMatI<f64, u32> = CsMatI::zero((count, rates.cols()));
        for own in &self.deviations {
            let mut entries = TriMatI::new((count, count));
            for hinge in 0..count {
                for (column, value) in own.entries_of_row(hinge, &hinges.neighbours[hinge]) {
                    if value != 0.0 {
                        entries.add_triplet(hinge, column as usize, value);
                    }
                }
            }
            let deviations: CsMatI<f64, u32> = entries.to_csr();
            let transposed: CsMatI<f64, u32> = deviations.transpose_view().to_csr();
            let product: CsMatI<f64, u32> = &transposed * &(&deviations * rates);
            sum = &sum + &product;
        }
        sum
    }

    /// Whether any hinge is stiffened.
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Stiffness of a hinge, k_e/(w_e d_e²), in N·m.
    pub(super) fn stiffness_of(&self, hinge: usize) -> f64 {
        self.stiffness[hinge / 4][hinge % 4]
    }

    /// Vᵀ times numbers of the hinges: both deviations of the patches of four hinges, for the numbers `near` them.
    #[inline(always)]
    pub(super) fn deviations<L: Lanes>(
        &self,
        lanes: L,
        batch: usize,
        near: &[L::Four; FIVE],
        value: impl Fn(usize) -> f64,
    ) -> [L::Four; 2] {
        let [first, second] = &self.deviations;
        [first.rows(lanes, batch, near, &value), second.rows(lanes, batch, near, &value)]
    }

    /// V times deviations of the patches, at four hinges, for those of the patches near them.
    #[inline(always)]
    pub(super) fn gathered<L: Lanes>(
        &self,
        lanes: L,
        batch: usize,
        [one, other]: &[[L::Four; FIVE]; 2],
        deviations: &[Pair],
    ) -> L::Four {
        let [first, second] = &self.deviations;
        lanes.plus(
            first.columns(lanes, batch, one, |f| deviations[f][0]),
            second.columns(lanes, batch, other, |f| deviations[f][1]),
        )
    }
}

/// Area of the triangles at a hinge, in m².
fn area_beside(mesh: &Mesh, hinges: &Hinges, hinge: usize) -> f64 {
    hinges.slots[hinge].map(|slot| mesh.rest.areas[slot as usize / 3]).iter().sum()
}

/// Columns of V of a patch: √w times an orthonormal basis of all √w θ̂ that are no constant curvature. Where the angles
/// do not determine the curvature there is none.
fn deviation_rows(patch: &HingePatch, hinges: &Hinges, weights: &[f64]) -> [Row; 2] {
    let root = |hinge: u32| {
        let takes_part = hinges.angle_shares[hinge as usize] != AngleShare::Idle;
        if takes_part { weights[hinge as usize].sqrt() } else { 0.0 }
    };
    let mut basis: Vec<PatchAngles> = Vec::with_capacity(PATCH_HINGES);
    for component in 0..3 {
        let mut angles = PatchAngles::zeros();
        for (place, (hinge, form)) in patch.hinges.iter().zip(&patch.angles).enumerate() {
            angles[place] = root(*hinge) * form[component];
        }
        let least = StabilisationParameters::DEFAULT.min_independent_part * angles.norm();
        let rest = orthogonal_part(&angles, &basis);
        if rest.norm() <= least {
            return [Row::new(), Row::new()];
        }
        basis.push(rest.normalize());
    }
    let is_free = |place: &usize| patch.hinges.get(*place).is_some_and(|h| root(*h) > 0.0);
    let places: Vec<usize> = (0..PATCH_HINGES).filter(is_free).collect();
    [(); 2].map(|()| {
        if basis.len() >= places.len() {
            return Row::new();
        }
        let units = places.iter().map(|place| {
            let mut unit = PatchAngles::zeros();
            unit[*place] = 1.0;
            orthogonal_part(&unit, &basis)
        });
        let largest = |a: PatchAngles, b: PatchAngles| if b.norm() > a.norm() { b } else { a };
        let deviation = units.fold(PatchAngles::zeros(), largest).normalize();
        basis.push(deviation);
        let entry = |(place, hinge): (usize, &u32)| (*hinge, root(*hinge) * deviation[place]);
        patch.hinges.iter().enumerate().map(entry).collect()
    })
}

/// What of a vector is orthogonal to a basis; projected twice because of rounding.
fn orthogonal_part(vector: &PatchAngles, basis: &[PatchAngles]) -> PatchAngles {
    let mut rest = *vector;
    for member in basis.iter().chain(basis) {
        rest -= member * member.dot(&rest);
    }
    rest
}

/// 1/(w_e d_e²) of a hinge.
fn normalisation(hinge: usize, hinges: &Hinges, rows: &[[Row; 2]], weights: &[f64]) -> f64 {
    let mut products: Vec<(u32, f64)> = Vec::new();
    let around = hinges.neighbours[hinge].map(|half| half as usize / 2);
    for row in std::iter::once(hinge).chain(around).filter_map(|f| rows.get(f)).flatten() {
        let Some((_, own)) = row.iter().find(|(member, _)| *member as usize == hinge) else {
            continue;
        };
        for (member, value) in row {
            match products.iter_mut().find(|(known, _)| known == member) {
                Some((_, sum)) => *sum += own * value,
                None => products.push((*member, own * value)),
            }
        }
    }
    let weight = weights[hinge];
    let ratio = |f: u32| weight / weights[f as usize];
    let sum: f64 = products.iter().map(|(f, product)| product.abs() * ratio(*f).sqrt()).sum();
    let bound = sum / weight;
    if bound > 0.0 { 1.0 / (weight * bound.powi(2)) } else { 0.0 }
}

impl Bending {
    /// Stiffens waves of two to four edges where the materials of [`Self::set_materials`] are too limp for the mesh.
    /// `stretch_scales` are factors on the membrane modulus of each triangle; none where all are 1.
    pub fn stabilise(&mut self, mesh: &Mesh, stretch_scales: Vec<f64>) {
        self.stabilisation = Some(Stabilisation::new(mesh, &self.hinges, stretch_scales));
        for cloth in 0..self.materials.len() {
            self.update_stabilisation(mesh, cloth);
        }
    }

    /// Follows a change of the material of a cloth.
    pub(super) fn update_stabilisation(&mut self, mesh: &Mesh, cloth: usize) {
        let Self { stabilisation, hinges, materials, scales, .. } = self;
        if let Some(stabilisation) = stabilisation {
            stabilisation.set_material(mesh, hinges, cloth, &materials[cloth], scales);
        }
    }

    /// Follows a change of the pinned triangles.
    pub(super) fn rebuild_stabilisation(&mut self, mesh: &Mesh) {
        if let Some(stabilisation) = self.stabilisation.take() {
            self.stabilise(mesh, stabilisation.stretch_scales);
        }
    }
}
