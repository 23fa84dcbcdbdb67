// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that kernels must move, and operations that they must do, from the sizes of their structures.
//!
//! Every array counts once where it is read and once where it is written; what one pass of a kernel leaves for
//! the next counts twice. Operations are multiplications, additions, divisions and roots of the formulas,
//! without padding, comparisons and addresses.

use super::machine::Machine;
use std::{iter::Sum, ops::Add};
use weft::{
    forces::{BlockCode, Tension},
    linear_solver::{BlockMatrix, BlockPair, GROUP},
    mesh::Mesh,
    simd::{Block, Row3},
};

/// Bytes of stored data.
const INDEX: usize = 4;
const SINGLE: usize = 4;
const NUMBER: usize = 8;
const VECTOR: usize = 24;
const BLOCK: usize = size_of::<Block>();
const ROW: usize = size_of::<Row3>();
/// A member of the elements around a vertex.
const INCIDENCE: usize = 4;
/// Eight boxes at the start and the end of a step, in `f32`, of one of them; with the levels above the leaves.
const BOX: f64 = 48.0 * 8.0 / 7.0;
/// Operations of a block times a vector, and of a multiple of a block added to another.
const TIMES: usize = 18;
/// Operations of a multiple of a vector added to another.
const SCALED: usize = 6;
/// Motions of an aggregate: translation and rotation.
const MOTIONS: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) bytes: f64,
    /// Of single and double precision.
    pub(crate) operations: [f64; 2],
}

impl Work {
    fn new(bytes: usize, single: usize, double: usize) -> Self {
        Self { bytes: bytes as f64, operations: [single as f64, double as f64] }
    }

    fn times(self, count: usize) -> Self {
        let factor = count as f64;
        Self { bytes: factor * self.bytes, operations: self.operations.map(|one| factor * one) }
    }

    /// Times in s that moving the bytes and doing the operations would take at the ceilings of a machine.
    pub(crate) fn floors(&self, machine: &Machine, threads: usize) -> [f64; 2] {
        let rates = machine.operations.map(|rates| rates[threads - 1]);
        let [single, double] = self.operations;
        let bandwidth = machine.bandwidth(self.bytes, threads);
        [self.bytes / bandwidth, single / rates[0] + double / rates[1]]
    }
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let [single, double] = [0, 1].map(|k| self.operations[k] + other.operations[k]);
        Self { bytes: self.bytes + other.bytes, operations: [single, double] }
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Triangles, hinges and vertices of a mesh.
fn counts(mesh: &Mesh) -> [usize; 3] {
    let topology = &mesh.topology;
    let hinges = topology.edges.iter().filter(|edge| !edge.is_boundary()).count();
    [topology.triangles.len(), hinges, mesh.vertex_count()]
}

/// Forces of the membrane: two derivatives, strain, elastic and viscous stress, three corner forces, their sums.
pub(crate) fn membrane(mesh: &Mesh) -> Work {
    let [triangles, _, vertices] = counts(mesh);
    let given = 3 * INDEX + 6 * NUMBER + NUMBER + INDEX + 3 * NUMBER;
    let stress = 3 * NUMBER;
    let between = 2 * 3 * VECTOR + 3 * INCIDENCE;
    Work::new(given + stress + between, 0, 30 + 19 + 30 + 48 + 9).times(triangles)
        + Work::new(4 * VECTOR + INDEX, 0, 0).times(vertices)
}

/// Moments of bending: normals and angles of the cotangents of each triangle; angle, division between two sides by the
/// five entries of a row of P, two rows of M, those of a column of P, of each hinge; forces at each corner.
pub(crate) fn hinges(mesh: &Mesh) -> Work {
    let [triangles, hinges, vertices] = counts(mesh);
    let turn = 3 * INDEX + NUMBER + 2 * (VECTOR + 3 * NUMBER);
    let gather = 3 * INDEX + 3 * INCIDENCE;
    let indices = (4 + 2 + 4) * INDEX;
    let coupling = 2 * 5 * INDEX;
    let given = 3 * NUMBER + 6 * NUMBER;
    let passes = 2 * (2 + 1 + 4 + 1 + 1) * NUMBER;
    Work::new(turn + gather, 0, 41 + 33).times(triangles)
        + Work::new(indices + coupling + given + passes, 0, 55 + 26 + 36 + 12).times(hinges)
        + Work::new(3 * VECTOR + INDEX, 0, 6).times(vertices)
}

/// Further forces of a Newton iteration: stress predicted along the Newton step, inertia and the sum of all forces.
pub(crate) fn rest_of_forces(mesh: &Mesh) -> Work {
    let [triangles, _, vertices] = counts(mesh);
    let given = 4 * INDEX + 7 * NUMBER + 3 * NUMBER;
    Work::new(given + size_of::<Tension>(), 0, 30 + 21 + 10).times(triangles)
        + Work::new(6 * VECTOR + NUMBER, 0, 15).times(vertices)
}

/// Blocks in a matrix: on the diagonal, pairs inside groups, single ones of these, and those outside; entries of the
/// scalar part inside groups and outside.
struct Blocks {
    rows: usize,
    pairs: usize,
    near: usize,
    far: usize,
    scalars: [usize; 2],
}

impl Blocks {
    fn of(matrix: &BlockMatrix) -> Self {
        let pattern = matrix.pattern();
        let rows = pattern.row_count();
        Self {
            rows,
            pairs: pattern.pair_count(),
            near: (0..rows).map(|row| pattern.near(row).count()).sum(),
            far: pattern.far().columns().len(),
            scalars: matrix.scalars().entry_counts(),
        }
    }

