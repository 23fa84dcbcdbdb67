// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linear system of a Newton step: the tangent matrix with contacts and eliminated directions, solved by filtered
//! preconditioned conjugate gradients.

use super::{
    convergence::{EnergyNorm, PredictedDecrease},
    objective::Objective,
    parameters::NewtonParameters,
};
use crate::{
    linear_solver::{
        BlockJacobi, Filter, FilteredMatrix, FilteredSystem, IncompleteCholesky, Multigrid,
        Preconditioner, RankOneTerm, StoppingCriterion, Workspace, conjugate_gradients,
    },
    response::{ActiveSet, CollisionResponse, PrescribedVertex},
    scene::{Preconditioning, Report, Task},
    simd::{Block, Row3},
    system::{EquationsOfMotion, TangentMatrix},
    vec3::Vec3,
};

/// Linear system with its storage, which is reused for every step.
pub(crate) struct LinearSystem {
    pub(crate) tangent: TangentMatrix,
    /// Identifier of the quadratic model whose matrix and preconditioner are up to date; `None` if contacts are in the
    /// matrix.
    pub(super) assembled_matrix_id: Option<[u64; 3]>,
    preconditioner: Box<dyn Preconditioner + Sync>,
    workspace: Workspace,
    filter: Filter,
    active_set: ActiveSet,
    /// Blocks of contacts between rows that no element connects: row, column, block.
    contact_blocks: Vec<(u32, u32, Block)>,
    /// Terms of the matrix that couple all vertices of a cloth.
    rank_one_terms: Vec<RankOneTerm>,
    right_hand_side: Vec<Row3>,
    /// Solution: the Newton step, in m.
    pub(super) newton_step: Vec<Row3>,
    /// Product of the scalar part of the matrix with the prescribed displacements or the solution, in N.
    scalar_loads: Vec<Row3>,
}

/// Point at which an objective is linearised.
pub(crate) struct LinearisationPoint<'a, 'b> {
    pub(crate) objective: &'a mut Objective<'b>,
    /// Positions of all vertices, in m.
    pub(crate) positions: &'a [Vec3],
    /// Residuals without contacts, in N.
    pub(crate) residuals: &'a [Vec3],
    /// Whether the tangent uses the stresses that have been predicted for this point.
    pub(crate) uses_predicted_stress: bool,
}

impl LinearSystem {
    pub(crate) fn new(dynamics: &EquationsOfMotion, preconditioning: Preconditioning) -> Self {
        let count = dynamics.vertex_count();
        let tangent = TangentMatrix::new(dynamics);
        Self {
            preconditioner: new_preconditioner(preconditioning, dynamics, &tangent),
            workspace: Workspace::default(),
            filter: Filter::new(count),
            active_set: ActiveSet::default(),
            contact_blocks: Vec::new(),
            rank_one_terms: Vec::new(),
            right_hand_side: vec![[0.0; 4]; count],
            newton_step: vec![[0.0; 4]; count],
            scalar_loads: Vec::new(),
            tangent,
            assembled_matrix_id: None,
        }
    }

    /// Root mean square of the Newton step of each cloth, in m.
    pub(crate) fn step_root_mean_squares(&self, norm: &EnergyNorm<'_>) -> Vec<f64> {
        norm.root_mean_squares(&self.tangent.ordering, &self.newton_step)
    }

    /// Writes `positions` plus a multiple of the Newton step to `trial_point`, in m.
    pub(crate) fn set_trial_point(
        &self,
        positions: &[Vec3],
        step_length: f64,
        trial_point: &mut [Vec3],
    ) {
        let moved = |vertex: usize, step| positions[vertex] + step * step_length;
        self.tangent.ordering.scatter_with(&self.newton_step, trial_point, moved);
    }

    /// Writes the Newton step to `displacements`, in m.
    pub(crate) fn scatter_newton_step(&self, displacements: &mut [Vec3]) {
        self.tangent.ordering.scatter_with(&self.newton_step, displacements, |_, step| step);
    }

