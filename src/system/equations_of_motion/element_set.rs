// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements of all cloths: the cloth model, seams and springs.

use crate::{
    forces::{ElasticEnergy, Elements, Springs, StrainHistory, springs},
    mesh::Mesh,
    parallel::BufferPool,
    time_integration::{ClothInternalVariables, KinematicState, Measures, Stage},
    vec3::Vec3,
};

/// Elements of all cloths.
pub(crate) struct ElementSet {
    /// Elements of the cloth model, of seams and of springs, by kind.
    pub(crate) kinds: Vec<Box<dyn Elements>>,
    /// Springs of each cloth; their elements are the last kind.
    pub(crate) springs: Vec<Option<Springs>>,
    /// Number of changes of the stiffness: of materials, and of seams while they close.
    pub(crate) stiffness_revision: u64,
    /// Measures of the present and of the previous state, where they have been computed.
    pub(super) cached_measures: [Option<Measures>; 2],
    pub(crate) buffers: BufferPool<Measures>,
}

impl ElementSet {
    /// Elements of the cloth model and of seams, without springs.
    pub(super) fn new(kinds: Vec<Box<dyn Elements>>) -> Self {
        Self {
            kinds,
            springs: Vec::new(),
            stiffness_revision: 0,
            cached_measures: [None, None],
            buffers: BufferPool::new(1),
        }
    }

    /// Number of kinds of elements but for springs, which have no internal variables.
    fn fabric_kind_count(&self) -> usize {
        self.kinds.len() - usize::from(self.springs.iter().any(Option::is_some))
    }

    /// Replaces the springs of all cloths, one entry for each.
    pub(crate) fn set_springs(&mut self, mesh: &Mesh, of_cloths: Vec<Option<Springs>>) {
        self.kinds.truncate(self.fabric_kind_count());
        self.kinds.extend(springs(of_cloths.iter().map(Option::as_ref), mesh));
        self.springs = of_cloths;
        self.record_change();
    }

    /// Records a change of the stiffness.
    pub(super) fn record_change(&mut self) {
        self.stiffness_revision += 1;
        self.invalidate_measures();
    }

    /// Adds the forces at positions where the equations of a stage hold, in N. Returns their potential in J.
    pub(super) fn add_stage_forces(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        forces: &mut [Vec3],
    ) -> f64 {
        let mut potential = 0.0;
        for (elements, reference) in self.kinds.iter_mut().zip(&stage.base_measures) {
            elements.begin_stage(stage.duration / stage.extrapolation_factor);
            let inverse_beta = 1.0 / stage.beta;
            let history = StrainHistory { reference: reference.as_slice(), inverse_beta };
            potential += elements.evaluate(positions, history, forces);
        }
        potential
    }

    /// Adds the forces at a kinematic state `seconds` after the last step, in N, those of strain rates if it
    /// `is_viscous`.
    pub(super) fn add_forces(
        &mut self,
        state: &KinematicState,
        seconds: f64,
        is_viscous: bool,
        forces: &mut [Vec3],
    ) {
        let (references, inverse_beta) = self.rate_references(state, is_viscous);
        for (elements, reference) in self.kinds.iter_mut().zip(&references) {
            let history = StrainHistory { reference: reference.as_slice(), inverse_beta };
            elements.begin_stage(seconds);
            elements.evaluate(&state.positions, history, forces);
        }
    }

    /// Predicts for the first tangent of a stage the stresses at `start`, without viscosity. Those of its initial guess
    /// are dominated by the second-order stretch of vertices that were extrapolated along straight lines.
    pub(crate) fn carry_stress(&mut self, start: &[Vec3]) {
        for elements in self.kinds.iter_mut().filter(|one| one.carries_stress()) {
            elements.carry_stress(start);
        }
    }

