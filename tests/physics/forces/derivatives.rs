// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forces and tangents of the membrane and the air against differences, and their invariances under every deformation.

use crate::{
    fixtures::{
        noise::Noise,
        strips::{Pattern, Strip, turned_uv},
    },
    models::forces::fabric,
};
use nalgebra::{Matrix3, Rotation3};
use proptest::prelude::*;
use weft::{
    Vec3,
    forces::{Air, Bending, BendingLaw, Membrane, Strain, StrainHistory},
    mesh::Mesh,
};

/// An irregular sheet whose warp is oblique.
fn strip_and_mesh() -> (Strip, Mesh) {
    let strip = Strip::new(Pattern::Random, 0.6, [6, 4]);
    let uv = turned_uv(&strip.points, 0.6);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, Some(&uv)).unwrap();
    (strip, mesh)
}

/// Forces of a membrane at a shape, and the potential, with viscosity where 1/β is not 0.
fn evaluate(
    membrane: &mut Membrane,
    positions: &[Vec3],
    history: StrainHistory<'_, Strain>,
) -> (f64, Vec<Vec3>) {
    let mut forces = vec![Vec3::zeros(); positions.len()];
    let potential = membrane.evaluate(positions, history, &mut forces);
    (potential, forces)
}

fn moved(positions: &[Vec3], direction: &[Vec3], step: f64) -> Vec<Vec3> {
    positions.iter().zip(direction).map(|(x, d)| x + d * step).collect()
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

fn norm(a: &[Vec3]) -> f64 {
    dot(a, a).sqrt()
}

#[test]
fn membrane_forces_are_the_gradient_of_elastic_and_viscous_potential() {
    let (strip, mesh) = strip_and_mesh();
    let mut membrane = Membrane::new(&mesh, &[fabric()]);
    let mut noise = Noise::new(1);
    for size in [0.01, 0.1] {
        let count = strip.points.len();
        let shape = moved(&strip.points, &noise.vectors(count, 1.0), size);
        let mut past = vec![[0.0; 3]; membrane.triangle_count()];
        membrane.strains(&moved(&strip.points, &noise.vectors(count, 1.0), size), &mut past);
        for inverse_beta in [0.0, 100.0] {
            let history = StrainHistory { reference: past.as_slice(), inverse_beta };
            let (_, forces) = evaluate(&mut membrane, &shape, history);
            for _ in 0..5 {
                let direction = noise.vectors(count, 1.0);
                let step = 1.0e-5;
                let [ahead, behind] = [step, -step]
                    .map(|s| evaluate(&mut membrane, &moved(&shape, &direction, s), history).0);
                let difference = (behind - ahead) / (2.0 * step);
                let error = (dot(&forces, &direction) - difference).abs();
                let scale = norm(&forces) * norm(&direction);
                // The potential is of fourth degree: the difference errs by step² relative to size².
                assert!(error < 1.0e-5 * scale, "{size} m, 1/β {inverse_beta}: {error:e}");
            }
        }
    }
}

/// Where all stress is tension nothing is left out of the tangent, whose entries are single precision.
#[test]
fn the_membrane_tangent_is_the_derivative_of_the_forces_under_tension() {
    let (strip, mesh) = strip_and_mesh();
    let mut membrane = Membrane::new(&mesh, &[fabric()]);
    let mut noise = Noise::new(2);
    let turn = Rotation3::new(Vec3::new(0.4, -0.9, 0.3));
    let spread = strip.map(|p| turn * Vec3::new(1.3 * p.x, 1.25 * p.y, 0.1 * p.x * p.y));
    let shape = moved(&spread, &noise.vectors(spread.len(), 1.0), 0.003);
    let mut rest = vec![[0.0; 3]; membrane.triangle_count()];
    membrane.strains(&strip.points, &mut rest);
    for inverse_beta in [0.0, 20.0] {
        let history = StrainHistory { reference: rest.as_slice(), inverse_beta };
        for _ in 0..5 {
            let direction = noise.vectors(spread.len(), 1.0);
            let step = 1.0e-5;
            let [ahead, behind] = [step, -step]
                .map(|s| evaluate(&mut membrane, &moved(&shape, &direction, s), history).1);
            evaluate(&mut membrane, &shape, history);
            let product = tangent_product(&membrane, &mesh, &direction);
            let error: Vec<Vec3> = (0..shape.len())
                .map(|v| (behind[v] - ahead[v]) / (2.0 * step) - product[v])
                .collect();
            assert!(norm(&error) < 1.0e-5 * norm(&product), "{:e}", norm(&error) / norm(&product));
        }
    }
}

/// The product of the assembled blocks and a direction.
fn tangent_product(membrane: &Membrane, mesh: &Mesh, direction: &[Vec3]) -> Vec<Vec3> {
    let mut product = vec![Vec3::zeros(); direction.len()];
    for (index, corners) in mesh.topology.triangles.iter().enumerate() {
        let tangent = membrane.tangent(index);
        for (i, j) in (0..9).map(|pair| (pair / 3, pair % 3)) {
            let columns = tangent.block(i, j);
            let block = Matrix3::from_fn(|row, column| f64::from(columns[column][row]));
            product[corners[i] as usize] += block * direction[corners[j] as usize];
        }
    }
    product
}

#[test]
fn the_membrane_tangent_takes_energy_from_every_motion_of_any_shape() {
    let (strip, mesh) = strip_and_mesh();
    let mut membrane = Membrane::new(&mesh, &[fabric()]);
    let mut noise = Noise::new(4);
    let rest = vec![[0.0; 3]; membrane.triangle_count()];
    for size in [0.0, 0.01, 0.3] {
        let crushed = strip.map(|p| p * 0.7);
        let shape = moved(&crushed, &noise.vectors(crushed.len(), 1.0), size);
        let history = StrainHistory { reference: rest.as_slice(), inverse_beta: 10.0 };
        evaluate(&mut membrane, &shape, history);
        for _ in 0..50 {
            let direction = noise.vectors(shape.len(), 1.0);
            let product = tangent_product(&membrane, &mesh, &direction);
            assert!(dot(&product, &direction) > 0.0, "{size} m");
        }
    }
}

#[test]
fn a_rigid_motion_calls_for_no_force() {
    let (strip, mesh) = strip_and_mesh();
    let material = fabric();
    let mut membrane = Membrane::new(&mesh, std::slice::from_ref(&material));
    let pinned = vec![false; strip.points.len()];
    let mut bending = Bending::new(&mesh, &[BendingLaw::from(&material)], &pinned);
    let flat = vec![[0.0; 3]; membrane.triangle_count()];
    let mut noise = Noise::new(3);
    for _ in 0..20 {
        let turn = Rotation3::new(noise.vectors(1, 3.0)[0]);
        let shift = noise.vectors(1, 2.0)[0];
        let shape = strip.map(|p| turn * p + shift);
        let history = StrainHistory { reference: flat.as_slice(), inverse_beta: 0.0 };
        let (_, mut forces) = evaluate(&mut membrane, &shape, history);
        let rest = StrainHistory { reference: &[], inverse_beta: 0.0 };
        bending.evaluate(&shape, rest, &mut forces);
        // Coordinates of 5 m are known to 1e-15 m, strains over 0.1 m to 1e-14.
        assert!(norm(&forces) < 1.0e-14 * 900.0 * 10.0, "{:e} N", norm(&forces));
    }
}

/// A shape, another one step before it, and the forces in it, with bending or without.
fn shaken_forces(seed: u64, size: f64, with_bending: bool) -> (Vec<Vec3>, Vec<Vec3>) {
    let (strip, mesh) = strip_and_mesh();
    let material = fabric();
    let mut membrane = Membrane::new(&mesh, std::slice::from_ref(&material));
    let mut noise = Noise::new(seed);
    let mut shaken = || moved(&strip.points, &noise.vectors(strip.points.len(), 1.0), size);
    let (past, now) = (shaken(), shaken());
    let mut strains = vec![[0.0; 3]; membrane.triangle_count()];
    membrane.strains(&past, &mut strains);
    let history = StrainHistory { reference: strains.as_slice(), inverse_beta: 100.0 };
    let (_, mut forces) = evaluate(&mut membrane, &now, history);
    if with_bending {
        let pinned = vec![false; now.len()];
        let mut bending = Bending::new(&mesh, &[BendingLaw::from(&material)], &pinned);
        let mut angles = vec![0.0; bending.hinge_count()];
        bending.angles(&past, &mut angles);
        let history = StrainHistory { reference: &angles, inverse_beta: 100.0 };
        bending.evaluate(&now, history, &mut forces);
    }
    (now, forces)
}

/// Internal forces have neither a resultant nor a moment.
fn check_wrench(positions: &[Vec3], forces: &[Vec3]) -> Result<(), TestCaseError> {
    let scale = forces.iter().map(Vec3::norm).sum::<f64>();
    let force: Vec3 = forces.iter().sum();
    let torque: Vec3 = positions.iter().zip(forces).map(|(x, f)| x.cross(f)).sum();
    prop_assert!(force.norm() <= 1.0e-12 * scale, "{force:?} of {scale}");
    prop_assert!(torque.norm() <= 1.0e-12 * scale, "{torque:?} of {scale}");
    Ok(())
}

proptest! {
    #[test]
    fn the_membrane_neither_pushes_nor_turns_itself(seed in 0_u64..1_000_000, size in 0.0..0.5_f64) {
        let (positions, forces) = shaken_forces(seed, size, false);
        check_wrench(&positions, &forces)?;
    }

    /// Shaken by less than the heights of triangles: in those that collapse the gradients of angles are cut off.
    #[test]
    fn a_sheet_neither_pushes_nor_turns_itself(seed in 0_u64..1_000_000, size in 0.0..0.02_f64) {
        let (positions, forces) = shaken_forces(seed, size, true);
        check_wrench(&positions, &forces)?;
    }
}

/// The force of the air is minus the gradient by velocity of its dissipation Σ ½⟨v − w, D(v − w)⟩, and takes energy
/// from any motion relative to the wind.
#[test]
fn the_air_resists_and_nothing_else() {
    let (strip, mesh) = strip_and_mesh();
    let wind = Vec3::new(1.0, -2.0, 0.5);
    let mut air = Air::new(&mesh, &[fabric()], 1.2, wind);
    let mut noise = Noise::new(6);
    let shape = moved(&strip.points, &noise.vectors(strip.points.len(), 1.0), 0.1);
    let velocities = noise.vectors(strip.points.len(), 3.0);
    air.set_predicted_state(&shape, &velocities);
    let dissipation =
        |vertex: usize, v: Vec3| 0.5 * (v - wind).dot(&(air.resistance(vertex) * (v - wind)));
    for (vertex, velocity) in velocities.iter().enumerate() {
        let force = air.force(vertex, velocity);
        let step = 1.0e-4;
        let gradient = Vec3::from_fn(|axis, _| {
            let mut shift = Vec3::zeros();
            shift[axis] = step;
            let ahead = dissipation(vertex, velocity + shift);
            (ahead - dissipation(vertex, velocity - shift)) / (2.0 * step)
        });
        assert!((force + gradient).norm() < 1.0e-8 * force.norm(), "vertex {vertex}");
        assert!(force.dot(&(wind - velocity)) > 0.0, "vertex {vertex}");
        assert_eq!(air.force(vertex, &wind), Vec3::zeros());
    }
}