    /// Computes the Newton step and the decrease that it predicts; `None` if conjugate gradients find no descent
    /// direction or the system overflows single precision. New multipliers of active constraints are passed to the
    /// response. `linear_tolerance` is the relative residual at which conjugate gradients end.
    pub(crate) fn compute_newton_step(
        &mut self,
        mut point: LinearisationPoint<'_, '_>,
        linear_tolerance: f64,
        report: &mut Report,
    ) -> Option<PredictedDecrease> {
        let is_up_to_date = self.assemble_tangent(&mut point, report);
        self.tangent.ordering.gather(point.residuals, &mut self.right_hand_side);
        self.assemble_contacts(point.objective.response, point.positions);
        let prescribed = &mut self.active_set.prescribed;
        prescribed.eliminate(&self.tangent.matrix, &self.rank_one_terms, &mut self.right_hand_side);
        self.subtract_scalar_loads();
        self.filter.apply(&mut self.right_hand_side);
        for term in &mut self.rank_one_terms {
            self.filter.apply(&mut term.vector);
        }
        if !is_up_to_date {
            self.filter.apply_to(&mut self.tangent.matrix);
            let TangentMatrix { matrix, ordering, .. } = &self.tangent;
            // A matrix that is kept for later steps has the same coarse motions in all of them: translations.
            let is_kept = self.assembled_matrix_id.is_some();
            let position =
                |row| if is_kept { Vec3::zeros() } else { point.positions[ordering.vertex(row)] };
            let positions: Vec<Vec3> = (0..point.positions.len()).map(position).collect();
            let filtered = FilteredMatrix { matrix, filter: &self.filter, positions: &positions };
            report.time(Task::Preconditioner, || self.preconditioner.update(filtered));
        }
        let stopping = StoppingCriterion {
            relative_tolerance: linear_tolerance,
            max_iterations: NewtonParameters::DEFAULT.max_linear_iterations,
        };
        let is_solved = self.solve(stopping, report);
        is_solved.then(|| self.predicted_decrease(&mut point))
    }

    /// Assembles the tangent matrix without contacts, and sets the filter. Returns whether both and the preconditioner
    /// were up to date already.
    fn assemble_tangent(
        &mut self,
        point: &mut LinearisationPoint<'_, '_>,
        report: &mut Report,
    ) -> bool {
        let objective = &mut *point.objective;
        self.rank_one_terms.clear();
        let Some(model) = objective.quadratic_model else {
            if point.uses_predicted_stress {
                objective.dynamics.elements.use_predicted_stress();
            }
            report.time(Task::Assembly, || {
                self.tangent.assemble(objective.dynamics, objective.stage);
                self.assemble_pressures(objective);
            });
            self.eliminate_directions(objective, point.positions);
            self.assembled_matrix_id = None;
            return false;
        };
        let previous_filter = self.filter.clone();
        self.eliminate_directions(objective, point.positions);
        let is_contact_free = objective.response.contact_set.all().next().is_none();
        let matrix_id = model.matrix_id().filter(|_| is_contact_free);
        let is_up_to_date = matrix_id.is_some()
            && matrix_id == self.assembled_matrix_id
            && previous_filter == self.filter;
        if !is_up_to_date {
            report.time(Task::Assembly, || model.fill_tangent(&mut self.tangent));
        }
        self.assembled_matrix_id = matrix_id;
        is_up_to_date
    }

    /// Adds the stiffness of pressures to the matrix.
    fn assemble_pressures(&mut self, objective: &mut Objective<'_>) {
        objective.dynamics.external_forces.pressures.continue_path();
        let TangentMatrix { matrix, ordering, .. } = &mut self.tangent;
        let scale = 1.0 / objective.stage.extrapolation_factor;
        let pressures = &objective.dynamics.external_forces.pressures;
        pressures.for_each_block(|pair, block| {
            let [row, column] = pair.map(|vertex| ordering.row(vertex));
            let block = Block::from_matrix(&(block * scale));
            if row == column {
                matrix.add_diagonal(row, &block);
            } else {
                matrix.add_pair(row, column, &block);
            }
        });
        let count = self.newton_step.len();
        self.rank_one_terms.extend(pressures.volume_stiffness().map(|stiffness| {
            let mut vector = vec![[0.0; 4]; count];
            for (vertex, area) in (stiffness.first_vertex..).zip(stiffness.gradient) {
                let [x, y, z] = (*area).into();
                vector[ordering.row(vertex)] = [x as f32, y as f32, z as f32, 0.0];
            }
            RankOneTerm { factor: stiffness.factor * scale, vector }
        }));
    }

    /// Adds contact forces to the right-hand side and contact stiffness to the matrix.
    fn assemble_contacts(&mut self, response: &CollisionResponse, positions: &[Vec3]) {
        let TangentMatrix { matrix, ordering, .. } = &mut self.tangent;
        self.contact_blocks.clear();
        let forces = response.contact_set.forces(response.contact_positions(positions));
        for (contact, force) in response.contact_set.all().zip(forces) {
            let weighted = contact.pair.vertices.iter().zip(&contact.linearised.weights);
            let cloth = weighted.filter(|(vertex, _)| response.step.is_cloth(**vertex));
            let cloth = cloth.map(|(vertex, weight)| (ordering.row(*vertex as usize), *weight));
            for (row, weight) in cloth.clone() {
                let nodal_force = force.force * weight;
                let entry = &mut self.right_hand_side[row];
                for k in 0..3 {
                    entry[k] += nodal_force[k] as f32;
                }
                for (column, other) in cloth.clone().filter(|(column, _)| *column >= row) {
                    let block = Block::from_matrix(&(force.stiffness * (weight * other)));
                    if row == column {
                        matrix.add_diagonal(row, &block);
                    } else if !matrix.add_pair(row, column, &block) {
                        self.contact_blocks.push((row as u32, column as u32, block));
                    }
                }
            }
        }
        matrix.set_contact_blocks(&self.contact_blocks);
    }

