// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that colliders pinch moves with them, keeps its shape and its order, and comes free (Baraff, Witkin and Kass
//! 2003, section 6).

use crate::fixtures::scenes::{Ball, sheet, vacuum};
use weft::{Cloth, ClothVertex, Collider, Material, Report, Settings, Simulation, Vec3};

const FRAME: f64 = 1.0 / 24.0;
/// Contact thickness of cloth and of colliders, in m.
const THICKNESS: f64 = 1.0e-3;

/// Two balls in one collider, above and below the plane z = 0, of which the nearest points are `gap` in m apart.
struct Jaws {
    ball: Ball,
}

impl Jaws {
    const RADIUS: f64 = 0.1;

    fn new() -> Self {
        Self { ball: Ball::new(Self::RADIUS, 32, 16) }
    }

    fn positions(&self, gap: f64, slide: f64) -> Vec<Vec3> {
        let centre = |side: f64| Vec3::new(side * slide, 0.0, side * (Self::RADIUS + 0.5 * gap));
        [-1.0, 1.0].into_iter().flat_map(|side| self.ball.around(centre(side))).collect()
    }

    fn collider(&self, gap: f64) -> Collider {
        let count = self.ball.around(Vec3::zeros()).len();
        let triangles = self.ball.triangles.iter();
        let upper = triangles.clone().map(|corners| corners.map(|vertex| vertex + count));
        let triangles: Vec<[usize; 3]> = triangles.copied().chain(upper).collect();
        Collider::new(self.positions(gap, 0.0), &triangles, 0.3, THICKNESS).unwrap()
    }
}

fn layers(count: usize) -> Vec<Cloth> {
    let material = Material { thickness: THICKNESS, ..Material::preset("cotton").unwrap() };
    let height = |layer: usize| (layer as f64 - 0.5 * (count as f64 - 1.0)) * 4.0 * THICKNESS;
    (0..count).map(|layer| sheet(17, 0.3, height(layer), material.clone())).collect()
}

fn settings() -> Settings {
    Settings { tolerance: 0.02, threads: 1, ..vacuum() }
}

/// A simulation of layers between jaws that close to an overlap, slide, and open, all in m. Calls `look` after every
/// frame.
fn squeeze(
    count: usize,
    overlap: f64,
    slide: f64,
    mut look: impl FnMut(usize, &Simulation, &Report),
) {
    let jaws = Jaws::new();
    let open = 0.03;
    let mut simulation =
        Simulation::new(&layers(count), &[jaws.collider(open)], settings()).unwrap();
    for frame in 1..=24 {
        let phase = frame as f64 / 6.0;
        let closed = if phase <= 2.0 { phase.min(1.0) } else { (3.0 - phase).max(0.0) };
        let gap = open - (open + overlap) * closed;
        let positions = jaws.positions(gap, slide * (phase - 1.0).clamp(0.0, 1.0));
        simulation.set_collider(0, positions).unwrap();
        let report = simulation.advance(FRAME).unwrap();
        assert!(report.max_stretch < 1.0, "frame {frame}: stretched by {}", report.max_stretch);
        look(frame, &simulation, &report);
    }
}

#[test]
fn layers_between_bodies_that_overlap_keep_their_shape_and_their_order_and_come_free() {
    for count in [1, 2, 3] {
        for slide in [0.0, 0.01] {
            let mut largest = 0;
            squeeze(count, 0.02, slide, |frame, simulation, report| {
                largest = largest.max(report.pinched_vertices.len());
                if frame < 24 {
                    return;
                }
                assert_eq!(report.pinched_vertices, [], "{count} layers");
                // Sheets without crossings, whose centres are in order, lie in order everywhere.
                assert_eq!(report.unresolved_contacts, 0, "{count} layers");
                let height = |cloth: usize| {
                    let positions = simulation.positions(cloth).unwrap();
                    positions.iter().map(|point| point.z).sum::<f64>() / positions.len() as f64
                };
                let heights: Vec<f64> = (0..count).map(height).collect();
                assert!(heights.is_sorted(), "{count} layers: mean heights of {heights:?} m");
            });
            assert!(largest > 2 * count, "{count} layers: {largest} vertices were pinched");
        }
    }
}

#[test]
fn bodies_with_room_for_the_compressed_cloth_pinch_nothing() {
    squeeze(1, -1.5 * THICKNESS, 0.0, |frame, _, report| {
        assert_eq!(report.pinched_vertices, [], "frame {frame}");
    });
}

/// Halfway between two bodies that overlap and have slid past each other: on the plane between their centres, but for
/// the facets, of which the middles are half a millimetre inside of the sphere.
#[test]
fn pinched_cloth_is_halfway_between_both_bodies() {
    let (overlap, slide) = (0.02, 0.01);
    squeeze(1, overlap, slide, |frame, simulation, report| {
        if frame == 12 {
            let axis = Vec3::new(slide, 0.0, Jaws::RADIUS - 0.5 * overlap).normalize();
            for ClothVertex { vertex, .. } in &report.pinched_vertices {
                let height = simulation.positions(0).unwrap()[*vertex].dot(&axis);
                assert!(height.abs() < 1.0e-3, "vertex {vertex} is {height} m off");
            }
        }
    });
}

/// A checkpoint taken while cloth is pinched continues with the same bits.
#[test]
fn a_checkpoint_keeps_what_is_pinched() {
    let jaws = Jaws::new();
    let start = || Simulation::new(&layers(2), &[jaws.collider(0.03)], settings()).unwrap();
    let drive = |simulation: &mut Simulation, frames: std::ops::Range<u32>| {
        let mut pinched_count = 0;
        for frame in frames {
            let gap = 0.03 - 0.008 * f64::from(frame.min(12 - frame));
            simulation.set_collider(0, jaws.positions(gap, 0.0)).unwrap();
            pinched_count = simulation.advance(FRAME).unwrap().pinched_vertices.len();
        }
        pinched_count
    };
    let mut whole = start();
    assert!(drive(&mut whole, 1..6) > 0);
    let mut resumed = start();
    resumed.restore(&whole.state().unwrap()).unwrap();
    drive(&mut whole, 6..12);
    drive(&mut resumed, 6..12);
    assert_eq!(whole.positions(0).unwrap(), resumed.positions(0).unwrap());
}
