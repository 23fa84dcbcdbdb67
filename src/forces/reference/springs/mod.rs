// SPDX-License-Identifier: MIT OR Apache-2.0
//! Masses and springs: the models of Provot and Cords, and of Choi and Ko.
//!
//! `layout` has the springs of a mesh, `constants` their stiffness, `law` and `buckling` their forces. All forces act
//! along the springs, viscous ones as well: Cords 2004, eq. 4.37. (The damping −k_d(v_i − v_j) of Hayler 2004, eq. 3.6,
//! also resists rigid rotations of the cloth, and does not conserve angular momentum.) k_d is τ times the stiffness.
//!
//! The tangent of a spring with the direction n and the tension f is k nnᵀ + (f/l)(1 − nnᵀ), the second part without
//! compression (misprinted in Hayler, eq. 3.13 and 3.14, and in Cords 2004); f is the *predicted* tension, as in
//! [`crate::forces::membrane::Membrane`].
//!
//! `inelastic` has the springs of materials with measured curves or with memory.

mod buckling;
mod constants;
mod inelastic;
mod law;
mod layout;

use crate::{
    forces::{
        Strain,
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        inelastic::{Inelastic, MaterialHistory, UniaxialElement},
        model_input::{ModelInput, mean_scale},
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::Mesh,
    parallel::reductions,
    vec3::Vec3,
};
use constants::SpringModel;
use law::{SpringLaw, SpringResponse};
use layout::{Spring, SpringKind};
use nalgebra::Matrix3;
use rayon::prelude::*;

/// Linear structural, shear and bend springs (Provot 1995, Cords 2004), with bend springs along the diagonals of
/// grids as well where `has_diagonals`: 16 neighbours.
#[must_use]
pub fn mass_spring(input: &ModelInput<'_>, has_diagonals: bool) -> Vec<Box<dyn Elements>> {
    let springs = layout::springs(input, has_diagonals);
    vec![Box::new(Springs::new(input, SpringModel::MassSpring { has_diagonals }, springs))]
}

/// Stretch springs that only pull, and beams in place of bend springs that buckle as soon as they are pushed (Choi and
/// Ko 2002, as in Hayler 2004).
#[must_use]
pub fn choi_ko(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    vec![Box::new(Springs::new(input, SpringModel::ChoiKo, layout::springs(input, false)))]
}

/// Heuristic parameters of mass-spring models.
struct SpringParameters {
    /// Smallest length of a spring in the transverse stiffness (fraction of its length at rest). Effect: larger softens
    /// crushed springs across; smaller makes the tangent of crushed springs larger. Evidence: no scene or test changes
    /// with 10⁻⁹; kept as a guard against division by 0.
    min_length_ratio: f64,
    /// Smallest length of a bend spring (root of the area it represents); shorter ones are left out. They connect sides
    /// of cloth that is folded onto itself at rest: without a lever arm their stiffness is 10⁸ times that of flat
    /// cloth, or infinite. Effect: larger leaves out springs of sharp folds at rest; smaller admits nearly infinite
    /// stiffness. Evidence: no scene or test changes with 0; kept as a guard against division by 0.
    min_bend_spring_length: f64,
}

impl SpringParameters {
    const DEFAULT: Self = Self { min_length_ratio: 0.05, min_bend_spring_length: 0.01 };
}

/// A spring at its current length.
#[derive(Clone, Copy, Debug, Default)]
struct SpringShape {
    direction: Vec3,
    length: f64,
    /// Tension with viscosity, in N.
    tension: f64,
    /// Derivative of the tension, in N/m.
    stiffness: f64,
    /// Tension in the geometric part of the tangent, in N.
    tangent_tension: f64,
    predicted_tension: f64,
}

#[derive(Clone, Debug)]
struct Springs {
    model: SpringModel,
    materials: Vec<Material>,
    members: Vec<Spring>,
    /// The law of each spring, and the coefficient of its viscosity in N·s/m.
    laws: Vec<(SpringLaw, f64)>,
    /// Law of each spring in inelastic materials.
    uniaxial_elements: Vec<UniaxialElement>,
    history: MaterialHistory,
    loads: ElementLoads<2>,
    shapes: Vec<SpringShape>,
    /// Diagonal block of each spring.
    tangents: Vec<BlockColumns>,
}

impl Springs {
    fn new(input: &ModelInput<'_>, model: SpringModel, springs: Vec<Spring>) -> Self {
        let vertices = springs.iter().map(|spring| spring.vertices).collect();
        let material = |spring: &Spring| &input.materials[spring.cloth as usize];
        let law = |spring: &Spring| law_of(model, spring, material(spring));
        let laws: Vec<(SpringLaw, f64)> = springs.iter().map(law).collect();
        let each = springs.iter().zip(&laws);
        let element = |(spring, law): (&Spring, &(SpringLaw, f64))| {
            inelastic::uniaxial_element(spring, &law.0, material(spring))
        };
        Self {
            model,
            materials: input.materials.to_vec(),
            uniaxial_elements: each.map(element).collect(),
            laws,
            history: inelastic::material_history(&springs, input.materials),
            loads: ElementLoads::new(vertices, input.mesh.vertex_count()),
            shapes: vec![SpringShape::default(); springs.len()],
            tangents: vec![BlockColumns::default(); springs.len()],
            members: springs,
        }
    }

    /// Updates the laws of some springs.
    fn set_laws(&mut self, is_affected: impl Fn(&Spring) -> bool) {
        let own = self.laws.iter_mut().zip(&mut self.uniaxial_elements);
        for (spring, (law, element)) in self.members.iter().zip(own) {
            if is_affected(spring) {
                let material = &self.materials[spring.cloth as usize];
                *law = law_of(self.model, spring, material);
                *element = inelastic::uniaxial_element(spring, &law.0, material);
            }
        }
    }

    /// Updates the shapes and loads of all springs at `positions` and returns the potential in J; `respond` is the law
    /// of a spring at a length.
    fn evaluate_by(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        respond: impl Fn(usize, &Spring, &SpringLaw, f64) -> SpringResponse + Sync,
    ) -> f64 {
        let (springs, laws) = (&self.members, &self.laws);
        let one = |index: usize, shape: &mut SpringShape, loads: &mut [Vec3; 2]| {
            let (spring, (law, viscosity)) = (&springs[index], &laws[index]);
            let span = span(spring, positions);
            let length = span.norm();
            let direction = span / length.max(f64::MIN_POSITIVE);
            let elastic = respond(index, spring, law, length);
            let change = length - history.reference.get(index).unwrap_or(&length);
            let damping = viscosity * history.inverse_beta;
            let tension = elastic.force + damping * change;
            *shape = SpringShape {
                direction,
                length,
                tension,
                stiffness: elastic.stiffness + damping,
                tangent_tension: tension,
                predicted_tension: shape.predicted_tension,
            };
            *loads = [direction * tension, direction * -tension];
            elastic.energy + 0.5 * damping * change * change
        };
        let (shapes, loads) = (&mut self.shapes, &mut self.loads.forces);
        reductions::sum_zipped(shapes, loads, reductions::MIN_ELEMENTS_PER_TASK, one)
    }
}

fn law_of(model: SpringModel, spring: &Spring, material: &Material) -> (SpringLaw, f64) {
    let law = spring.properties.map_or_else(
        || model.law(spring, material),
        |factors| model.law(spring, &material.with_stiffness_factors(factors)),
    );
    let time = match spring.kind {
        SpringKind::Structural => material.stretch_damping,
        SpringKind::Shear => material.shear_damping,
        _ => material.bend_damping,
    };
    (law, time * law.viscous_stiffness(spring.rest()))
}

impl AddBlock<2> for Springs {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        add_scaled(block, if i == j { 1.0 } else { -1.0 }, &self.tangents[element]);
    }
}

