// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending forces and their linearisation: time per triangle, on one and on two threads.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use weft::{
    Material, Vec3,
    forces::{
        StrainHistory,
        bending::{Bending, BendingLaw},
    },
    mesh::{Mesh, Polygons},
};

/// Vertices along each side of the sheet.
const SIDE: usize = 100;

/// A wavy sheet of 1 m whose vertices are shifted off the grid.
fn sheet() -> (Mesh, Vec<Vec3>) {
    let step = 1.0 / (SIDE - 1) as f64;
    let vertex = |n: usize| {
        let shift = |phase: f64| 0.3 * step * (n as f64 * phase).sin();
        let (x, y) = ((n % SIDE) as f64 * step, (n / SIDE) as f64 * step);
        Vec3::new(x + shift(12.9898), y + shift(78.233), 0.0)
    };
    let rest: Vec<Vec3> = (0..SIDE * SIDE).map(vertex).collect();
    let corner = |n: usize| n % (SIDE - 1) + SIDE * (n / (SIDE - 1));
    let quads = (0..(SIDE - 1) * (SIDE - 1)).map(corner);
    let corners: Vec<usize> = quads.flat_map(|a| [a, a + 1, a + 1 + SIDE, a + SIDE]).collect();
    let polygons = Polygons::new(&vec![4; corners.len() / 4], &corners, rest.len());
    let mesh = polygons.and_then(|polygons| Mesh::new(&polygons, &rest, None));
    let bent = rest.iter().map(|x| {
        Vec3::new(x.x, x.y, 0.05 * (7.0 * x.x + 3.0 * x.y).sin() + 0.02 * (31.0 * x.y).sin())
    });
    (mesh.expect("a sound sheet"), bent.collect())
}

fn bending(criterion: &mut Criterion) {
    let (mesh, positions) = sheet();
    let law = BendingLaw::from(&Material::default());
    let mut bending = Bending::new(&mesh, &[law], &vec![false; positions.len()]);
    let mut angles = vec![0.0; bending.hinge_count()];
    bending.angles(&positions, &mut angles);
    let elastic = StrainHistory { reference: &[], inverse_beta: 0.0 };
    let viscous = StrainHistory { reference: &angles, inverse_beta: 100.0 };
    let mut out = vec![Vec3::zeros(); positions.len()];
    let mut group = criterion.benchmark_group("bending");
    group.throughput(Throughput::Elements(mesh.topology.triangles.len() as u64));
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads");
        for (name, history) in [("evaluate", elastic), ("evaluate with viscosity", viscous)] {
            group.bench_function(format!("{name}, {threads} threads"), |bencher| {
                pool.install(|| {
                    bencher.iter(|| bending.evaluate(black_box(&positions), history, &mut out));
                });
            });
        }
        group.bench_function(format!("product, {threads} threads"), |bencher| {
            pool.install(|| bencher.iter(|| bending.add_product(black_box(&positions), &mut out)));
        });
        group.bench_function(format!("another rigidity, {threads} threads"), |bencher| {
            let mut changed = law;
            pool.install(|| {
                bencher.iter(|| {
                    changed.rigidity.d11 *= 1.0 + 1e-12;
                    bending.set_law(&mesh, 0, black_box(changed));
                });
            });
        });
    }
    group.bench_function("build", |bencher| {
        bencher.iter(|| Bending::new(black_box(&mesh), &[law], &vec![false; positions.len()]));
    });
    group.finish();
}

criterion_group!(benches, bending);
criterion_main!(benches);
