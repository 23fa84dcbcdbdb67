// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::linear_solver::{
    conjugate_gradients::{
        FilteredSystem, SolveOutcome, StoppingCriterion, Workspace, conjugate_gradients,
    },
    pattern::GROUP,
    scalar_couplings::ScalarCouplings,
};
use nalgebra::Matrix3;
use sprs::{CsMatI, TriMatI};

/// A matrix of the vertices of a grid in space.
struct Grid {
    /// Vertices along a side.
    side: u32,
    edges: Vec<[u32; 2]>,
    positions: Vec<Vec3>,
    filter: Filter,
    matrix: BlockMatrix,
}

impl Grid {
    /// A matrix of zeros; vertices are at `place(x, y)`, and squares have one diagonal.
    fn new(side: u32, place: impl Fn(f64, f64) -> Vec3) -> Self {
        let count = side * side;
        let mut edges = Vec::new();
        for i in 0..count {
            for (right, up) in [(1, 0), (0, 1), (1, 1)] {
                if i % side + right < side && i / side + up < side {
                    edges.push([i, i + right + side * up]);
                }
            }
        }
        let elements: Vec<&[u32]> = edges.iter().map(<[u32; 2]>::as_slice).collect();
        let pattern = Arc::new(Pattern::of_elements(count as usize, &elements));
        let place = |i: u32| place(f64::from(i % side), f64::from(i / side));
        Self {
            side,
            edges,
            positions: (0..count).map(place).collect(),
            filter: Filter::new(count as usize),
            matrix: BlockMatrix::new(pattern),
        }
    }

    /// A flat grid with equal springs along its edges that act in all directions, and a little mass.
    fn laplacian(side: u32) -> Self {
        let mut grid = Self::new(side, |x, y| Vec3::new(x, y, 0.0));
        grid.add_springs(|_| Matrix3::identity());
        grid.add_mass(1e-4);
        grid
    }

    /// A grid in round folds that turn by 75° to either side over some edges: springs along the edges that resist stretch
    /// 10⁴ times as much as what is across, bending as the squares of second differences, and mass: of the order of
    /// cotton in triangles of 1 cm and steps of 1/100 s.
    fn folded(side: u32, edges_per_fold: f64) -> Self {
        let turn = |x: f64| 1.3 * (std::f64::consts::TAU * x / edges_per_fold).sin();
        let along = |x: f64| {
            let steps = (0_u32..).map(f64::from).take_while(|step| *step < x);
            let steps = steps.map(|step| turn(step + 0.5).sin_cos());
            steps.fold([0.0; 2], |[x, z], (sine, cosine)| [x + cosine, z + sine])
        };
        let mut grid = Self::new(side, |x, y| Vec3::new(along(x)[0], y, along(x)[1]));
        grid.add_springs(|along| along * along.transpose() + Matrix3::identity() * 1e-4);
        grid.set_bending(1e-4);
        grid.add_mass(1e-4);
        grid
    }

    /// Any positive definite matrix on the pattern, with entries outside of it: a scalar part, contacts in a group of
    /// rows, between groups, and between aggregates that are not adjacent, and rows that are constrained.
    fn any(side: u32) -> Self {
        let mut grid = Self::new(side, |x, y| Vec3::new(x, y + 0.1 * x, (0.4 * x).sin()));
        let block = |seed: usize| {
            Block([0, 1, 2].map(|k| {
                let first = 9 * seed + 3 * k;
                [number(first), number(first + 1), number(first + 2), 0.0]
            }))
        };
        grid.matrix.fill_by(|row, column| {
            let upper = block(row.min(column) * 7919 + row.max(column));
            let turned = upper.transposed();
            match row.cmp(&column) {
                std::cmp::Ordering::Less => upper,
                std::cmp::Ordering::Greater => turned,
                std::cmp::Ordering::Equal => {
                    let mut sum = Block::scaled_identity(12.0);
                    sum.add(&upper);
                    sum.add(&turned);
                    sum
                }
            }
        });
        grid.set_bending(0.3);
        let last = side * side - 1;
        let contacts = [(2, 4 * side, 1), (3, last - 1, 2), (5, last, 3), (300, last - side, 4)];
        let contacts = contacts.map(|(i, j, seed)| (i, j, block(seed)));
        grid.matrix.set_contact_blocks(&contacts);
        let normal = Vec3::new(0.6, 0.0, 0.8);
        for row in (0..grid.count()).step_by(7) {
            let projector = Matrix3::identity() - normal * normal.transpose();
            grid.filter.constrain(row, &if row % 2 == 0 { projector } else { Matrix3::zeros() });
        }
        grid.filter.apply_to(&mut grid.matrix);
        grid
    }