    /// Determines the eliminated directions, of Dirichlet conditions and active constraints, and sets the filter.
    fn eliminate_directions(&mut self, objective: &Objective<'_>, positions: &[Vec3]) {
        let dirichlet = objective
            .prescribed_displacements
            .iter()
            .map(|one| PrescribedVertex { vertex: one.vertex, projector: one.free_projector });
        let response = &*objective.response;
        let constraints =
            response.contact_set.active_constraints(response.contact_positions(positions));
        self.active_set.set(dirichlet, constraints, &self.tangent.ordering, &mut self.filter);
    }

    /// Subtracts the product of the scalar part with the prescribed displacements from the right-hand side.
    fn subtract_scalar_loads(&mut self) {
        self.newton_step.fill([0.0; 4]);
        self.active_set.prescribed.complete(&mut self.newton_step);
        self.update_scalar_loads();
        for (load, product) in self.right_hand_side.iter_mut().zip(&self.scalar_loads) {
            *load = std::array::from_fn(|k| load[k] - product[k]);
        }
    }

    /// Updates the product of the scalar part with the present solution; none where no displacement is prescribed.
    fn update_scalar_loads(&mut self) {
        self.scalar_loads.clear();
        if self.active_set.prescribed.is_any() {
            self.scalar_loads.resize(self.newton_step.len(), [0.0; 4]);
            self.tangent.matrix.scalars().add_product(&self.newton_step, &mut self.scalar_loads);
        }
    }

    /// Solves the system. Returns whether the lengths of the solution are in the range of single precision.
    fn solve(&mut self, stopping: StoppingCriterion, report: &mut Report) -> bool {
        self.newton_step.fill([0.0; 4]);
        let outcome = report.time(Task::LinearSolve, || {
            let system = FilteredSystem {
                matrix: &self.tangent.matrix,
                right_side: &self.right_hand_side,
                rank_one_terms: &self.rank_one_terms,
                filter: &self.filter,
            };
            let preconditioner = self.preconditioner.as_mut();
            let (workspace, solution) = (&mut self.workspace, &mut self.newton_step);
            conjugate_gradients(system, preconditioner, stopping, workspace, solution)
        });
        report.linear_iterations += outcome.iterations;
        // An indefinite first search direction yields no descent direction.
        if outcome.indefinite && outcome.iterations == 0 {
            return false;
        }
        self.active_set.prescribed.complete(&mut self.newton_step);
        self.update_scalar_loads();
        self.newton_step.iter().all(|row| row[..3].iter().map(|x| x * x).sum::<f32>().is_finite())
    }

    /// Decrease of the objective that the Newton step predicts, with the new multipliers of active constraints.
    fn predicted_decrease(&mut self, point: &mut LinearisationPoint<'_, '_>) -> PredictedDecrease {
        let objective = &mut *point.objective;
        let norm = EnergyNorm::new(objective.dynamics, objective.stage);
        let ordering = &*self.tangent.ordering;
        let loads = self.active_set.prescribed.loads(&self.right_hand_side);
        let squared_norms = norm.products_per_cloth(ordering, loads, &self.newton_step);
        let (multipliers, gain) = self.active_set.update_multipliers(
            &self.newton_step,
            &self.scalar_loads,
            &mut objective.response.contact_set,
        );
        let decrease = PredictedDecrease {
            slope: -(squared_norms.iter().sum::<f64>() + gain),
            squared_norms,
            contact_potential: objective.response.contact_potential(point.positions),
        };
        decrease.with_multipliers(&multipliers, &norm, ordering)
    }
}

fn new_preconditioner(
    kind: Preconditioning,
    dynamics: &EquationsOfMotion,
    tangent: &TangentMatrix,
) -> Box<dyn Preconditioner + Sync> {
    let TangentMatrix { matrix, ordering, .. } = tangent;
    let pattern = matrix.pattern();
    match kind {
        Preconditioning::Multigrid => {
            Box::new(Multigrid::new(pattern, &ordering.rows_of(&dynamics.coupled_pairs())))
        }
        Preconditioning::IncompleteCholesky => Box::new(IncompleteCholesky::new(pattern)),
        Preconditioning::BlockJacobi => Box::new(BlockJacobi::default()),
    }
}
