// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of collision detection: the tree over a torus of 20 000 triangles, 10 000 points beside it, a
//! cloth with itself, and one pair of moving things.

mod shared;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{
    THREADS,
    folded::{Folded, Pair, THICKNESS},
    pool,
};
use std::f64::consts::TAU;
use std::hint::black_box;
use weft::{
    Vec3,
    geometry::{
        Aabb, AabbTree, SweptAabb, SweptAabbF32, SweptBvh, Trajectory, closest_point_on_triangle,
        closest_points_of_segments, edge_edge_ccd, edge_edge_stay_separated, point_triangle_ccd,
        segment_intersects_triangle,
    },
};

/// Point of a torus, at a height in m above its surface.
fn on_torus(around: f64, along: f64, height: f64) -> Vec3 {
    let (sine, cosine) = (TAU * along).sin_cos();
    let across = 0.3 + height;
    let (spin, turn) = (TAU * around).sin_cos();
    Vec3::new(turn * (1.0 + across * cosine), spin * (1.0 + across * cosine), across * sine)
}

fn torus(sides: usize) -> Vec<[Vec3; 3]> {
    let corner = |i: usize, j: usize| {
        on_torus((i % sides) as f64 / sides as f64, (j % sides) as f64 / sides as f64, 0.0)
    };
    let cell = |index: usize| {
        let (i, j) = (index / sides, index % sides);
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    (0..sides * sides).flat_map(cell).collect()
}

/// Points spread over the torus by the golden ratio, up to 3 cm above it.
fn points_beside(count: usize) -> Vec<Vec3> {
    let golden = 0.618_033_988_749_895;
    let point = |i: usize| {
        let share = i as f64 / count as f64;
        on_torus(share, (i as f64 * golden).fract(), 0.03 * (i as f64 * golden * golden).fract())
    };
    (0..count).map(point).collect()
}

fn tree(criterion: &mut Criterion) {
    let triangles = torus(100);
    let points = points_beside(10_000);
    let boxes: Vec<Aabb> = triangles.iter().map(Aabb::from_points).collect();
    let mut tree = AabbTree::new(&boxes);
    let mut group = criterion.benchmark_group("20 000 triangles");
    group.bench_function("build", |b| b.iter(|| AabbTree::new(black_box(&boxes))));
    group.bench_function("refit", |b| b.iter(|| tree.refit(black_box(&boxes))));
    let mut found = Vec::new();
    group.bench_function("10 000 boxes of 2 cm", |b| {
        b.iter(|| {
            found.clear();
            for point in &points {
                let bounds = Aabb::from_points([point]).inflated(0.01);
                tree.for_each_overlapping(&bounds, |triangle| found.push(triangle));
            }
            found.len()
        });
    });
    for (name, radius) in [("within 5 cm", 0.05), ("anywhere", f64::INFINITY)] {
        group.bench_function(format!("10 000 nearest {name}"), |b| {
            let nearest = |point: &Vec3| {
                tree.nearest(point, radius, |triangle| {
                    let closest = closest_point_on_triangle(point, &triangles[triangle]);
                    (closest.distance_squared, closest)
                })
            };
            b.iter(|| points.iter().filter_map(nearest).count());
        });
    }
    group.finish();
}

fn path(start: Vec3, end: Vec3) -> Trajectory {
    Trajectory { start, end }
}

/// A triangle that turns about its corners' sum, and points that move against it.
fn pairs(criterion: &mut Criterion) {
    let at = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    let triangle = [
        path(at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.02)),
        path(at(0.1, 0.0, 0.0), at(0.1, 0.0, -0.01)),
        path(at(0.0, 0.1, 0.0), at(0.01, 0.1, 0.01)),
    ];
    let cases = [
        ("hit", path(at(0.03, 0.02, 0.05), at(0.04, 0.03, -0.05))),
        ("near miss", path(at(0.06, 0.06, 0.05), at(0.07, 0.06, -0.05))),
        ("sliding", path(at(0.02, 0.02, 0.004), at(0.05, 0.03, 0.004))),
        ("far", path(at(0.03, 0.02, 1.0), at(0.04, 0.03, 0.9))),
    ];
    let still = triangle.map(|corner| corner.start);
    let edge = [triangle[0], triangle[1]];
    let mut group = criterion.benchmark_group("pair");
    for (name, point) in cases {
        group.bench_function(format!("point and triangle, {name}"), |b| {
            b.iter(|| point_triangle_ccd(black_box(&point), black_box(&triangle), 0.001));
        });
        let beside = |place: Vec3| place + at(0.01, -0.2, 0.01);
        let other = [point, path(beside(point.start), beside(point.end))];
        group.bench_function(format!("edge and edge, {name}"), |b| {
            b.iter(|| edge_edge_ccd(black_box(&edge), black_box(&other), 0.001));
        });
        group.bench_function(format!("crossing, {name}"), |b| {
            b.iter(|| segment_intersects_triangle(black_box(&point.start), &point.end, &still));
        });
    }
    let [(_, point), ..] = cases;
    group.bench_function("closest on triangle", |b| {
        b.iter(|| closest_point_on_triangle(black_box(&point.start), black_box(&still)));
    });
    let edges = [[still[0], still[1]], [point.start, point.end]];
    group.bench_function("closest on segments", |b| {
        b.iter(|| closest_points_of_segments(black_box(&edges[0]), black_box(&edges[1])));
    });
    group.finish();
}

/// Cost of detecting self-contact of a cloth, on one thread and on two.
fn self_contact(criterion: &mut Criterion) {
    for side in [100, 400] {
        let cloth = Folded::new(side);
        let boxes: Vec<SweptAabb> =
            (0..cloth.count() as u32).map(|edge| cloth.bounds(edge)).collect();
        let mut tree = SweptBvh::new(&boxes);
        let mut found = Vec::new();
        let mut group = criterion.benchmark_group(format!("{} edges", boxes.len()));
        group.sample_size(20);
        for threads in THREADS {
            let pool = pool(threads);
            group.bench_function(format!("build, {threads} threads"), |b| {
                b.iter(|| pool.install(|| SweptBvh::new(&boxes)));
            });
            group.bench_function(format!("refit, {threads} threads"), |b| {
                b.iter(|| {
                    pool.install(|| {
                        tree.refit_with(|edge| SweptAabbF32::from(&cloth.bounds(edge)));
                    });
                });
            });
            group.bench_function(format!("pairs, {threads} threads"), |b| {
                b.iter(|| pool.install(|| cloth.find(&tree, &mut found)));
            });
        }
        group.throughput(Throughput::Elements(found.len() as u64));
        group.bench_function("pairs told apart by a plane at rest", |b| {
            let is_apart = |pair: &&Pair| {
                let [start, end] = cloth.ends(**pair);
                edge_edge_stay_separated(start, end, THICKNESS)
            };
            b.iter(|| found.iter().filter(is_apart).count());
        });
        group.bench_function("impacts of pairs", |b| {
            b.iter(|| found.iter().filter(|pair| cloth.meets(**pair)).count());
        });
        group.finish();
    }
}

criterion_group!(benches, tree, self_contact, pairs);
criterion_main!(benches);
