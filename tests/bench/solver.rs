// SPDX-License-Identifier: MIT OR Apache-2.0
//! Newton corrections of hanging sheets, stage by stage.
//!
//! `cargo bench --bench solver -- 2500 10000 Rows` picks sizes, in vertices, and their orders.

use std::time::Instant;
use weft::{
    Cloth, Collider, Material, Report, Settings, Simulation, Vec3, mesh::Polygons, solver::patches,
};

/// Vertices of the sheets unless said otherwise.
const SIZES: [usize; 4] = [2_500, 10_000, 40_000, 160_000];
/// Steps before and while timing.
const WARM_UP: usize = 2;
const STEPS: usize = 20;

/// How the vertices of a sheet are numbered; or a pile of four sheets on the ground instead.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Rows,
    Patches,
    Shuffled,
    Pile,
}

/// A sheet of 1 m hanging from two corners, in quads.
fn sheet(side: usize, order: Order, layer: usize) -> (Cloth, [usize; 2]) {
    let count = side * side;
    let corner = |n: usize| n % (side - 1) + side * (n / (side - 1));
    let mut quads: Vec<[usize; 4]> = (0..(side - 1) * (side - 1))
        .map(corner)
        .map(|a| [a, a + 1, a + 1 + side, a + side])
        .collect();
    let places = places(side, order, &quads);
    for corner in quads.iter_mut().flatten() {
        *corner = places[*corner];
    }
    if matches!(order, Order::Patches | Order::Pile) {
        quads.sort_by_key(|corners| *corners.iter().min().unwrap_or(&0));
    }
    let mut positions = vec![Vec3::zeros(); count];
    for (vertex, place) in places.iter().enumerate() {
        let part = |index: usize| index as f64 / (side - 1) as f64;
        positions[*place] = Vec3::new(part(vertex % side), part(vertex / side), 0.0);
        if order == Order::Pile {
            let (sine, cosine) = (0.3 * layer as f64).sin_cos();
            let at = positions[*place] - Vec3::new(0.5, 0.5, 0.0);
            positions[*place] = Vec3::new(
                cosine * at.x - sine * at.y,
                sine * at.x + cosine * at.y,
                0.002 + 0.0021 * layer as f64,
            );
        }
    }
    let corners: Vec<usize> = quads.into_iter().flatten().collect();
    let polygons = Polygons::new(&vec![4; corners.len() / 4], &corners, count);
    let cloth = polygons
        .and_then(|polygons| Cloth::new(positions, &polygons, Material::default(), None, None));
    (cloth.expect("a sound sheet"), [places[0], places[side - 1]])
}

/// Where each vertex of the grid comes in an order.
fn places(side: usize, order: Order, quads: &[[usize; 4]]) -> Vec<usize> {
    let count = side * side;
    let mut places: Vec<usize> = (0..count).collect();
    match order {
        Order::Rows => (),
        Order::Patches | Order::Pile => {
            let sides = quads.iter().flat_map(|[a, b, c, d]| [[a, b], [b, c], [c, d], [d, a]]);
            let edges: Vec<[u32; 2]> =
                sides.map(|edge| edge.map(|vertex| *vertex as u32)).collect();
            for (new, old) in patches(count, &edges).into_iter().enumerate() {
                places[old as usize] = new;
            }
        }
        Order::Shuffled => {
            // Multiplying by a number without a common factor permutes.
            let stride =
                (count * 5 / 13..count).find(|stride| gcd(*stride, count) == 1).unwrap_or(1);
            for (vertex, place) in places.iter_mut().enumerate() {
                *place = vertex * stride % count;
            }
        }
    }
    places
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Runs a sheet and prints a row of the table: milliseconds per correction by task.
fn run(count: usize, threads: usize, order: Order) {
    let side = (1..=count).find(|side| side * side >= count).unwrap_or(count);
    let pile = order == Order::Pile;
    let layers = if pile { 4 } else { 1 };
    let side = if pile { side / 2 } else { side };
    let cloths: Vec<_> = (0..layers).map(|layer| sheet(side, order, layer)).collect();
    let pins = cloths[0].1;
    let cloths: Vec<Cloth> = cloths.into_iter().map(|(cloth, _)| cloth).collect();
    let ground =
        [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let ground =
        Collider::new(ground.to_vec(), &[[0, 1, 2], [0, 2, 3]], 0.3, 0.001).expect("ground");
    let colliders = if pile { vec![ground] } else { vec![] };
    let settings = Settings { threads, ..Settings::default() };
    let start = Instant::now();
    let mut simulation = Simulation::new(&cloths, &colliders, settings).expect("a sound scene");
    let built = start.elapsed().as_secs_f64();
    if !pile {
        simulation.set_pins(0, &pins, None).expect("pins");
    }
    let mut advance = |steps: usize| -> Vec<Report> {
        (0..steps).map(|_| simulation.step(1.0 / 96.0).expect("a step")).collect()
    };
    advance(WARM_UP);
    let reports = advance(STEPS);
    // Other work on the machine only ever adds time: the best step of all is the truest.
    let best =
        |part: &dyn Fn(&Report) -> f64| reports.iter().map(part).fold(f64::INFINITY, f64::min);
    let total = |part: &dyn Fn(&Report) -> usize| reports.iter().map(part).sum::<usize>();
    let corrections = total(&|report| report.newton_iterations);
    let iterations = total(&|report| report.linear_iterations);
    let task = |report: &Report, name: &str| {
        1e3 * report.seconds().find(|(known, _)| *known == name).map_or(0.0, |(_, seconds)| seconds)
    };
    let per_correction =
        |name: &'static str| best(&|report| task(report, name) / report.newton_iterations as f64);
    let cycles = |report: &Report| (report.newton_iterations + report.linear_iterations) as f64;
    eprintln!(
        "{count:>8} {threads:>7} {:>8} {corrections:>11} {:>6.2} {:>7.3} {:>8.3} {:>14.3} {:>6.3} {:>5.3} {:>7.3} {:>5.2}",
        format!("{order:?}"),
        iterations as f64 / corrections as f64,
        per_correction("forces"),
        per_correction("assembly"),
        per_correction("preconditioner"),
        per_correction("linear_solve"),
        best(&|report| task(report, "linear_solve") / cycles(report)),
        best(&|report| 1e3 * report.total_seconds / report.newton_iterations as f64),
        built,
    );
}

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let all = [Order::Rows, Order::Patches, Order::Shuffled, Order::Pile];
    let named = |order: &Order| std::env::args().any(|word| word == format!("{order:?}"));
    let mut orders: Vec<Order> = all.into_iter().filter(named).collect();
    if orders.is_empty() {
        orders = all.to_vec();
    }
    let sizes = if numbers.is_empty() { SIZES.to_vec() } else { numbers };
    eprintln!(
        "vertices threads shuffled corrections linear/ms: forces assembly precond. linear (one) all build/s"
    );
    for count in sizes {
        for threads in [1, 2] {
            for order in &orders {
                run(count, threads, *order);
            }
        }
    }
}
