// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending forces and their linearisation: time per triangle, on one and on two threads.

mod shared;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{
    THREADS, pool,
    sheet::{Order, Sheet},
};
use std::hint::black_box;
use weft::{
    Material, Vec3,
    forces::{Bending, BendingLaw, StrainHistory},
};

/// Vertices along each side of the sheet.
const SIDE: usize = 100;

fn bending(criterion: &mut Criterion) {
    let (mesh, positions) = Sheet::new(SIDE, Order::Rows, 0).wavy();
    let law = BendingLaw::from(&Material::default());
    let mut bending = Bending::new(&mesh, &[law], &vec![false; positions.len()]);
    let mut angles = vec![0.0; bending.hinge_count()];
    bending.angles(&positions, &mut angles);
    let elastic = StrainHistory { reference: &[], inverse_beta: 0.0 };
    let viscous = StrainHistory { reference: &angles, inverse_beta: 100.0 };
    let mut out = vec![Vec3::zeros(); positions.len()];
    let mut group = criterion.benchmark_group("bending");
    group.throughput(Throughput::Elements(mesh.topology.triangles.len() as u64));
    for threads in THREADS {
        let pool = pool(threads);
        for (name, history) in [("evaluate", elastic), ("evaluate with viscosity", viscous)] {
            group.bench_function(format!("{name}, {threads} threads"), |bencher| {
                pool.install(|| {
                    bencher.iter(|| bending.evaluate(black_box(&positions), history, &mut out));
                });
            });
        }
        group.bench_function(format!("product, {threads} threads"), |bencher| {
            pool.install(|| {
                bencher.iter(|| bending.add_gauss_newton_product(black_box(&positions), &mut out));
            });
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
