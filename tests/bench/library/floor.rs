// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of the machine, least time of each stage of a step, and the measured time.
//!
//! `cargo bench --bench floor -- 10000` picks sizes, in vertices.
#![allow(clippy::print_stdout, reason = "results")]

mod shared;

use shared::{
    THREADS, kernels,
    machine::Machine,
    scene::{STEP, Scene, cycles, newton_iterations, side_of},
    sheet::Order,
    work::{self, Work},
};

/// Vertices of the sheets unless said otherwise.
const SIZES: [usize; 2] = [10_000, 40_000];
/// Steps before and while timing.
const WARM_UP: usize = 2;
const STEPS: usize = 12;
const NOTES: &str = "
Bytes and operations are computed from the sizes of the structures: every array once where it is read and once where
it is written, what one pass leaves for the next twice; multiplications, additions, divisions and roots of the formulas.
The floor is the larger of the times that these take at the measured bandwidth (of the smallest triad no smaller than
the data of the stage) and at the measured rate of fused multiply-adds (which the library does not use: it rounds
alike on every machine). Measured is the best step; the gap is measured over floor. All is per Newton iteration, but a linear
iteration is a product, a cycle and the vectors; of set-up and cycle the floor has the finest level alone. Forces (of one evaluation; line searches add more),
assembly and set-up of the preconditioner are of a sheet hung by two corners; broad phase (one refit of all trees, every
box looked at once) and contact (one impact for each vertex that touches at the end) of four sheets on the ground.
";

/// A stage of a step.
struct Stage {
    name: &'static str,
    work: Work,
    /// Measured, in s.
    seconds: f64,
}

fn main() {
    // Where there is no such file, nobody knows.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let machine = Machine::measure();
    println!("\nThe floor of this machine (load before: {load}):\n\n{}", machine.table());
    println!(
        "| stage | vertices | threads | bytes a vertex | operations a vertex | ns at the bandwidth \
         | ns at the multiply-adds | measured ns a vertex | gap |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let numbers: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let sizes = if numbers.is_empty() { SIZES.to_vec() } else { numbers };
    for count in sizes {
        for threads in THREADS {
            let stages = hanging(count, threads).into_iter().chain(piled(count, threads));
            for stage in stages {
                print_row(&stage, count, threads, &machine);
            }
        }
    }
    println!("{NOTES}");
}

fn print_row(stage: &Stage, count: usize, threads: usize, machine: &Machine) {
    let Stage { name, work, seconds } = stage;
    let a_vertex = 1.0 / count as f64;
    let [moved, computed] = work.floors(machine, threads);
    println!(
        "| {name} | {count} | {threads} | {:.0} | {:.0} | {:.1} | {:.1} | {:.1} | {:.1} |",
        work.bytes * a_vertex,
        work.operations.iter().sum::<f64>() * a_vertex,
        1e9 * moved * a_vertex,
        1e9 * computed * a_vertex,
        1e9 * seconds * a_vertex,
        seconds / moved.max(computed),
    );
}

/// The stages of a Newton iteration, of a sheet that hangs from two corners.
fn hanging(count: usize, threads: usize) -> Vec<Stage> {
    let mut scene = Scene::new(count, threads, Order::Patches);
    scene.advance(WARM_UP);
    let steps = scene.advance(STEPS);
    let mesh = kernels::mesh(count);
    let matrix = scene.simulation.assemble(STEP).clone();
    let forces = work::membrane(&mesh) + work::hinges(&mesh) + work::rest_of_forces(&mesh);
    let seconds = |task| steps.task(task, newton_iterations);
    let set_up = work::set_up(&matrix);
    let iteration = work::iteration(&matrix);
    vec![
        Stage { name: "forces", work: forces, seconds: seconds("forces") },
        Stage {
            name: "assembly",
            work: work::assembly(&mesh, &matrix),
            seconds: seconds("assembly"),
        },
        Stage { name: "set-up", work: set_up, seconds: seconds("preconditioner") },
        Stage { name: "iteration", work: iteration, seconds: steps.task("linear_solve", cycles) },
    ]
}

/// The stages of contact in a Newton iteration, of a pile of sheets.
fn piled(count: usize, threads: usize) -> Vec<Stage> {
    let mut scene = Scene::new(count, threads, Order::Pile);
    scene.advance(WARM_UP);
    let steps = scene.advance(STEPS);
    let layer = kernels::mesh((side_of(count) / 2).pow(2));
    let [vertices, edges, triangles] =
        [layer.vertex_count(), layer.topology.edges.len(), layer.topology.triangles.len()];
    let trees = [(vertices, 1), (edges, 2), (triangles, 3)];
    let one = |(primitives, corners): (usize, usize)| {
        work::refit(4 * primitives, corners, size_of::<u32>(), 0) + work::walk(4 * primitives, 0)
    };
    let places = work::refit(0, 0, 0, 4 * vertices);
    let contacts = steps.total(|report| report.contacts) / STEPS;
    let impacts = work::impacts(contacts, size_of::<u32>());
    let broad_phase = trees.into_iter().map(one).sum::<Work>() + places;
    let seconds = |task| steps.task(task, newton_iterations);
    vec![
        Stage { name: "broad phase", work: broad_phase, seconds: seconds("broad_phase") },
        Stage { name: "contact", work: impacts, seconds: seconds("contact") },
    ]
}
