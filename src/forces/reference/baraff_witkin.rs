// SPDX-License-Identifier: MIT OR Apache-2.0
//! The triangles of Baraff and Witkin 1998, section 4.
//!
//! Stretch: C = a(‖w_u‖ − b_u, ‖w_v‖ − b_v) (eq. 10); shear: C = a⟨w_u,w_v⟩ (section 4.3), with a the area at rest. The
//! energy of a condition is ½kC². For C to have a modulus Y in N/m, so that the energy is ½aY(‖w_u‖ − b_u)², its k has
//! to be Y/a, of each triangle: with one k for all, as printed, the cloth softens as it is divided. So
//! k = `stretch_warp`/a, `stretch_weft`/a and `shear`/a. There is no transverse contraction: `poisson` does nothing.
//!
//! b_u and b_v are means of the factors at the three corners.
//!
//! Damping −k_d ∂C/∂x Ċ (eq. 11) with k_d = τk is the Kelvin-Voigt viscosity of all models. Only its symmetric part
//! enters the tangent, as in the text of eq. 12.
//!
//! `bend_hinges` has the condition of bending.

use super::bend_hinges::{BendHinges, HingeLawKind};
use crate::{
    forces::{
        elements::{Elements, Frame, FrameKind, Frames, Warping},
        model_input::ModelInput,
    },
    mesh::gradients_of_all_corners,
};

/// The elements of the model.
#[must_use]
pub fn baraff_witkin(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    let ModelInput { mesh, materials, .. } = *input;
    let frame = |(triangle, vertices): (usize, &[u32; 3])| Frame {
        vertices: *vertices,
        gradients: gradients_of_all_corners(&mesh.rest.gradients[triangle]),
        area: mesh.rest.areas[triangle],
        scale: input.mean_rest_scale(vertices),
        factors: input.mean_property_scale(vertices),
        cloth: mesh.cloth_of_triangle[triangle],
        warping: Warping::NONE,
    };
    let frames = mesh.topology.triangles.iter().enumerate().map(frame).collect();
    let none = vec![0.0; materials.len()];
    let membrane = Frames::new(mesh, FrameKind::Conditions, frames, materials, none);
    vec![Box::new(membrane), Box::new(BendHinges::new(input, HingeLawKind::BendCondition))]
}
