// SPDX-License-Identifier: MIT OR Apache-2.0
//! Model factory: the elements of the model of the settings, and the checks of cloths against the model.

use crate::{
    error::{Error, Result},
    forces::{
        BendingKind, Elements, ModelInput, baraff_witkin, choi_ko, fem, fem_bridson,
        fem_corotational, fem_linear, fem_volino, mass_spring, particles,
    },
    material::Material,
    mesh::{Mesh, Quads},
    scene::{Cloth, Model, Settings},
    surface::ContactFilter,
};
use std::sync::Arc;

/// Elements of a model, and the lumped area of each vertex, in m².
pub(crate) fn build(
    model: Model,
    sheets: &ModelInput<'_>,
) -> (Vec<Box<dyn Elements>>, Arc<Vec<f64>>) {
    let elements = match model {
        Model::Fem => fem(sheets),
        Model::FemCorotational => fem_corotational(sheets),
        Model::FemLinear => fem_linear(sheets),
        Model::FemVolino => fem_volino(sheets),
        Model::FemBridson => fem_bridson(sheets),
        Model::Particles => return build_particles(sheets, BendingKind::ThinPlate),
        Model::ParticlesMembrane => return build_particles(sheets, BendingKind::Membrane),
        Model::ParticlesProjected => {
            return build_particles(sheets, BendingKind::ProjectedMembrane);
        }
        Model::BaraffWitkin => baraff_witkin(sheets),
        Model::ChoiKo => choi_ko(sheets),
        Model::MassSpring => mass_spring(sheets, false),
        Model::MassSpring16 => mass_spring(sheets, true),
    };
    (elements, Arc::clone(&sheets.mesh.rest.vertex_areas))
}

fn build_particles(
    sheets: &ModelInput<'_>,
    kind: BendingKind,
) -> (Vec<Box<dyn Elements>>, Arc<Vec<f64>>) {
    let (elements, areas) = particles(sheets, kind);
    (elements, Arc::new(areas))
}

/// Refuses cloths that the model cannot simulate.
pub(crate) fn check_cloths(
    settings: &Settings,
    cloths: &[Cloth],
    collider_count: usize,
) -> Result<()> {
    let model = settings.model;
    for (index, cloth) in cloths.iter().enumerate() {
        check_material(settings, &format!("cloths[{index}].material"), &cloth.material)?;
        if model.needs_quads() {
            check_quads(model, index, cloth)?;
        }
        if cloth.stiffness_scale.is_some() && !model.has_springs() {
            let wanted = "a model of springs: choi_ko, mass_spring, mass_spring_16";
            let argument = format!("cloths[{index}].stiffness_scale");
            return Err(Error::value(argument, format!("model {}", model.name()), wanted));
        }
        if !cloth.mesh.rest.coverage.is_empty() && !model.is_particle_system() {
            let wanted = "a model of particles: particles, particles_membrane, particles_projected";
            let argument = format!("cloths[{index}].corner_coverage");
            return Err(Error::value(argument, format!("model {}", model.name()), wanted));
        }
    }
    check_ignored_colliders(cloths, collider_count)
}

/// Refuses colliders to be ignored that do not exist.
fn check_ignored_colliders(cloths: &[Cloth], collider_count: usize) -> Result<()> {
    for (index, cloth) in cloths.iter().enumerate() {
        let invalid =
            cloth.ignored_colliders.iter().find(|collider| **collider as usize >= collider_count);
        if let Some(collider) = invalid {
            let argument = format!("cloths[{index}].ignored_colliders");
            let wanted = format!("indices below the {collider_count} colliders");
            return Err(Error::value(argument, format!("collider {collider}"), wanted));
        }
    }
    Ok(())
}

/// Refuses bending curves for a model without curvatures.
pub(crate) fn check_material(
    settings: &Settings,
    argument: &str,
    material: &Material,
) -> Result<()> {
    let model = settings.model;
    let reason = match model {
        Model::Fem
        | Model::FemCorotational
        | Model::FemLinear
        | Model::FemVolino
        | Model::FemBridson
        | Model::Particles
        | Model::BaraffWitkin
        | Model::ChoiKo => return Ok(()),
        Model::ParticlesMembrane => "bends by a constant tension",
        Model::ParticlesProjected => "bends by a force without energy",
        Model::MassSpring | Model::MassSpring16 => "bends by springs that know lengths alone",
    };
    let curves = &material.curves;
    let bends = [("bend_warp_curve", &curves.bend_warp), ("bend_weft_curve", &curves.bend_weft)];
    bends.into_iter().find(|(_, curve)| curve.is_some()).map_or(Ok(()), |(name, _)| {
        let found = format!("{name} with the model {}, which {reason}", model.name());
        let wanted =
            "a model with curvatures for curves of bending: fem, particles, baraff_witkin, choi_ko";
        Err(Error::value(argument, found, wanted))
    })
}

fn check_quads(model: Model, index: usize, cloth: &Cloth) -> Result<()> {
    Quads::first_other_face(&cloth.mesh).map_or(Ok(()), |(face, found)| {
        let model = model.name();
        let wanted =
            format!("a convex face of four corners for the model {model}; fem takes any faces");
        Err(Error::element(format!("cloths[{index}].faces"), "face", face, found, wanted))
    })
}

/// Pairs of vertices of all cloths that are sewn together. `starts` are the first vertices of the cloths.
pub(crate) fn seam_pairs(cloths: &[Cloth], starts: &[usize]) -> Vec<[u32; 2]> {
    let sewn = cloths.iter().zip(starts).filter_map(|(cloth, first)| {
        let pairs = cloth.sewing.as_ref()?.pairs.iter();
        Some(pairs.map(|pair| pair.map(|vertex| vertex + *first as u32)))
    });
    sewn.flatten().collect()
}

/// Vertices and colliders that the cloths exclude from contacts.
pub(crate) fn contact_exclusions(cloths: &[Cloth]) -> ContactFilter {
    let free = concatenated(cloths, [false; 2], |cloth| cloth.free_vertices.as_ref());
    let ignored = cloths.iter().map(|cloth| cloth.ignored_colliders.clone()).collect();
    ContactFilter::new(free, ignored)
}

/// Values at the vertices of all cloths, `default` for a cloth without values; empty if no cloth has any.
pub(crate) fn concatenated<T: Copy>(
    cloths: &[Cloth],
    default: T,
    values: impl Fn(&Cloth) -> Option<&Vec<T>>,
) -> Vec<T> {
    if cloths.iter().all(|cloth| values(cloth).is_none()) {
        return Vec::new();
    }
    let of_cloth =
        |cloth| values(cloth).cloned().unwrap_or_else(|| vec![default; cloth.vertex_count()]);
    cloths.iter().flat_map(of_cloth).collect()
}

/// Mesh of all cloths; a single cloth shares its mesh.
pub(super) fn joined_mesh(cloths: &[Cloth]) -> Arc<Mesh> {
    match cloths {
        [cloth] => Arc::clone(&cloth.mesh),
        _ => Arc::new(Mesh::join(&cloths.iter().map(|cloth| &*cloth.mesh).collect::<Vec<_>>())),
    }
}
