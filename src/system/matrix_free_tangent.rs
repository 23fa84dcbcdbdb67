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
    vec3::Vec3,
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
    displacements: Vec<Vec3>,
    /// In N.
    forces: Vec<Vec3>,
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
        let elements = &mut dynamics.elements;
        elements.iter().any(|one| one.has_matrix_free_tangent()).then(|| {
            buffers.displacements.resize(count, Vec3::zeros());
            Self { elements, ordering, scale, buffers }
        })
    }
}

impl MatrixFreeTerm for MatrixFreeTangent<'_> {
    fn add_product(&mut self, vector: &[Row3], image: &mut [Row3]) {
        let Self { elements, ordering, scale, buffers } = self;
        let MatrixFreeBuffers { displacements, forces } = &mut **buffers;
        ordering.scatter_with(vector, displacements, |_, displacement| displacement);
        forces.clear();
        forces.resize(displacements.len(), Vec3::zeros());
        for one in elements.iter_mut().filter(|one| one.has_matrix_free_tangent()) {
            one.add_matrix_free_product(displacements, forces);
        }
        let rows = image.par_iter_mut().enumerate();
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(row, image)| {
            let force = forces[ordering.vertex(row)] * *scale;
            for (image, force) in image.iter_mut().zip(force.iter()) {
                *image += *force as f32;
            }
        });
    }
}