    /// Takes the stresses where the forces were last evaluated for the first tangent, of elements that do not carry
    /// those of the start of the step; `zero` is a vector of all vertices.
    pub(crate) fn take_stress_of_guess(&mut self, zero: &[Vec3]) {
        for elements in self.kinds.iter_mut().filter(|one| !one.carries_stress()) {
            elements.predict_stress(zero);
        }
    }

    /// Predicts stresses along a displacement of the end of a stage, in m, see [`Elements::predict_stress`].
    pub(crate) fn predict_stress(&mut self, stage: &Stage, displacement: &[Vec3]) {
        let scaled: Vec<Vec3>;
        let displacement = if stage.extrapolation_factor > 1.0 {
            scaled = displacement.iter().map(|d| d / stage.extrapolation_factor).collect();
            &scaled
        } else {
            displacement
        };
        for elements in &mut self.kinds {
            elements.predict_stress(displacement);
        }
    }

    /// Makes the next tangent use predicted stresses, see [`Elements::use_predicted_stress`].
    pub(crate) fn use_predicted_stress(&mut self) {
        for elements in &mut self.kinds {
            elements.use_predicted_stress();
        }
    }

    /// Initializes the internal variables for positions that have been held for a long time.
    pub(crate) fn initialize_internal_variables(&mut self, positions: &[Vec3]) {
        for elements in &mut self.kinds {
            elements.start_history(positions);
        }
    }

    /// Updates the internal variables after a step of `duration` in s that ended at `positions`.
    pub(crate) fn update_internal_variables(&mut self, positions: &[Vec3], duration: f64) {
        self.stiffness_revision += u64::from(self.is_time_dependent());
        for elements in &mut self.kinds {
            elements.end_step(positions, duration);
        }
    }

    /// Whether the stiffness of any element changes with time.
    pub(crate) fn is_time_dependent(&self) -> bool {
        self.kinds.iter().any(|elements| elements.is_time_dependent())
    }

    /// Internal variables of the elements of each cloth.
    pub(crate) fn internal_variables(&self, mesh: &Mesh) -> Vec<ClothInternalVariables> {
        let mut of_cloths = vec![ClothInternalVariables::default(); mesh.cloth_count()];
        let kinds = self.kinds.iter().take(self.fabric_kind_count());
        for (kind, elements) in kinds.enumerate() {
            for (own, values) in of_cloths.iter_mut().zip(elements.internal_variables(mesh)) {
                own.set_kind(kind, values);
            }
        }
        of_cloths
    }

    /// Sets the internal variables of the elements of each cloth; none at all if the list is empty.
    pub(crate) fn set_internal_variables(
        &mut self,
        mesh: &Mesh,
        of_cloths: &[ClothInternalVariables],
    ) {
        if of_cloths.is_empty() {
            return;
        }
        let count = self.fabric_kind_count();
        for (kind, elements) in self.kinds.iter_mut().take(count).enumerate() {
            let values: Vec<&[f64]> = of_cloths.iter().map(|own| own.of_kind(kind)).collect();
            elements.set_internal_variables(mesh, &values);
        }
    }

    /// Resets the internal variables, so that a sudden change meets the full stiffness. Returns their former values.
    pub(crate) fn reset_internal_variables(&mut self, mesh: &Mesh) -> Vec<ClothInternalVariables> {
        let memories = self.internal_variables(mesh);
        for elements in &mut self.kinds {
            elements.clear_internal_variables();
            elements.begin_stage(0.0);
        }
        memories
    }

    /// Whether there is an entry for each cloth, of the lengths of the internal variables of its elements.
    pub(crate) fn internal_variables_fit(
        &self,
        mesh: &Mesh,
        of_cloths: &[ClothInternalVariables],
    ) -> bool {
        let kinds = self.kinds.iter().take(self.fabric_kind_count());
        let counts: Vec<_> = kinds.map(|kind| kind.internal_variable_counts(mesh)).collect();
        let fits = |(cloth, own): (usize, &ClothInternalVariables)| {
            let own_counts = counts.iter().map(|kind| kind.get(cloth).copied().unwrap_or(0));
            own.fit(&own_counts.collect::<Vec<usize>>())
        };
        of_cloths.len() == mesh.cloth_count() && of_cloths.iter().enumerate().all(fits)
    }