    fn count(&self) -> usize {
        self.positions.len()
    }

    /// Adds `stiffness(direction)` of a spring along each edge.
    fn add_springs(&mut self, stiffness: impl Fn(&Vec3) -> Matrix3<f64>) {
        for [a, b] in self.edges.iter().map(|edge| edge.map(|vertex| vertex as usize)) {
            let along = (self.positions[b] - self.positions[a]).normalize();
            let block = Block::from_matrix(&stiffness(&along));
            let mut opposite = block;
            opposite.scale(-1.0);
            self.matrix.add_diagonal(a, &block);
            self.matrix.add_diagonal(b, &block);
            assert!(self.matrix.add_pair(a, b, &opposite));
        }
    }

    fn add_mass(&mut self, mass: f32) {
        for row in 0..self.count() {
            self.matrix.add_diagonal(row, &Block::scaled_identity(mass));
        }
    }

    /// Adds a scalar part: the squares of second differences along rows and columns of the grid.
    fn set_bending(&mut self, stiffness: f64) {
        let matrix = self.second_differences(stiffness);
        let pattern = ScalarPattern::of(&matrix, |_, _| true);
        let (scalars, diagonal) = ScalarCouplings::of(&matrix, f64::clone, Arc::new(pattern));
        self.matrix.set_scalars(Arc::new(scalars));
        for (row, value) in diagonal.into_iter().enumerate() {
            self.matrix.add_diagonal(row, &Block::scaled_identity(value as f32));
        }
    }

    fn second_differences(&self, stiffness: f64) -> CsMatI<f64, u32> {
        let side = self.side as usize;
        let mut entries = TriMatI::new((self.count(), self.count()));
        for middle in 0..self.count() {
            for (place, step) in [(middle % side, 1), (middle / side, side)] {
                if place == 0 || place + 1 == side {
                    continue;
                }
                let three = [(middle - step, 1.0), (middle, -2.0), (middle + step, 1.0)];
                for (row, a) in three {
                    for (column, b) in three {
                        entries.add_triplet(row, column, stiffness * a * b);
                    }
                }
            }
        }
        entries.to_csr()
    }

    fn multigrid(&self) -> Multigrid {
        let mut multigrid = Multigrid::new(self.matrix.pattern(), &self.edges);
        let Self { matrix, filter, positions, .. } = self;
        multigrid.update(FilteredMatrix { matrix, filter, positions });
        multigrid
    }

    fn solve(&self, preconditioner: &mut dyn Preconditioner) -> SolveOutcome {
        let mut side = noise(self.count(), 5);
        self.filter.apply(&mut side);
        let mut solution = vec![[0.0; 4]; side.len()];
        let system = FilteredSystem::assembled(&self.matrix, &side, &self.filter);
        let stopping = StoppingCriterion { relative_tolerance: 1e-4, max_iterations: 300 };
        let mut workspace = Workspace::default();
        conjugate_gradients(system, preconditioner, stopping, &mut workspace, &mut solution)
    }
}

fn number(seed: usize) -> f32 {
    ((seed * 2_654_435) % 1000) as f32 / 500.0 - 1.0
}

