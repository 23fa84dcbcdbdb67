// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the model of the settings to its elements, and what a model asks of cloths.

use crate::{
    Cloth, Material,
    error::{Error, Result},
    forces::{BendingKind, Elements, Sheets, baraff_witkin, choi_ko, fem, mass_spring, particles},
    mesh::Quads,
    settings::{Model, Settings},
};

/// The elements of a model, and the area that each vertex stands for, in m².
pub(super) fn build(model: Model, sheets: &Sheets<'_>) -> (Vec<Box<dyn Elements>>, Vec<f64>) {
    let elements = match model {
        Model::Fem => fem(sheets),
        Model::Particles => return particles(sheets, BendingKind::ThinPlate),
        Model::ParticlesMembrane => return particles(sheets, BendingKind::Membrane),
        Model::BaraffWitkin => baraff_witkin(sheets),
        Model::ChoiKo => choi_ko(sheets),
        Model::MassSpring => mass_spring(sheets, false),
        Model::MassSpring16 => mass_spring(sheets, true),
    };
    (elements, sheets.mesh.rest.vertex_areas.clone())
}

/// Refuses cloths that a model cannot simulate.
pub(super) fn check(settings: &Settings, cloths: &[Cloth]) -> Result<()> {
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
    }
    Ok(())
}

/// Refuses a material that remembers where a model or an integrator cannot.
pub(super) fn check_material(
    settings: &Settings,
    argument: &str,
    material: &Material,
) -> Result<()> {
    if !material.is_inelastic() {
        return Ok(());
    }
    let Settings { model, integrator, .. } = *settings;
    let found = if model != Model::Fem {
        format!("model {}", model.name())
    } else if !integrator.keeps_memory() {
        format!("integrator {}", integrator.name())
    } else {
        return Ok(());
    };
    let wanted = "the model fem with an integrator that is not explicit, for curves and quality";
    Err(Error::value(argument, found, wanted))
}

fn check_quads(model: Model, index: usize, cloth: &Cloth) -> Result<()> {
    Quads::first_other_face(&cloth.mesh).map_or(Ok(()), |(face, found)| {
        let model = model.name();
        let wanted =
            format!("a convex face of four corners for the model {model}; fem takes any faces");
        Err(Error::element(format!("cloths[{index}].faces"), "face", face, found, wanted))
    })
}

/// The values at the vertices of all cloths, `default` where a cloth has none; empty where none has.
pub(super) fn joined<T: Copy>(
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
