// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of the tangent matrix that is not assembled: stiffness against bending between hinges that share no
//! triangle pair. Its sparsity is several rings wide; a product needs a few passes over the hinges.

use super::equations_of_motion::EquationsOfMotion;
use crate::{
    forces::Elements,
    linear_solver::{MatrixFreeTerm, Ordering},
    parallel::reductions,
    simd::Row3,
    time_integration::Stage,
};
use rayon::prelude::*;

/// Matrix-free part of the tangent matrix at the positions where the forces were last evaluated.
pub(crate) struct MatrixFreeTangent<'a> {
    elements: &'a mut [Box<dyn Elements>],
    ordering: &'a Ordering,
    /// Factor of the stiffness in the matrix of the stage.
    scale: f64,
    buffers: &'a mut MatrixFreeBuffers,
}

/// Vectors of a product, in the order of the vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatrixFreeBuffers {
    /// In m.
    displacements: Vec<Row3>,
    /// In N.
    forces: Vec<Row3>,
}

impl<'a> MatrixFreeTangent<'a> {
    /// The part of a stage; `None` if its matrix is assembled as a whole.
    pub(crate) fn new(
        dynamics: &'a mut EquationsOfMotion,
        stage: &Stage,
        ordering: &'a Ordering,
        buffers: &'a mut MatrixFreeBuffers,
    ) -> Option<Self> {
        let scale = 1.0 / stage.extrapolation_factor;
        let count = dynamics.vertex_count();
        let elements = &mut dynamics.elements.kinds;
        elements.iter().any(|one| one.has_matrix_free_tangent()).then(|| {
            buffers.displacements.resize(count, [0.0; 4]);
            Self { elements, ordering, scale, buffers }
        })
    }
}

impl MatrixFreeTerm for MatrixFreeTangent<'_> {
    fn add_product(&mut self, vector: &[Row3], image: &mut [Row3]) {
        let Self { elements, ordering, scale, buffers } = self;
        let MatrixFreeBuffers { displacements, forces } = &mut **buffers;
        let each = displacements.par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK)
            .for_each(|(vertex, displacement)| *displacement = vector[ordering.row(vertex)]);
        forces.clear();
        forces.resize(displacements.len(), [0.0; 4]);
        for one in elements.iter_mut().filter(|one| one.has_matrix_free_tangent()) {
            one.add_matrix_free_product(displacements, forces);
        }
        let scale = *scale as f32;
        let rows = image.par_iter_mut().enumerate();
        rows.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(|(row, image)| {
            let force = &forces[ordering.vertex(row)];
            *image = std::array::from_fn(|k| image[k] + scale * force[k]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        material::Material,
        mesh::Polygons,
        scene::{Cloth, Report, Settings},
        system::TangentMatrix,
        time_integration::State,
        vec3::Vec3,
    };

    /// Vertices along a side of the sheet.
    const SIDE: usize = 7;

    /// A wavy sheet that was flat at rest, and a displacement of its vertices in long waves.
    fn sheet() -> (EquationsOfMotion, Vec<Vec3>, Vec<Vec3>) {
        let place = |index: usize| [index % SIDE, index / SIDE].map(|k| 0.02 * k as f64);
        let flat: Vec<Vec3> = (0..SIDE * SIDE)
            .map(|index| Vec3::new(place(index)[0], place(index)[1], 0.0))
            .collect();
        let first = (0..SIDE * SIDE).filter(|v| v % SIDE + 1 < SIDE && v / SIDE + 1 < SIDE);
        let corners: Vec<usize> =
            first.flat_map(|v| [v, v + 1, v + SIDE + 1, v, v + SIDE + 1, v + SIDE]).collect();
        let counts = vec![3; corners.len() / 3];
        let polygons = Polygons::new(&counts, &corners, flat.len()).unwrap();
        let cotton = Material::preset("cotton").unwrap();
        let cloth = Cloth::new(flat.clone(), &polygons, cotton, None, None).unwrap();
        let dynamics = EquationsOfMotion::new(&[cloth], &Settings::default());
        let wave = |x: &Vec3| Vec3::z() * (30.0 * x.x + 12.0 * x.y).sin();
        let bent = flat.iter().map(|x| x + wave(x) * 2.0e-4).collect();
        let direction = flat.iter().map(|x| Vec3::z() * (25.0 * x.y - 9.0 * x.x).cos()).collect();
        (dynamics, bent, direction)
    }

    fn residuals(dynamics: &mut EquationsOfMotion, stage: &Stage, at: &[Vec3]) -> Vec<Vec3> {
        let mut residuals = vec![Vec3::zeros(); at.len()];
        dynamics.evaluate(stage, at, &mut residuals, &mut Report::default());
        residuals
    }

    /// The assembled part alone is far off for long waves, which the stabilisation does not stiffen.
    #[test]
    fn both_parts_of_the_tangent_together_are_the_derivative_of_the_forces() {
        let (mut dynamics, bent, direction) = sheet();
        let state = State::at_rest(bent.clone());
        let measures = dynamics.elements.measure(&bent);
        let stage = Stage::implicit_euler(&state, measures, 0.02, [Vec::new(), Vec::new()]);
        let step = 1.0e-7;
        let moved = |factor: f64| -> Vec<Vec3> {
            bent.iter().zip(&direction).map(|(x, d)| x + d * factor).collect()
        };
        let [ahead, behind] =
            [step, -step].map(|factor| residuals(&mut dynamics, &stage, &moved(factor)));
        let pairs = ahead.iter().zip(&behind);
        let expected: Vec<Vec3> = pairs.map(|(a, b)| (b - a) / (2.0 * step)).collect();
        residuals(&mut dynamics, &stage, &bent);
        let mut tangent = TangentMatrix::new(&dynamics);
        tangent.assemble(&mut dynamics, &stage);
        let mut rows = vec![[0.0; 4]; bent.len()];
        tangent.ordering.gather(&direction, &mut rows);
        let mut image = rows.clone();
        tangent.matrix.times_and_dot(&rows, &mut image);
        let error = |image: &[Row3]| {
            let mut found = vec![Vec3::zeros(); bent.len()];
            tangent.ordering.scatter_with(image, &mut found, |_, force| force);
            let norm = |list: &mut dyn Iterator<Item = Vec3>| {
                list.map(|force| force.norm_squared()).sum::<f64>().sqrt()
            };
            let mut differences = found.iter().zip(&expected).map(|(a, b)| a - b);
            norm(&mut differences) / norm(&mut expected.iter().copied())
        };
        let assembled = error(&image);
        let buffers = &mut MatrixFreeBuffers::default();
        let term = MatrixFreeTangent::new(&mut dynamics, &stage, &tangent.ordering, buffers);
        term.unwrap().add_product(&rows, &mut image);
        // Moments times the second derivative of angles are left out: slopes are of the order of 0.006.
        assert!(error(&image) < 0.03, "{}", error(&image));
        assert!(assembled > 0.3, "{assembled}");
    }
}
