// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inelastic bending: difference of the moments of triangles from those of the linear plate.
//!
//! The curvature κ of a triangle is linear in the φ of its edges (see `plate`), and so the linear moments are forms of
//! Dκ. Here the law of the material gives other moments for κ, and the forces of the difference are added: they
//! pass through the same P and ∂θ/∂x and are again exactly the gradient of the potential.

use super::{
    BendingLaw,
    angle::AngleAndChange,
    hinges::{Hinges, range_of_cloth},
    moment_passes::{MomentFactors, MomentPasses},
    stiffness::Stiffness,
};
use crate::{
    forces::inelastic::{DeformationMode, Inelastic, InternalVariables, any_has_memory, apply},
    material::{Material, PlateRigidity},
    mesh::Mesh,
    parallel::reductions,
    vec3::Vec3,
};
use rayon::prelude::*;

/// A triangle in bending.
#[derive(Clone, Copy, Debug, Default)]
struct PlateTriangle {
    /// Curvature by the φ of each edge, in 1/m.
    forms: [[f64; 3]; 3],
    /// Half of each edge in the list of φ.
    halves: [u32; 3],
    /// Area in m², times the factor on the rigidity.
    area: f64,
}

/// Difference of the inelastic response of a triangle from the linear one, at the last evaluation.
#[derive(Clone, Copy, Debug, Default)]
struct NonlinearPart {
    /// m of each edge more than the linear one.
    moments: [f64; 3],
}

/// All triangles in bending.
#[derive(Clone, Debug)]
pub(super) struct InelasticPlates {
    inelastic: Inelastic,
    members: Vec<PlateTriangle>,
    nonlinear_parts: Vec<NonlinearPart>,
    /// Angles from the rest shape at the end of the last step.
    angles: Vec<f64>,
}

impl InelasticPlates {
    fn new(
        mesh: &Mesh,
        hinges: &Hinges,
        laws: &[BendingLaw],
        scales: &[f64],
        materials: &[Material],
    ) -> Self {
        let inelastic =
            Inelastic::new(&[DeformationMode::Plate], materials, &mesh.cloth_of_triangle);
        let count = mesh.topology.triangles.len();
        let mut plates = Self {
            inelastic,
            members: vec![PlateTriangle::default(); count],
            nonlinear_parts: vec![NonlinearPart::default(); count],
            angles: vec![0.0; hinges.count()],
        };
        plates.set_forms(mesh, hinges, laws, scales);
        plates
    }

    /// Prepares the triangles that are not pinned. `scales` are factors on the rigidity of each; none where all are 1.
    pub(super) fn set_forms(
        &mut self,
        mesh: &Mesh,
        hinges: &Hinges,
        laws: &[BendingLaw],
        scales: &[f64],
    ) {
        for (triangle, plate) in self.members.iter_mut().enumerate() {
            let law = &laws[mesh.cloth_of_triangle[triangle] as usize];
            let mut forms = [[0.0; 3]; 3];
            if !hinges.is_pinned[triangle] {
                forms = curvature_forms(mesh, triangle, hinges.free_edges(triangle), &law.rigidity);
            }
            let halves = [0, 1, 2].map(|corner| {
                let hinge = hinges.of_triangle[triangle][corner];
                let slot = 3 * triangle as u32 + corner as u32;
                let is_right = hinges.slots.get(hinge as usize).is_some_and(|own| own[0] != slot);
                2 * hinge + u32::from(is_right)
            });
            let scale = scales.get(triangle).copied().unwrap_or(1.0);
            *plate = PlateTriangle { forms, halves, area: scale * mesh.rest.areas[triangle] };
        }
    }

    /// Adds the difference of the inelastic moments from the linear ones to `passes`. Returns the difference of the
    /// potentials, in J.
    pub(super) fn add_nonlinear_moments(
        &mut self,
        hinges: &Hinges,
        passes: &mut MomentPasses,
    ) -> f64 {
        let Self { inelastic, members, nonlinear_parts: corrections, .. } = self;
        let divided = passes.split_angles_of_sides();
        let potential = reductions::sum_zipped(
            members,
            corrections,
            reductions::MIN_ELEMENTS_PER_TASK,
            |triangle, plate, correction| {
                let curvature = plate.curvature(divided);
                let response = inelastic.respond(triangle, &curvature);
                let linear = apply(inelastic.law(triangle).linear(), &curvature);
                let beyond = [0, 1, 2].map(|k| response.stress[k] - linear[k]);
                let moments = plate.forms.map(|form| plate.area * dot(&form, &beyond));
                *correction = NonlinearPart { moments };
                plate.area * (response.potential() - 0.5 * dot(&curvature, &linear))
            },
        );
        passes.add_moments(hinges, |slot| corrections[slot / 3].moments[slot % 3]);
        potential
    }

