// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of the arguments that a caller gives between frames.

use crate::{
    error::{Error, Result},
    forces::PressureLaw,
    geometry::OrthonormalBasis,
    mesh::{Mesh, check_positions},
    vec3::Vec3,
};
use std::ops::Range;

/// Indices among all vertices of some vertices of a cloth.
pub(super) fn checked_vertices(
    mesh: &Mesh,
    cloth: usize,
    vertices: &[usize],
) -> Result<Vec<usize>> {
    let Range { start, end } = mesh.vertices_of(cloth);
    let count = end - start;
    if let Some(index) = vertices.iter().position(|vertex| *vertex >= count) {
        let found = format!("vertex {}", vertices[index]);
        let wanted = format!("an index below the {count} vertices");
        return Err(Error::element("vertices", "entry", index, found, wanted));
    }
    Ok(vertices.iter().map(|vertex| start + vertex).collect())
}

/// Refuses targets in m that are not finite, or not one for each of a number of vertices.
pub(super) fn check_targets(targets: Option<&[Vec3]>, vertex_count: usize) -> Result<()> {
    let Some(targets) = targets else { return Ok(()) };
    check_count("targets", targets.len(), vertex_count)?;
    if targets.is_empty() { Ok(()) } else { check_positions("targets", targets) }
}

/// Index of a collider, one of a number.
pub(super) fn check_collider(collider: usize, count: usize) -> Result<()> {
    if collider < count {
        return Ok(());
    }
    Err(Error::value("collider", collider, format!("an index below the {count} colliders")))
}

/// A pressure law of a cloth with a number of vertices, with the volume at the start in m³ where it has no other.
pub(super) fn checked_pressure(
    mut law: PressureLaw,
    vertex_count: usize,
    initial_volume: f64,
) -> Result<PressureLaw> {
    check_number("pressure", law.pressure, f64::NEG_INFINITY)?;
    check_number("stiffness", law.stiffness, 0.0)?;
    check_number("volume", law.volume, 0.0)?;
    check_number("fluid_density", law.fluid_density, f64::NEG_INFINITY)?;
    if !law.weights.is_empty() {
        check_count("weights", law.weights.len(), vertex_count)?;
    }
    let is_refused = |weight: &f64| !weight.is_finite() || *weight < 0.0;
    if let Some(index) = law.weights.iter().position(is_refused) {
        let (found, wanted) = (law.weights[index], "a finite number, 0 or more");
        return Err(Error::element("weights", "vertex", index, found, wanted));
    }
    if law.volume == 0.0 {
        law.volume = initial_volume;
    }
    if law.stiffness > 0.0 && law.volume <= 0.0 {
        let wanted = "a cloth that encloses more than 0, or a volume";
        return Err(Error::value("volume", format!("{} m³", law.volume), wanted));
    }
    Ok(law)
}

pub(super) fn check_number(argument: &str, found: f64, lowest: f64) -> Result<()> {
    if found.is_finite() && found >= lowest {
        return Ok(());
    }
    let wanted = if lowest == 0.0 { "a finite number, 0 or more" } else { "a finite number" };
    Err(Error::value(argument, found.to_string(), wanted))
}

/// Refuses another number of rows than wanted.
pub(super) fn check_count(argument: &str, found: usize, wanted: usize) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::value(argument, format!("{found} rows"), format!("{wanted}")))
}

/// One to three unit directions, none of them (nearly) a linear combination of the others.
pub(super) fn independent_directions(directions: &[Vec3]) -> Result<Vec<Vec3>> {
    if directions.is_empty() || directions.len() > 3 {
        let found = format!("{} directions", directions.len());
        return Err(Error::value("directions", found, "one, two or three"));
    }
    let mut units: Vec<Vec3> = Vec::new();
    for (index, direction) in directions.iter().enumerate() {
        let spanned = OrthonormalBasis::new(units.iter().copied()).complement_projector();
        let is_new = |unit: &Vec3| (spanned * unit).norm() > 0.1;
        // A direction that is not finite has no unit, or one that is not new.
        let Some(unit) = direction.try_normalize(f64::MIN_POSITIVE).filter(is_new) else {
            let found = format!("({}, {}, {})", direction.x, direction.y, direction.z);
            let wanted = "a finite direction, independent of those before";
            return Err(Error::element("directions", "direction", index, found, wanted));
        };
        units.push(unit);
    }
    Ok(units)
}
