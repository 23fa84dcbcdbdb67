// SPDX-License-Identifier: MIT OR Apache-2.0
//! Newton corrections of hanging sheets, stage by stage.
//!
//! `cargo bench --bench solver -- 2500 10000` picks sizes, in vertices.

use std::time::Instant;
use weft::{Cloth, Material, Report, Settings, Simulation, Vec3, mesh::Polygons};

/// Vertices of the sheets unless said otherwise.
const SIZES: [usize; 4] = [2_500, 10_000, 40_000, 160_000];
/// Steps before and while timing.
const WARM_UP: usize = 2;
const STEPS: usize = 20;

/// A sheet of 1 m hanging from two corners, in quads, with its vertices in a shuffled order if so wanted.
fn sheet(side: usize, shuffled: bool) -> (Cloth, [usize; 2]) {
    let count = side * side;
    // Multiplying by a number without a common factor permutes.
    let stride = (count as f64 * 0.618) as usize;
    let stride = (stride..).find(|stride| gcd(*stride, count) == 1).unwrap_or(1);
    let place = |vertex: usize| if shuffled { vertex * stride % count } else { vertex };
    let mut positions = vec![Vec3::zeros(); count];
    for vertex in 0..count {
        let part = |index: usize| index as f64 / (side - 1) as f64;
        positions[place(vertex)] = Vec3::new(part(vertex % side), part(vertex / side), 0.0);
    }
    let corner = |n: usize| n % (side - 1) + side * (n / (side - 1));
    let quads = (0..(side - 1) * (side - 1)).map(corner);
    let corners: Vec<usize> =
        quads.flat_map(|a| [a, a + 1, a + 1 + side, a + side].map(place)).collect();
    let polygons = Polygons::new(&vec![4; corners.len() / 4], &corners, count);
    let cloth = polygons
        .and_then(|polygons| Cloth::new(positions, &polygons, Material::default(), None, None));
    (cloth.expect("a sound sheet"), [place(0), place(side - 1)])
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Runs a sheet and prints a row of the table: milliseconds per correction by task.
fn run(count: usize, threads: usize, shuffled: bool) {
    let side = (count as f64).sqrt().round() as usize;
    let (cloth, pins) = sheet(side, shuffled);
    let settings = Settings { threads, ..Settings::default() };
    let start = Instant::now();
    let mut simulation = Simulation::new(&[cloth], &[], settings).expect("a sound scene");
    let built = start.elapsed().as_secs_f64();
    simulation.set_pins(0, &pins, None).expect("pins");
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
        if shuffled { "yes" } else { "no" },
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
    let sizes = if numbers.is_empty() { SIZES.to_vec() } else { numbers };
    eprintln!(
        "vertices threads shuffled corrections linear/ms: forces assembly precond. linear (one) all build/s"
    );
    for count in sizes {
        for threads in [1, 2] {
            run(count, threads, false);
            if std::env::args().any(|word| word == "shuffled") {
                run(count, threads, true);
            }
        }
    }
}
