// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernels that most of the time goes into, each by itself.

use super::{
    folded::{Folded, Pair},
    scene::{STEP, Scene, side_of},
    sheet::{Order, Sheet},
    work::{self, Work},
};
use rayon::prelude::*;
use std::hint::black_box;
use weft::{
    Material, Vec3,
    forces::{Bending, BendingLaw, Membrane, StrainHistory},
    geometry::{SweptAabb, SweptAabbF32, SweptBvh},
    linear_solver::{BlockMatrix, Filter, FilteredMatrix, Multigrid, Preconditioner},
    mesh::Mesh,
    simd::Row3,
};

/// A kernel with its data, ready to be run as often as one likes.
pub(crate) struct Kernel {
    /// Work of one run.
    pub(crate) work: Work,
    pub(crate) run: Box<dyn FnMut() + Send>,
}

impl Kernel {
    fn new(work: Work, run: impl FnMut() + Send + 'static) -> Self {
        Self { work, run: Box::new(run) }
    }
}

/// Makes a kernel on a sheet with a number of vertices.
type Make = fn(usize) -> Kernel;

/// All kernels.
pub(crate) const ALL: [(&str, Make); 9] = [
    ("membrane", membrane),
    ("hinges", hinges),
    ("assembly", assembly),
    ("product", product),
    ("smoother", smoother),
    ("galerkin", galerkin),
    ("refit", refit),
    ("walk", walk),
    ("impacts", impacts),
];

/// 1/β in 1/s, so that there is viscosity.
const INVERSE_BETA: f64 = 100.0;

fn membrane(count: usize) -> Kernel {
    let (mesh, positions) = sheet(count).wavy();
    let mut membrane = Membrane::new(&mesh, &[Material::default()]);
    let mut reference = vec![[0.0; 3]; membrane.triangle_count()];
    membrane.strains(&mesh.rest.positions, &mut reference);
    let mut forces = vec![Vec3::zeros(); count];
    Kernel::new(work::membrane(&mesh), move || {
        let history = StrainHistory { reference: &reference, inverse_beta: INVERSE_BETA };
        black_box(membrane.evaluate(black_box(&positions), history, &mut forces));
    })
}

fn hinges(count: usize) -> Kernel {
    let (mesh, positions) = sheet(count).wavy();
    let law = BendingLaw::from(&Material::default());
    let mut bending = Bending::new(&mesh, &[law], &vec![false; count]);
    let mut reference = vec![0.0; bending.hinge_count()];
    bending.angles(&mesh.rest.positions, &mut reference);
    let mut forces = vec![Vec3::zeros(); count];
    Kernel::new(work::hinges(&mesh), move || {
        let history = StrainHistory { reference: &reference, inverse_beta: INVERSE_BETA };
        black_box(bending.evaluate(black_box(&positions), history, &mut forces));
    })
}

fn assembly(count: usize) -> Kernel {
    let mut scene = hanging(count);
    let work = work::assembly(&mesh(count), scene.simulation.assemble(STEP));
    Kernel::new(work, move || {
        black_box(scene.simulation.assemble(STEP));
    })
}

fn product(count: usize) -> Kernel {
    let matrix = hanging(count).simulation.assemble(STEP).clone();
    let (vector, mut result) = vectors(count);
    Kernel::new(work::product(&matrix), move || {
        black_box(matrix.times_and_dot(black_box(&vector), &mut result));
    })
}

fn smoother(count: usize) -> Kernel {
    let (matrix, mut multigrid) = multigrid(count);
    let (vector, mut result) = vectors(count);
    Kernel::new(work::smoother(&matrix), move || {
        multigrid.smooth(&matrix, black_box(&vector), &mut result);
    })
}

fn galerkin(count: usize) -> Kernel {
    let (matrix, mut multigrid) = multigrid(count);
    Kernel::new(work::galerkin(&matrix), move || multigrid.coarsen(black_box(&matrix)))
}

fn refit(count: usize) -> Kernel {
    let (edges, mut tree) = folded(count);
    let work = work::refit(edges.count(), 2, size_of::<usize>(), edges.vertex_count());
    Kernel::new(work, move || tree.refit_with(|edge| SweptAabbF32::from(&edges.bounds(edge))))
}

fn walk(count: usize) -> Kernel {
    let (edges, tree) = folded(count);
    let mut found = Vec::new();
    edges.find(&tree, &mut found);
    Kernel::new(work::walk(edges.count(), found.len()), move || edges.find(&tree, &mut found))
}

fn impacts(count: usize) -> Kernel {
    /// Pairs that are worth a task of their own.
    const PAIRS: usize = 512;
    let (edges, tree) = folded(count);
    let mut found: Vec<Pair> = Vec::new();
    edges.find(&tree, &mut found);
    Kernel::new(work::impacts(found.len(), size_of::<usize>()), move || {
        let pairs = found.par_iter().with_min_len(PAIRS);
        black_box(pairs.filter(|pair| edges.meets(**pair)).count());
    })
}

fn sheet(count: usize) -> Sheet {
    Sheet::new(side_of(count), Order::Patches, 0)
}

/// The mesh of a flat sheet.
pub(crate) fn mesh(count: usize) -> Mesh {
    let sheet = sheet(count);
    Mesh::new(&sheet.polygons, &sheet.positions, None).expect("a sound sheet")
}

/// A sheet that has hung for two steps.
fn hanging(count: usize) -> Scene {
    let mut scene = Scene::new(count, 1, Order::Patches);
    scene.advance(2);
    scene
}

fn multigrid(count: usize) -> (BlockMatrix, Multigrid) {
    let mut simulation = hanging(count).simulation;
    let matrix = simulation.assemble(STEP).clone();
    let ordering = simulation.ordering();
    let mesh = mesh(count);
    let edges: Vec<[u32; 2]> = mesh.topology.edges.iter().map(|edge| edge.vertices).collect();
    let mut multigrid = Multigrid::new(matrix.pattern(), &ordering.rows_of(&edges));
    let places = simulation.positions(0).expect("a cloth");
    let positions: Vec<Vec3> = (0..count).map(|row| places[ordering.vertex(row)]).collect();
    let (filter, positions) = (&Filter::new(count), &positions);
    multigrid.update(FilteredMatrix { matrix: &matrix, filter, positions });
    (matrix, multigrid)
}

/// A vector without any pattern, and place for a result.
fn vectors(count: usize) -> (Vec<Row3>, Vec<Row3>) {
    let row = |n: usize| [0.1, 0.2, 0.3].map(|phase: f32| (phase * n as f32).sin());
    let vector = (0..count).map(row).map(|[x, y, z]| [x, y, z, 0.0]);
    (vector.collect(), vec![[0.0; 4]; count])
}

fn folded(count: usize) -> (Folded, SweptBvh) {
    let edges = Folded::new(side_of(count));
    let boxes: Vec<SweptAabb> = (0..edges.count() as u32).map(|edge| edges.bounds(edge)).collect();
    (edges, SweptBvh::new(&boxes))
}