    /// Recoverable energy in excess of that of the linear law, in J.
    pub(super) fn nonlinear_energy(&self, divided: &[AngleAndChange]) -> f64 {
        let one = |(triangle, plate): (usize, &PlateTriangle)| {
            let curvature = plate.curvature(divided);
            let law = self.inelastic.law(triangle);
            let stored = law.stored_energy(&curvature, self.inelastic.internal_variables(triangle));
            let linear = apply(law.linear(), &curvature);
            plate.area * (stored.iter().sum::<f64>() - 0.5 * dot(&curvature, &linear))
        };
        self.members.iter().enumerate().map(one).sum()
    }

    /// Curvatures for these angles from the rest shape.
    fn curvatures(&self, stiffness: &Stiffness, hinges: &Hinges, angles: &[f64]) -> Vec<[f64; 3]> {
        let mut passes = MomentPasses::new(hinges.count());
        passes.set_angles(angles);
        let factors = MomentFactors { hinges, stiffness, stabilisation: None };
        factors.side_moments(&mut passes, |_| [0.0; 4]);
        let divided = passes.split_angles_of_sides();
        self.members.par_iter().map(|plate| plate.curvature(divided)).collect()
    }

    /// Updates the measures of the shape at the end of the last step after a change of the pinned vertices.
    pub(super) fn remeasure(&mut self, stiffness: &Stiffness, hinges: &Hinges) {
        let curvatures = self.curvatures(stiffness, hinges, &self.angles);
        self.inelastic.set_strains(&curvatures);
    }
}

impl PlateTriangle {
    fn curvature(&self, divided: &[AngleAndChange]) -> [f64; 3] {
        let mut curvature = [0.0; 3];
        for (form, half) in self.forms.iter().zip(self.halves) {
            for (sum, coefficient) in curvature.iter_mut().zip(form) {
                *sum += coefficient * divided[half as usize][0];
            }
        }
        curvature
    }
}