    /// Elastic energy at positions in m.
    pub(super) fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let mut elastic = ElasticEnergy::default();
        for elements in &self.kinds {
            elastic += elements.energy(positions);
        }
        elastic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        material::{ConstantQ, Curves, Hysteresis, Material},
        mesh::Polygons,
        scene::{Cloth, Model, Settings, Sewing},
        system::EquationsOfMotion,
    };

    const MODELS: [Model; 8] = [
        Model::Fem,
        Model::FemLinear,
        Model::FemBridson,
        Model::Particles,
        Model::ParticlesProjected,
        Model::BaraffWitkin,
        Model::ChoiKo,
        Model::MassSpring16,
    ];
    const STEP: f64 = 0.01;

    /// A sheet of two rows of quads.
    fn sheet(columns: usize, material: Material) -> Cloth {
        let side = columns + 1;
        let place = |vertex: usize| [vertex % side, vertex / side].map(|steps| 0.1 * steps as f64);
        let positions: Vec<Vec3> =
            (0..3 * side).map(place).map(|[x, y]| Vec3::new(x, y, 0.0)).collect();
        let corners = |quad: usize| {
            let first = quad / columns * side + quad % columns;
            [first, first + 1, first + side + 1, first + side]
        };
        let quads: Vec<usize> = (0..2 * columns).flat_map(corners).collect();
        let polygons = Polygons::new(&vec![4; quads.len() / 4], &quads, positions.len()).unwrap();
        Cloth::new(positions, &polygons, material, None, None).unwrap()
    }

    /// A sheet with hysteresis in shear and bending.
    fn slipping() -> Cloth {
        let cycle = |strain: f64, stress: f64| Hysteresis {
            load: vec![[-strain, -stress], [0.0, 0.1 * stress], [strain, stress]],
            unload: vec![[-strain, -stress], [0.0, -0.1 * stress], [strain, stress]],
            ..Hysteresis::default()
        };
        let bending = Some(cycle(20.0, 2.0e-3));
        let curves = Curves {
            shear: Some(cycle(0.3, 2.0)),
            bend_warp: bending.clone(),
            bend_weft: bending,
            ..Curves::NONE
        };
        let material = Material {
            shear: 25.0,
            bend_warp: 2.0e-4,
            bend_weft: 2.0e-4,
            curves,
            ..Material::default()
        };
        sheet(3, material.checked().unwrap())
    }

    /// A sheet that relaxes, with a seam.
    fn relaxing() -> Cloth {
        let quality = Some(ConstantQ { q: 8.0, low: 1.0, high: 100.0 });
        let mut cloth = sheet(2, Material { quality, ..Material::default() });
        cloth.sewing = Some(Sewing { pairs: vec![[0, 2], [3, 5]], time: 1.0, force: None });
        cloth
    }

    fn elastic() -> Cloth {
        sheet(1, Material::default())
    }

    /// Positions after a number of steps, the same for a cloth in every system.
    fn at(cloths: &[Cloth], step: u32) -> Vec<Vec3> {
        let moved = |(vertex, place): (usize, &Vec3)| {
            let phase = 1.7 * f64::from(step) + 2.3 * vertex as f64;
            place + Vec3::new(phase.sin(), phase.cos(), (2.0 * phase).sin()) * 0.02
        };
        cloths.iter().flat_map(|cloth| cloth.positions.iter().enumerate().map(moved)).collect()
    }

    /// System of cloths that have moved.
    fn moved(model: Model, cloths: &[Cloth]) -> EquationsOfMotion {
        let mut dynamics =
            EquationsOfMotion::new(cloths, &Settings { model, ..Settings::default() });
        dynamics.elements.initialize_internal_variables(&at(cloths, 0));
        for step in 1..5 {
            dynamics.elements.update_internal_variables(&at(cloths, step), STEP);
        }
        dynamics
    }

    fn variables(dynamics: &EquationsOfMotion) -> Vec<ClothInternalVariables> {
        dynamics.elements.internal_variables(&dynamics.mesh)
    }

    #[test]
    fn variables_are_those_of_the_cloth_alone() {
        let cloths = [elastic(), slipping(), relaxing()];
        for model in MODELS {
            let together = variables(&moved(model, &cloths));
            for (cloth, own) in cloths.iter().zip(&together) {
                let alone = moved(model, std::slice::from_ref(cloth));
                assert_eq!(variables(&alone).as_slice(), std::slice::from_ref(own), "{model:?}");
            }
            assert_ne!(together[1], together[2]);
            let none = ClothInternalVariables::default();
            assert_eq!(together[0] == none, model != Model::ParticlesProjected, "{model:?}");
            assert!(together[1] != none && together[2] != none, "{model:?}");
        }
    }

    #[test]
    fn variables_pass_to_a_system_of_other_cloths() {
        let (cloths, others) = (
            [elastic(), slipping(), relaxing()],
            [relaxing(), sheet(4, Material::default()), slipping()],
        );
        for model in MODELS {
            let mut first = moved(model, &cloths);
            let settings = Settings { model, ..Settings::default() };
            let mut second = EquationsOfMotion::new(&others, &settings);
            second.elements.initialize_internal_variables(&at(&others, 0));
            let (taken, own) = (variables(&first), variables(&second)[1].clone());
            let given = [taken[2].clone(), own.clone(), taken[1].clone()];
            let EquationsOfMotion { elements, mesh, .. } = &mut second;
            assert!(elements.internal_variables_fit(mesh, &given), "{model:?}");
            elements.set_internal_variables(mesh, &given);
            assert_eq!(variables(&second), given, "{model:?}");
            first.elements.update_internal_variables(&at(&cloths, 5), STEP);
            second.elements.update_internal_variables(&at(&others, 5), STEP);
            let (first, second) = (variables(&first), variables(&second));
            assert_eq!([&second[0], &second[2]], [&first[2], &first[1]], "{model:?}");
        }
    }

    #[test]
    fn variables_of_other_lengths_are_refused() {
        for model in MODELS {
            let dynamics = moved(model, &[elastic(), slipping(), relaxing()]);
            let own = variables(&dynamics);
            let fits = |given: &[ClothInternalVariables]| {
                dynamics.elements.internal_variables_fit(&dynamics.mesh, given)
            };
            assert!(fits(&own) && fits(&vec![ClothInternalVariables::default(); 3]), "{model:?}");
            let [a, b, c] = [0, 1, 2].map(|cloth: usize| own[cloth].clone());
            assert!(!fits(&own[..2]) && !fits(&[a.clone(), c.clone(), b.clone()]), "{model:?}");
            let mut longer = b.clone();
            longer.set_kind(0, vec![0.0; b.of_kind(0).len() + 1]);
            let mut of_other_kind = b.clone();
            of_other_kind.set_kind(7, vec![0.0]);
            for other in [longer, of_other_kind] {
                assert!(!fits(&[a.clone(), other, c.clone()]), "{model:?}");
            }
        }
    }

    #[test]
    fn a_cloth_that_was_inelastic_keeps_its_past_until_it_is_given_none() {
        for model in MODELS {
            let mut dynamics = moved(model, &[slipping(), relaxing()]);
            let before = variables(&dynamics);
            dynamics.set_material(0, Material::default());
            assert_eq!(variables(&dynamics), before, "{model:?}");
            let elastic = variables(&moved(model, &[sheet(3, Material::default()), relaxing()]));
            let EquationsOfMotion { elements, mesh, .. } = &mut dynamics;
            elements.set_internal_variables(mesh, &elastic);
            assert_eq!(variables(&dynamics), elastic, "{model:?}");
        }
    }
}