fn noise(count: usize, seed: usize) -> Vec<Row3> {
    let mixed = |k: usize| (k as u64 + 7919 * seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let value = |k: usize| (mixed(k) >> 40) as f32 / 8_388_608.0 - 1.0;
    (0..count).map(|i| [value(3 * i), value(3 * i + 1), value(3 * i + 2), 0.0]).collect()
}

fn row_of(vector: &Vec3) -> Row3 {
    [vector.x as f32, vector.y as f32, vector.z as f32, 0.0]
}

#[test]
fn iterations_hardly_grow_with_the_mesh() {
    let counts = [16, 64].map(|side| {
        let grid = Grid::laplacian(side);
        grid.solve(&mut grid.multigrid()).iterations
    });
    assert!(counts[0] <= 12 && counts[1] <= counts[0] + 6, "{counts:?}");
}

/// Iterations with rigid motions, and with translations of aggregates alone.
fn iterations_with_and_without_rotations(grid: &Grid) -> [usize; 2] {
    let mut multigrid = grid.multigrid();
    let outcome = grid.solve(&mut multigrid);
    assert!(!outcome.indefinite && outcome.residual <= 1e-4, "{outcome:?}");
    remove_rotations(&mut multigrid, grid);
    [outcome.iterations, grid.solve(&mut multigrid).iterations]
}

/// Where cloth is plane, aggregates turn out of the plane without being stretched.
#[test]
fn aggregates_that_turn_bend_a_sheet_in_few_iterations() {
    for side in [24, 48] {
        let [own, of_translations] =
            iterations_with_and_without_rotations(&Grid::folded(side, f64::INFINITY));
        assert!(own <= 14 && of_translations > 2 * own, "{side} {own} {of_translations}");
    }
}

/// In round folds the edges between aggregates that turn are stretched too.
#[test]
fn iterations_hardly_grow_with_the_number_of_folds() {
    let [[few, _], [many, of_translations]] =
        [48, 96].map(|side| iterations_with_and_without_rotations(&Grid::folded(side, 32.0)));
    assert!(few <= 60 && many <= few + 15, "{few} {many}");
    assert!(of_translations > many, "{many} {of_translations}");
}

/// Takes the rotations of aggregates from all levels.
fn remove_rotations(multigrid: &mut Multigrid, grid: &Grid) {
    let (mut matrix, mut filter) = (&grid.matrix, Some(&grid.filter));
    for Level { motions, galerkin, smoother, coarse_matrix, .. } in &mut multigrid.levels {
        for arm in &mut motions.arms {
            *arm = [0.0, 0.0, 0.0, arm[3]];
        }
        smoother.update(matrix, filter);
        galerkin.project(matrix, motions, coarse_matrix);
        (matrix, filter) = (coarse_matrix, None);
    }
    multigrid.coarsest.update(matrix, filter);
}

#[test]
fn scalars_contacts_and_constraints_are_solved_for() {
    let grid = Grid::any(30);
    let outcome = grid.solve(&mut grid.multigrid());
    assert!(!outcome.indefinite && outcome.residual <= 1e-4, "{outcome:?}");
    assert!(outcome.iterations <= 20, "{outcome:?}");
}

/// Aggregates whose vertices are all held on a plane cannot leave it: nothing coarse may come of that, neither zeros nor
/// what rounding makes of them.
#[test]
fn a_sheet_that_is_held_on_a_tilted_plane_is_solved_as_fast_as_a_free_one() {
    let normal = Vec3::new(0.6, 0.0, 0.8);
    for side in [24, 48] {
        let mut grid = Grid::new(side, |x, y| Vec3::new(0.8 * x, y, -0.6 * x));
        grid.add_springs(|along| along * along.transpose() + Matrix3::identity() * 1e-2);
        grid.add_mass(1e-4);
        for row in 0..grid.count() {
            grid.filter.constrain(row, &(Matrix3::identity() - normal * normal.transpose()));
        }
        grid.filter.apply_to(&mut grid.matrix);
        let outcome = grid.solve(&mut grid.multigrid());
        assert!(!outcome.indefinite && outcome.residual <= 1e-4, "{outcome:?}");
        assert!(outcome.iterations <= 12, "{side} {outcome:?}");
    }
}

/// Few rows are solved directly, with the scalar part and constraints.
#[test]
fn a_small_matrix_is_solved_at_once() {
    let mut grid = Grid::folded(6, 16.0);
    let normal = Vec3::new(0.6, 0.0, 0.8);
    grid.filter.constrain(0, &Matrix3::zeros());
    grid.filter.constrain(14, &(Matrix3::identity() - normal * normal.transpose()));
    grid.filter.apply_to(&mut grid.matrix);
    let outcome = grid.solve(&mut grid.multigrid());
    assert!(outcome.iterations <= 4 && outcome.residual <= 1e-4, "{outcome:?}");
}

/// ⟨a, M b⟩ − ⟨b, M a⟩ over the root of ⟨a, M a⟩⟨b, M b⟩ for an approximate inverse M.
fn asymmetry(
    grid: &Grid,
    multigrid: &mut Multigrid,
    apply: fn(&mut Multigrid, &BlockMatrix, &[Row3], &mut [Row3]),
    seed: usize,
) -> f64 {
    let mut vectors = [seed, seed + 1].map(|seed| noise(grid.count(), seed));
    for vector in &mut vectors {
        grid.filter.apply(vector);
    }
    let images = vectors.each_ref().map(|vector| {
        let mut image = vector.clone();
        apply(multigrid, &grid.matrix, vector, &mut image);
        grid.filter.apply(&mut image);
        image
    });
    let [a, b] = [0, 1].map(|k| dot(&vectors[k], &images[k]));
    assert!(a > 0.0 && b > 0.0, "{a} {b}");
    (dot(&vectors[0], &images[1]) - dot(&vectors[1], &images[0])) / (a * b).sqrt()
}

/// Steps of conjugate gradients depend on what they start from, so that the cycle is linear and symmetric only as far as
/// they converge; conjugate gradients around it make their directions conjugate themselves.
#[test]
fn sweeps_are_symmetric_and_the_cycle_nearly_is() {
    for grid in [Grid::laplacian(40), Grid::folded(40, 16.0), Grid::any(30)] {
        let mut multigrid = grid.multigrid();
        for seed in 0..10 {
            let of_sweeps = asymmetry(&grid, &mut multigrid, Multigrid::smooth, seed);
            assert!(of_sweeps.abs() < 1e-5, "{of_sweeps}");
            let of_cycle = asymmetry(&grid, &mut multigrid, Multigrid::apply, seed);
            assert!(of_cycle.abs() < 0.1, "{of_cycle}");
        }
    }
}

/// Where the second level is solved directly, nothing is approximate but for rounding.
#[test]
fn a_cycle_of_two_levels_is_symmetric() {
    let grid = Grid::folded(12, 16.0);
    let mut multigrid = grid.multigrid();
    assert_eq!(multigrid.levels.len(), 1);
    for seed in 0..10 {
        let of_cycle = asymmetry(&grid, &mut multigrid, Multigrid::apply, seed);
        assert!(of_cycle.abs() < 1e-3, "{of_cycle}");
    }
}

#[test]
fn the_coarse_matrix_is_what_rigid_motions_make_of_the_fine_one() {
    let grid = Grid::any(30);
    assert!(grid.count() > 3 * GROUP);
    let mut multigrid = grid.multigrid();
    multigrid.coarsen(&grid.matrix);
    let mut matrix = &grid.matrix;
    for Level { motions, coarse_matrix, .. } in &multigrid.levels {
        let coarse = noise(motions.coarse_row_count(), 3);
        let mut fine = vec![[0.0; 4]; matrix.pattern().row_count()];
        let mut image = fine.clone();
        motions.prolong(&coarse, &mut fine);
        matrix.times(&fine, &mut image);
        let (mut wanted, mut found) = (coarse.clone(), coarse.clone());
        motions.restrict(&mut image, &mut wanted);
        coarse_matrix.times(&coarse, &mut found);
        // Within the stiffness that is added to rotations.
        for (row, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let diagonal = coarse_matrix.diagonals()[row];
            let trace = diagonal.trace();
            for k in 0..3 {
                let error = (found[k] - wanted[k]).abs() / trace;
                assert!(error < [1e-5, 1e-4][row % 2], "{found:?} {wanted:?}");
            }
        }
        matrix = coarse_matrix;
    }
}

/// Coarse matrices of the same values do not depend on what was there before.
#[test]
fn contacts_and_scalars_of_an_earlier_matrix_are_forgotten() {
    let (before, after) = (Grid::any(30), Grid::folded(30, 16.0));
    let mut multigrid = before.multigrid();
    for grid in [&after, &before, &after] {
        let Grid { matrix, filter, positions, .. } = grid;
        multigrid.update(FilteredMatrix { matrix, filter, positions });
    }
    let vector = noise(after.count(), 8);
    let (mut found, mut wanted) = (vector.clone(), vector.clone());
    multigrid.apply(&after.matrix, &vector, &mut found);
    after.multigrid().apply(&after.matrix, &vector, &mut wanted);
    assert_eq!(found, wanted);
}

#[test]
fn rigid_motions_of_coarse_nodes_are_those_of_all_finer_ones() {
    let grid = Grid::folded(40, 16.0);
    let multigrid = grid.multigrid();
    assert!(multigrid.levels.len() > 1);
    let (shift, turn) = (Vec3::new(0.3, -1.0, 0.5), Vec3::new(-0.2, 0.1, 0.4));
    let motion = |place: &Vec3| row_of(&(shift + turn.cross(place)));
    let of_nodes = |places: &[Vec3]| -> Vec<Row3> {
        places.iter().flat_map(|place| [motion(place), row_of(&turn)]).collect()
    };
    let wanted_at_first: Vec<Row3> = grid.positions.iter().map(motion).collect();
    for last in 0..multigrid.levels.len() {
        let mut moved = of_nodes(&multigrid.levels[last].motions.centers);
        for level in (0..=last).rev() {
            let mut finer = vec![[0.0; 4]; multigrid.levels[level].residual.len()];
            multigrid.levels[level].motions.prolong(&moved, &mut finer);
            let wanted = match level.checked_sub(1) {
                Some(finer) => of_nodes(&multigrid.levels[finer].motions.centers),
                None => wanted_at_first.clone(),
            };
            for (found, wanted) in finer.iter().zip(&wanted) {
                assert!(
                    (0..3).all(|k| (found[k] - wanted[k]).abs() < 1e-4),
                    "{found:?} {wanted:?}"
                );
            }
            moved = finer;
        }
    }
}

/// What is constrained does not move, and forces on it are not felt.
#[test]
fn restriction_is_the_transposed_prolongation() {
    let grid = Grid::any(30);
    let multigrid = grid.multigrid();
    for (level, Level { motions, residual, .. }) in multigrid.levels.iter().enumerate() {
        let (coarse, mut fine) = (noise(motions.coarse_row_count(), 1), noise(residual.len(), 2));
        let (mut moved, mut forces) = (fine.clone(), coarse.clone());
        motions.prolong(&coarse, &mut moved);
        motions.restrict(&mut fine, &mut forces);
        let [work, wanted] = [dot(&coarse, &forces), dot(&moved, &fine)];
        let scale = (dot(&moved, &moved) * dot(&fine, &fine)).sqrt();
        assert!((work - wanted).abs() < 1e-5 * scale, "{work} {wanted}");
        if level == 0 {
            let mut filtered = moved.clone();
            grid.filter.apply(&mut filtered);
            for (own, filtered) in moved.iter().zip(&filtered) {
                assert!((0..3).all(|k| (own[k] - filtered[k]).abs() < 1e-5));
            }
        }
    }
}