/// Curvature of a triangle by the φ of each edge. `free` edges bend as costs least by the linear law.
fn curvature_forms(
    mesh: &Mesh,
    triangle: usize,
    free: [bool; 3],
    plate: &PlateRigidity,
) -> [[f64; 3]; 3] {
    let corners = mesh.rest.corners(triangle);
    let area = mesh.rest.areas[triangle];
    let moduli = [plate.d11, plate.d22, plate.d12, plate.d66];
    let mut forms = [0, 1, 2].map(|i| {
        let (j, k) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
        let (x, y) = (k[1] - j[1], j[0] - k[0]);
        let scale = 1.0 / (x.hypot(y) * area);
        [x * x * scale, y * y * scale, 2.0 * x * y * scale]
    });
    for edge in (0..3).filter(|edge| free[*edge]) {
        let freed = std::mem::take(&mut forms[edge]);
        let moment = apply(&moduli, &freed);
        let square = dot(&freed, &moment);
        if square > 0.0 {
            for form in &mut forms {
                let factor = dot(form, &moment) / square;
                *form = [0, 1, 2].map(|k| form[k] - factor * freed[k]);
            }
        }
    }
    forms
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl crate::forces::bending::Bending {
    /// Adds internal variables for inelastic materials. One material for each cloth.
    pub fn set_materials(&mut self, mesh: &Mesh, materials: &[Material]) {
        self.materials = materials.to_vec();
        if materials.iter().any(Material::is_inelastic) {
            self.plates = Some(self.new_plates(mesh));
        }
    }

    /// Another material for a cloth.
    pub fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material) {
        self.set_law(mesh, cloth, BendingLaw::from(material));
        self.materials[cloth] = material.clone();
        self.update_stabilisation(mesh, cloth);
        let Self { plates, hinges, laws, scales, .. } = self;
        if let Some(plates) = plates {
            plates.inelastic.set_material(cloth, material);
            plates.set_forms(mesh, hinges, laws, scales);
        } else if material.is_inelastic() {
            self.plates = Some(self.new_plates(mesh));
        }
    }

    fn new_plates(&self, mesh: &Mesh) -> InelasticPlates {
        InelasticPlates::new(mesh, &self.hinges, &self.laws, &self.scales, &self.materials)
    }

    /// Starts the material history at a shape: everything is relaxed there.
    pub fn start_history(&mut self, positions: &[Vec3]) {
        if self.plates.is_none() {
            return;
        }
        let angles = self.angle_deviations(positions);
        if let Some(plates) = &mut self.plates {
            plates.angles = angles;
            plates.remeasure(&self.stiffness, &self.hinges);
        }
    }

    /// Prepares for evaluations at the end of a stage, `duration` in s after the last accepted step.
    pub fn begin_stage(&mut self, duration: f64) {
        if let Some(plates) = &mut self.plates {
            plates.inelastic.begin_step(duration);
        }
    }

    /// Updates the internal variables after an accepted step of `duration` in s that ended at `positions`.
    pub fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        if self.plates.is_none() {
            return;
        }
        let angles = self.angle_deviations(positions);
        if let Some(plates) = &mut self.plates {
            let curvatures = plates.curvatures(&self.stiffness, &self.hinges, &angles);
            plates.inelastic.end_step(&curvatures, duration);
            plates.angles = angles;
        }
    }

    /// Internal variables of each cloth as a list of numbers: those of its triangles, then the angles of its hinges. Empty
    /// if its material has none; no lists if no material has any.
    pub(crate) fn internal_variables(&self, mesh: &Mesh) -> Vec<Vec<f64>> {
        let Some(plates) = &self.plates else { return Vec::new() };
        let mut of_cloths = plates.inelastic.values();
        for (cloth, values) in of_cloths.iter_mut().enumerate().filter(|(_, own)| !own.is_empty()) {
            values.extend(&plates.angles[self.hinges.range_of_cloth(mesh, cloth)]);
        }
        of_cloths
    }

    /// Length of each list of [`Self::internal_variables`] if it is not empty.
    pub(crate) fn internal_variable_counts(&self, mesh: &Mesh) -> Vec<usize> {
        let count = |cloth: usize| {
            let triangles = range_of_cloth(&mesh.cloth_of_triangle, |own| *own, cloth);
            triangles.len() * InternalVariables::COUNT
                + self.hinges.range_of_cloth(mesh, cloth).len()
        };
        (0..mesh.cloth_count()).map(count).collect()
    }

    /// Restores the internal variables from the lists of [`Self::internal_variables`], see [`Inelastic::set_values`].
    pub(crate) fn set_internal_variables(&mut self, mesh: &Mesh, of_cloths: &[&[f64]]) {
        let former = self.plates.take();
        if !any_has_memory(&self.materials, of_cloths) {
            return;
        }
        let mut plates = former.unwrap_or_else(|| self.new_plates(mesh));
        let mut of_triangles = of_cloths.to_vec();
        for (cloth, values) in
            of_triangles.iter_mut().enumerate().filter(|(_, own)| !own.is_empty())
        {
            let hinges = self.hinges.range_of_cloth(mesh, cloth);
            let (triangles, angles) = values.split_at(values.len() - hinges.len());
            plates.angles[hinges].copy_from_slice(angles);
            *values = triangles;
        }
        plates.inelastic.set_values(&of_triangles);
        plates.remeasure(&self.stiffness, &self.hinges);
        self.plates = Some(plates);
    }

    /// Whether tangents are those of sudden reversals.
    pub(crate) fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        if let Some(plates) = &mut self.plates {
            plates.inelastic.set_stiffest_tangent(is_stiffest);
        }
    }

    /// Resets all internal variables to 0.
    pub(crate) fn clear_internal_variables(&mut self) {
        if let Some(plates) = &mut self.plates {
            plates.inelastic.clear();
        }
    }

    /// Deviation of each hinge from its rest angle, in rad.
    pub(super) fn angle_deviations(&self, positions: &[Vec3]) -> Vec<f64> {
        let mut angles = vec![0.0; self.hinge_count()];
        self.angles(positions, &mut angles);
        for (angle, rest) in angles.iter_mut().zip(self.rest_angles.iter()) {
            *angle = crate::forces::bending::angle::wrap_angle(*angle - rest);
        }
        angles
    }
}