impl Elements for Springs {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        2
    }

    fn measure_count(&self) -> usize {
        self.members.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        let each = (measures, &self.members).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
            .for_each(|(length, spring)| *length = span(spring, positions).norm());
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        let material_history = std::mem::take(&mut self.history);
        let elements = std::mem::take(&mut self.uniaxial_elements);
        let potential = match material_history.inelastic() {
            None => self.evaluate_by(positions, history, |_, spring, law, length| {
                law.respond(length, spring.rest())
            }),
            Some(inelastic) => {
                self.evaluate_by(positions, history, |index, spring, law, length| {
                    let element = &elements[index];
                    inelastic::respond(spring, law, element, inelastic, index, length)
                })
            }
        };
        (self.history, self.uniaxial_elements) = (material_history, elements);
        self.loads.gather(forces);
        potential
    }

    fn predict_stress(&mut self, direction: &[Vec3]) {
        let each = (&mut self.shapes, &self.members).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(shape, spring)| {
            let elongation = shape.direction.dot(&span(spring, direction));
            shape.predicted_tension = shape.tension + shape.stiffness * elongation;
        });
    }

    fn use_predicted_stress(&mut self) {
        for shape in &mut self.shapes {
            shape.tangent_tension = shape.predicted_tension;
        }
    }

    fn update_tangent(&mut self) {
        let each = (&mut self.tangents, &self.shapes, &self.members).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(
            |(tangent, shape, spring)| {
                let min_length = SpringParameters::DEFAULT.min_length_ratio * spring.length;
                let transverse = shape.tangent_tension.max(0.0) / shape.length.max(min_length);
                let axial = shape.stiffness - transverse;
                let dyad = shape.direction * shape.direction.transpose();
                *tangent = columns(&(dyad * axial + Matrix3::identity() * transverse));
            },
        );
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, 2>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let mut energy = ElasticEnergy::default();
        for (index, (spring, (law, _))) in self.members.iter().zip(&self.laws).enumerate() {
            let length = span(spring, positions).norm();
            let stored = self.history.inelastic().map_or_else(
                || law.respond(length, spring.rest()).energy,
                |inelastic| {
                    let element = &self.uniaxial_elements[index];
                    inelastic::stored_energy(spring, law, element, inelastic, index, length)
                },
            );
            match spring.kind {
                SpringKind::Structural => energy.stretch += stored,
                SpringKind::Shear => energy.shear += stored,
                _ => energy.bend += stored,
            }
        }
        energy
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.materials[cloth] = material.clone();
        self.set_laws(|spring| spring.cloth as usize == cloth);
        self.history.set_material(cloth, material);
    }

    fn set_rest_scale(&mut self, _mesh: &Mesh, scale: &[[f64; 2]]) {
        for spring in &mut self.members {
            spring.set_scale(mean_scale(scale, &spring.vertices));
        }
        // Beams buckle at a length of their own.
        self.set_laws(|_| true);
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        let Self { history, members, laws, uniaxial_elements, .. } = self;
        history.start(|| {
            let measures = members.iter().zip(laws).map(|(spring, (law, _))| {
                inelastic::measure(spring, law, span(spring, positions).norm())
            });
            let each = uniaxial_elements.iter().zip(measures);
            each.map(|(element, measure)| element.rates.map(|rate| rate * measure)).collect()
        });
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        let Self { history, members, laws, uniaxial_elements, .. } = self;
        history.end_step(
            |inelastic| all_strains(members, laws, uniaxial_elements, inelastic, positions),
            duration,
        );
    }

    fn material_history(&self) -> Option<&MaterialHistory> {
        Some(&self.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        Some(&mut self.history)
    }
}

fn all_strains(
    springs: &[Spring],
    laws: &[(SpringLaw, f64)],
    elements: &[UniaxialElement],
    inelastic: &Inelastic,
    positions: &[Vec3],
) -> Vec<Strain> {
    let each = (springs, laws, elements)
        .into_par_iter()
        .enumerate()
        .with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
    each.map(|(index, (spring, (law, _), element))| {
        let measure = inelastic::measure(spring, law, span(spring, positions).norm());
        element.strain(inelastic, index, measure)
    })
    .collect()
}

/// From the first end of a spring to the second.
fn span(spring: &Spring, field: &[Vec3]) -> Vec3 {
    let [a, b] = spring.vertices.map(|vertex| field[vertex as usize]);
    b - a
}
