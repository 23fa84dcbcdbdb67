// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth against solids: rest, impact, starts within the contact thickness.

use crate::fixtures::scenes::{Ball, grid, ground, sheet, square, vacuum};
use weft::{Cloth, Collider, Material, Report, Settings, Simulation, Vec3, mesh::Polygons};

const GRAVITY: f64 = 9.81;

fn falling() -> Settings {
    Settings { gravity: Vec3::z() * -GRAVITY, tolerance: 1.0e-3, ..vacuum() }
}

fn fastest(simulation: &Simulation) -> f64 {
    simulation.velocities(0).unwrap().iter().map(Vec3::norm).fold(0.0, f64::max)
}

fn frames(simulation: &mut Simulation, count: usize) -> Vec<Report> {
    (0..count).map(|_| simulation.advance(1.0 / 24.0).unwrap()).collect()
}

/// Dropped from a height on the ground: after two seconds it lies at the thickness of both and is still.
#[test]
fn a_sheet_comes_to_rest_at_the_thickness_of_both() {
    for (thickness, height) in [(0.001, 0.01), (0.002, 0.1), (0.005, 0.4)] {
        let material = Material { thickness, ..Material::default() };
        let cloth = sheet(12, 0.5, height, material);
        let mut simulation =
            Simulation::new(&[cloth], &[ground(square(4.0), 0.4)], falling()).unwrap();
        frames(&mut simulation, 48);
        let offset = thickness + 0.001;
        for position in simulation.positions(0).unwrap() {
            assert!((position.z / offset - 1.0).abs() < 0.05, "{thickness} m: at {} m", position.z);
        }
        assert!(fastest(&simulation) < 1.0e-3, "{thickness} m: {} m/s", fastest(&simulation));
    }
}

/// An upright sheet of 1 m in the plane y = 0, pinned along its boundary.
fn drum(count: usize, settings: Settings, solid: Collider) -> Simulation {
    let (flat, polygons) = grid(count, count, [1.0; 2]);
    let upright = flat.iter().map(|point| Vec3::new(point.x, 0.0, point.y)).collect();
    let material = Material { thickness: 0.0005, ..Material::default() };
    let cloth = Cloth::new(upright, &polygons, material, Some(&flat), None).unwrap();
    let mut simulation = Simulation::new(&[cloth], &[solid], settings).unwrap();
    let boundary: Vec<usize> = (0..count * count)
        .filter(|vertex| {
            [vertex % count, vertex / count].iter().any(|k| [0, count - 1].contains(k))
        })
        .collect();
    simulation.set_pins(0, &boundary, None).unwrap();
    simulation
}

/// A ball as fast as 10 m/s, that goes further than its diameter in one step of one frame, is caught.
#[test]
fn a_fast_ball_is_caught_by_a_sheet_with_one_step_a_frame() {
    let ball = Ball::new(0.1, 24, 12);
    let centre = |frame: usize| Vec3::y() * (10.0 / 24.0 * frame as f64 - 0.58);
    let settings = Settings { time_step: 1.0 / 24.0, tolerance: 1.0e-2, ..falling() };
    let mut simulation = drum(33, settings, ball.collider(centre(0)));
    let start = simulation.positions(0).unwrap();
    let in_the_way: Vec<usize> =
        (0..start.len()).filter(|vertex| start[*vertex].xz().norm() < 0.08).collect();
    for frame in 1..=10 {
        let centre = centre(frame.min(2));
        simulation.set_collider(0, ball.around(centre)).unwrap();
        let report = simulation.advance(1.0 / 24.0).unwrap();
        assert_eq!(report.unresolved_contacts, 0, "frame {frame}");
        let positions = simulation.positions(0).unwrap();
        for (vertex, position) in positions.iter().enumerate() {
            let depth = ball.depth(&(position - centre));
            assert!(depth <= 0.0, "frame {frame}: vertex {vertex} is {depth} m inside");
        }
        for vertex in &in_the_way {
            let ahead = positions[*vertex].y - centre.y;
            assert!(ahead > 0.0, "frame {frame}: vertex {vertex} is {ahead} m behind");
        }
    }
}