    /// Bytes of all blocks inside groups and outside, with where they are.
    fn bytes(&self) -> usize {
        self.pairs * (size_of::<BlockPair>() + INDEX) + self.far * (BLOCK + INDEX)
    }

    /// Bytes of all entries of the scalar part, with where they are.
    fn bytes_of_scalars(&self) -> usize {
        let [near, far] = self.scalars;
        near * (SINGLE + 1) + far * (SINGLE + INDEX) + 2 * INDEX * self.rows
    }

    /// A product with all but the diagonal; blocks and entries inside groups stand for two.
    fn product(&self) -> Work {
        let [near, far] = self.scalars;
        let bytes = self.bytes() + self.bytes_of_scalars() + self.rows * INDEX;
        let operations = TIMES * (2 * self.near + self.far) + SCALED * (2 * near + far);
        Work::new(bytes, operations, 0)
    }
}

/// The tangents of triangles, which stay in the cache, and every block of the matrix gathered from them. A block inside a
/// group is made once, one outside in both halves. The diagonal is the sum of a row's other blocks, in `f64`, and the
/// diagonal of the scalar part, which is constant.
pub(crate) fn assembly(mesh: &Mesh, matrix: &BlockMatrix) -> Work {
    let [triangles, ..] = counts(mesh);
    let times = |a: u32, b: u32| 1 + usize::from(a as usize / GROUP != b as usize / GROUP);
    let of_triangle = |[a, b, c]: &[u32; 3]| times(*a, *b) + times(*b, *c) + times(*c, *a);
    let of_triangles: usize = mesh.topology.triangles.iter().map(of_triangle).sum();
    let tangent = 5 * INDEX + 7 * NUMBER + size_of::<Tension>();
    let blocks = Blocks::of(matrix);
    let counts = 2 * 2 * (blocks.near + blocks.far);
    Work::new(tangent, 72, 0).times(triangles)
        + Work::new(size_of::<BlockCode>(), 57, 0).times(of_triangles)
        + Work::new(blocks.bytes() + counts, 0, 9 * (2 * blocks.near + blocks.far))
        + Work::new(BLOCK + 2 * NUMBER + VECTOR, 0, 15).times(blocks.rows)
}

/// Matrix times vector, and its scalar product with the vector.
pub(crate) fn product(matrix: &BlockMatrix) -> Work {
    let blocks = Blocks::of(matrix);
    blocks.product() + Work::new(BLOCK + 2 * ROW, TIMES, 6).times(blocks.rows)
}

/// A sweep forward, which leaves the residual, and one back.
pub(crate) fn smoother(matrix: &BlockMatrix) -> Work {
    let blocks = Blocks::of(matrix);
    let diagonal = BLOCK + INDEX;
    let forward = Work::new(diagonal + 5 * ROW, TIMES + 6, 0).times(blocks.rows);
    let backward = Work::new(diagonal + 4 * ROW, TIMES + 9, 0).times(blocks.rows);
    blocks.product().times(2) + forward + backward
}

/// PᵀAP on the finest level: the lower half of A, with half of its diagonal, times both motions of each column. What the
/// sums by aggregates add depends on the aggregates, and is left out.
pub(crate) fn galerkin(matrix: &BlockMatrix) -> Work {
    let blocks = Blocks::of(matrix);
    let [near, far] = blocks.scalars;
    let read = blocks.pairs * size_of::<BlockPair>()
        + blocks.far / 2 * BLOCK
        + (1 + MOTIONS) * blocks.rows * BLOCK
        + SINGLE * (near + far / 2);
    let products = MOTIONS * 3 * TIMES * (blocks.near + blocks.far / 2 + blocks.rows);
    let multiples = MOTIONS * 3 * SCALED * (near + far / 2);
    Work::new(read, products + multiples, 0)
}

/// Set-up of multigrid on the finest level, coarser ones left out: Galerkin product, inverses of diagonals, sums of the
/// norms of what couples groups against the diagonals.
pub(crate) fn set_up(matrix: &BlockMatrix) -> Work {
    let Blocks { rows, far, scalars, .. } = Blocks::of(matrix);
    galerkin(matrix)
        + Work::new(4 * BLOCK + 2 * INDEX, 9, 50).times(rows)
        + Work::new(BLOCK + INDEX, 2 * 3 * 15 + 18, 0).times(far)
        + Work::new(SINGLE + INDEX, 18 + 3, 0).times(scalars[1])
}

/// An iteration of conjugate gradients: product, sweeps and transfer of the finest level, coarser ones left out, and the
/// vectors.
pub(crate) fn iteration(matrix: &BlockMatrix) -> Work {
    let rows = matrix.diagonals().len();
    let transfer = Work::new(2 * (MOTIONS * BLOCK + ROW + INDEX), 2 * MOTIONS * TIMES, 0);
    let vectors = Work::new(11 * ROW, 18, 6);
    product(matrix) + smoother(matrix) + (transfer + vectors).times(rows)
}

/// Boxes of primitives with a number of corners, from their places at the start and the end of a step, with a margin.
pub(crate) fn refit(primitives: usize, corners: usize, index: usize, vertices: usize) -> Work {
    let operations = 12 * 8 / 7;
    let mut work = Work::new(INDEX + corners * index, operations, 0).times(primitives);
    work.bytes += BOX * primitives as f64 + (2 * VECTOR * vertices) as f64;
    work
}

/// A walk that looks at every box once and at every pair found: twelve differences each.
pub(crate) fn walk(primitives: usize, pairs: usize) -> Work {
    let mut work = Work::new(2 * INDEX, 12, 0).times(pairs);
    work.bytes += BOX * primitives as f64;
    work
}

/// Impacts of pairs of edges or of a point and a triangle: nine differences at start and end, and the eight triple
/// products of the cubic whose roots are the times at which the four points lie in a plane.
pub(crate) fn impacts(pairs: usize, index: usize) -> Work {
    Work::new(4 * index + 8 * VECTOR, 0, 18 + 8 * 14).times(pairs)
}
