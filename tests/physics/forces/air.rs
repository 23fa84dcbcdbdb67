// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth in air: the force on a plate, and the speed at which it falls.

use crate::fixtures::{
    scenes::{sheet, vacuum},
    strips::{Pattern, Strip},
};
use nalgebra::Rotation3;
use weft::{Material, Settings, Simulation, Vec3, forces::Air, mesh::Mesh};

const AIR: f64 = 1.2;

/// ½ρA‖u‖(c_drag·u_n + c_lift·u_t) for the wind u relative to a plate of area A (Etzmuss 2002, eq. 2.35–2.37), however it
/// is cut into triangles and whichever way it turns.
#[test]
fn a_plate_in_the_wind_feels_the_force_of_its_area() {
    let strip = Strip::new(Pattern::Random, 0.5, [6, 5]);
    let turn = Rotation3::new(Vec3::new(0.5, 0.2, -1.0));
    let plate = strip.map(|p| turn * p);
    let (normal, area) = (turn * Vec3::z(), strip.length * strip.width);
    let mesh = Mesh::new(&strip.polygons(), &plate, None).unwrap();
    let material = Material { air_drag: 1.4, air_lift: 0.2, ..Material::default() };
    let (wind, velocity) = (Vec3::new(3.0, -1.0, 2.0), Vec3::new(-0.5, 1.0, 1.5));
    let mut air = Air::new(&mesh, &[material], AIR, wind);
    air.set_predicted_state(&plate, &vec![velocity; plate.len()]);
    let found: Vec3 = (0..plate.len()).map(|vertex| air.force(vertex, &velocity)).sum();
    let flow = wind - velocity;
    let across = normal * normal.dot(&flow);
    let wanted = (across * 1.4 + (flow - across) * 0.2) * (0.5 * AIR * area * flow.norm());
    assert!((found - wanted).norm() < 1.0e-12 * wanted.norm(), "{found:?}, not {wanted:?}");
}

/// A sheet that falls flat: v = v∞ tanh(gt/v∞) with ½ρ·c_drag·v∞² = g times its mass per area.
#[test]
fn a_sheet_falls_through_air_at_its_terminal_speed() {
    let material = Material { air_drag: 1.3, ..Material::default() };
    let gravity = 9.81;
    let terminal = (2.0 * material.density * gravity / (AIR * material.air_drag)).sqrt();
    let settings =
        Settings { gravity: Vec3::z() * -gravity, air_density: AIR, tolerance: 1.0e-6, ..vacuum() };
    let time_step = settings.time_step;
    let cloth = sheet(8, 0.5, 0.0, material);
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    for _ in 0..24 {
        simulation.advance(1.0 / 24.0).unwrap();
        let time = simulation.time();
        let wanted = -terminal * (gravity * time / terminal).tanh();
        for velocity in simulation.velocities(0).unwrap() {
            // Second order in the step against the time v∞/g that the fall takes to become steady.
            let allowed = (gravity * 0.5 * time_step / terminal).powi(2) * terminal;
            assert!((velocity.z - wanted).abs() < allowed, "{time} s: {velocity:?}, not {wanted}");
        }
    }
}