/// A sheet that starts within the thickness is moved out over about a tenth of a second: in one step it would be
/// fifty times as fast. Single vertices of sheets of other sizes and heights are up to 3.5 times as fast for a moment.
#[test]
fn a_sheet_that_starts_too_close_is_moved_out_gradually() {
    for fraction in [0.05, 0.5, 0.0] {
        let thickness = 0.02;
        let material = Material { thickness: thickness - 0.001, ..Material::default() };
        let cloth = sheet(10, 0.5, fraction * thickness, material);
        let settings = Settings { time_step: 1.0 / 480.0, ..falling() };
        let mut simulation =
            Simulation::new(&[cloth], &[ground(square(4.0), 0.4)], settings).unwrap();
        let mut displacement: f64 = 0.0;
        for _ in 0..480 {
            let before = simulation.positions(0).unwrap().to_vec();
            simulation.advance(1.0 / 480.0).unwrap();
            let moved = before.iter().zip(simulation.positions(0).unwrap());
            displacement = moved.map(|(a, b)| (b - a).norm()).fold(displacement, f64::max);
        }
        assert!(
            displacement * 480.0 < 4.0 * thickness / 0.1,
            "{fraction}: {} m/s",
            displacement * 480.0
        );
        for position in simulation.positions(0).unwrap() {
            assert!((position.z / thickness - 1.0).abs() < 0.05, "{fraction}: at {} m", position.z);
        }
    }
}

/// A sheet that falls over a ball, and slides off it, has no vertex inside at the end of any frame.
#[test]
fn a_sheet_that_falls_over_a_ball_has_no_vertex_inside() {
    let ball = Ball::new(0.2, 24, 12);
    for friction in [0.0, 0.5] {
        let cloth = sheet(24, 0.8, 0.25, Material { friction, ..Material::default() });
        let mut simulation =
            Simulation::new(&[cloth], &[ball.collider(Vec3::new(0.05, 0.02, 0.0))], falling())
                .unwrap();
        for frame in 1..=24 {
            let report = simulation.advance(1.0 / 24.0).unwrap();
            assert_eq!(report.unresolved_contacts, 0, "frame {frame}");
            for (vertex, position) in simulation.positions(0).unwrap().iter().enumerate() {
                let depth = ball.depth(&(position - Vec3::new(0.05, 0.02, 0.0)));
                assert!(depth <= 0.0, "frame {frame}: vertex {vertex} is {depth} m inside");
            }
        }
    }
}

/// A tip comes up at .2 m/s under a triangle, next to the edge that is pinned: the free corner, with a thousandth of the
/// part in it, is not thrown away to end the impact there.
#[test]
fn a_face_that_is_mostly_held_throws_its_free_corner_nowhere() {
    let flat = [[0.0, 0.0], [0.2, 0.0], [0.1, 0.2]];
    let corners = flat.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
    let face = Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
    let cloth = Cloth::new(corners, &face, Material::default(), None, None).unwrap();
    let tip = |height: f64| {
        let top = Vec3::new(0.1, 0.0002, height);
        let below = [[-0.01, -0.01], [0.01, -0.01], [0.0, 0.01]];
        let base = below.map(|[x, y]| top + Vec3::new(x, y, -0.1));
        [top, base[0], base[1], base[2]].to_vec()
    };
    let faces = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    let solid = Collider::new(tip(-0.006), &faces, 0.0, 0.001).unwrap();
    let settings = Settings { gravity: Vec3::zeros(), ..falling() };
    let mut simulation = Simulation::new(&[cloth], &[solid], settings).unwrap();
    simulation.set_pins(0, &[0, 1], None).unwrap();
    for frame in 1..=4 {
        simulation.set_collider(0, tip(-0.006 + 0.005 * f64::from(frame.min(1)))).unwrap();
        simulation.advance(0.025).unwrap();
        assert!(fastest(&simulation) < 4.0, "frame {frame}: {} m/s", fastest(&simulation));
    }
}

/// The cloth of a corner that is pulled a million million kilometres away cannot be computed. When the corner is
/// back the rest of the cloth is there as well, and has not flown after it.
#[test]
fn what_is_beyond_the_range_of_numbers_comes_to_rest() {
    let cloth = sheet(6, 0.5, 0.0, Material::default());
    let home = Vec3::new(-0.25, -0.25, 0.0);
    let mut simulation = Simulation::new(&[cloth], &[], falling()).unwrap();
    for away in [1.0e15, 1.0e15, 1.0e15, 1.0e15, 0.0] {
        simulation.set_pins(0, &[0], Some(&[home + Vec3::z() * away])).unwrap();
        let report = &frames(&mut simulation, 1)[0];
        assert!(!report.converged, "{away} m: {report:?}");
    }
    frames(&mut simulation, 4);
    for position in simulation.positions(0).unwrap() {
        assert!((position - home).norm() < 10.0, "{position}");
    }
}
