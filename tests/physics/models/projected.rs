// SPDX-License-Identifier: MIT OR Apache-2.0
//! The membrane bending force of Etzmuss 2002, algorithm 3: what it is, and what it is not.

use super::forces::{dot, fabric, moved, norm};
use crate::fixtures::{
    noise::Noise,
    quads::{Division, Sheet},
};
use nalgebra::{DMatrix, DVector};
use weft::{
    Material, Vec3,
    forces::{
        BendingKind, BlockContributions, Elements, ModelInput, StrainHistory, block_code, particles,
    },
};

const SIDE: f64 = 0.6;
const CELLS: [usize; 2] = [6, 5];
const HEIGHT: f64 = 0.5;

/// A sheet, and its bending alone.
fn bending() -> (Sheet, Box<dyn Elements>) {
    let sheet = Sheet::new(Division::Regular, [SIDE, HEIGHT], CELLS);
    let mesh = sheet.mesh(0.0);
    let material = Material { bend_damping: 0.0, ..fabric() };
    let sheets = ModelInput {
        mesh: &mesh,
        materials: &[material],
        rest_scale: &[],
        stiffness_scale: &[],
        property_scale: &[],
    };
    let (mut elements, _) = particles(&sheets, BendingKind::ProjectedMembrane);
    (sheet, elements.pop().unwrap())
}

fn force(elements: &mut dyn Elements, shape: &[Vec3]) -> Vec<Vec3> {
    let mut forces = vec![Vec3::zeros(); shape.len()];
    elements.evaluate(shape, StrainHistory { reference: &[], inverse_beta: 0.0 }, &mut forces);
    forces
}

/// A random shape whose normals differ everywhere.
fn rough(sheet: &Sheet) -> Vec<Vec3> {
    moved(&sheet.points, &Noise::new(4).vectors(sheet.points.len(), 1.0), 0.03)
}

/// Tangent of all edges as a matrix.
fn tangent(elements: &dyn Elements, count: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(3 * count, 3 * count);
    let members: Vec<u32> = (0..elements.vertices().len() as u32 / 2).collect();
    for (element, ends) in elements.vertices().chunks_exact(2).enumerate() {
        let tangents = elements.tangents(&members[element..=element]);
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut block = [[[0.0; 4]; 3]];
            let (tile, code) = block_code(2, 0, i, j);
            let mut contributions = BlockContributions::default();
            contributions.push(0, std::iter::once(code));
            tangents.add_blocks(tile, &contributions, &mut block);
            for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
                let place = (3 * ends[i] as usize + row, 3 * ends[j] as usize + column);
                matrix[place] += f64::from(block[0][column][row]);
            }
        }
    }
    matrix
}

/// Lines (1) to (7), with dual widths: half of a cell along the border.
#[test]
fn the_force_is_that_of_algorithm_3() {
    let (sheet, mut elements) = bending();
    let shape = rough(&sheet);
    let found = force(&mut *elements, &shape);
    let rows = CELLS[1] + 1;
    let spacing = [SIDE / CELLS[0] as f64, HEIGHT / CELLS[1] as f64];
    let factor = std::f64::consts::PI.powi(2) / (SIDE * HEIGHT);
    let mut laplacians = vec![Vec3::zeros(); shape.len()];
    let mut add = |a: usize, b: usize, rigidity: f64, length: f64, width: f64| {
        let pull = (shape[b] - shape[a]) * (rigidity * factor * width / length);
        laplacians[a] += pull;
        laplacians[b] -= pull;
    };
    for column in 0..=CELLS[0] {
        for row in 0..=CELLS[1] {
            let own = column * rows + row;
            let half =
                |place: usize, last: usize| if place == 0 || place == last { 0.5 } else { 1.0 };
            if column < CELLS[0] {
                add(own, own + rows, 0.1, spacing[0], half(row, CELLS[1]) * spacing[1]);
            }
            if row < CELLS[1] {
                add(own, own + 1, 0.04, spacing[1], half(column, CELLS[0]) * spacing[0]);
            }
        }
    }
    let mut normals = vec![Vec3::zeros(); shape.len()];
    for triangle in sheet.mesh(0.0).topology.triangles.iter() {
        let [a, b, c] = triangle.map(|vertex| shape[vertex as usize]);
        for vertex in triangle {
            normals[*vertex as usize] += (b - a).cross(&(c - a));
        }
    }
    for ((force, pull), normal) in found.iter().zip(&laplacians).zip(&normals) {
        let normal = normal.normalize();
        assert!((force - normal * pull.dot(&normal)).norm() < 1.0e-12, "{force:?}");
    }
}

/// A derivative of a gradient would be symmetric; a force between particles would have no resultant.
#[test]
fn the_force_is_no_gradient_and_pushes_a_free_sheet() {
    let (sheet, mut elements) = bending();
    let shape = rough(&sheet);
    let found = force(&mut *elements, &shape);
    let scale: f64 = found.iter().map(Vec3::norm).sum();
    let net: Vec3 = found.iter().sum();
    assert!(net.norm() > 1.0e-3 * scale, "{net:?} of {scale}");
    let mut noise = Noise::new(9);
    let [first, second] = [noise.vectors(shape.len(), 1.0), noise.vectors(shape.len(), 1.0)];
    let mut slope = |direction: &[Vec3]| -> Vec<Vec3> {
        let [ahead, behind] =
            [1.0e-6, -1.0e-6].map(|step| force(&mut *elements, &moved(&shape, direction, step)));
        ahead.iter().zip(behind).map(|(a, b)| (a - b) / 2.0e-6).collect()
    };
    let (by_first, by_second) = (slope(&first), slope(&second));
    let [one, other] = [dot(&by_first, &second), dot(&by_second, &first)];
    assert!((one - other).abs() > 0.05 * one.abs().max(other.abs()), "{one} {other}");
}

/// Inside a flat sheet the approximate Jacobian is the derivative for motion along the normal; on a rough one it is symmetric, takes
/// energy from every motion, and differs from the derivative by what normals turn.
#[test]
fn its_jacobian_is_exact_where_the_sheet_is_flat_and_else_approximate() {
    for is_flat in [true, false] {
        let (sheet, mut elements) = bending();
        let shape = if is_flat { sheet.points.clone() } else { rough(&sheet) };
        force(&mut *elements, &shape);
        let jacobian = tangent(&*elements, shape.len());
        assert!((&jacobian - jacobian.transpose()).norm() < 1.0e-5 * jacobian.norm());
        let mut direction = Noise::new(2).vectors(shape.len(), 1.0);
        if is_flat {
            direction = direction.iter().map(|d| Vec3::z() * d.z).collect();
        }
        let product = times(&jacobian, &direction);
        assert!(dot(&product, &direction) > 0.0);
        let [ahead, behind] =
            [1.0e-6, -1.0e-6].map(|step| force(&mut *elements, &moved(&shape, &direction, step)));
        let rows = CELLS[1] + 1;
        let is_inside = |vertex: usize| {
            let (column, row) = (vertex / rows, vertex % rows);
            (1..CELLS[0]).contains(&column) && (1..CELLS[1]).contains(&row)
        };
        let inside = (0..shape.len()).filter(|vertex| is_inside(*vertex));
        let error: Vec<Vec3> =
            inside.map(|v| (behind[v] - ahead[v]) / 2.0e-6 - product[v]).collect();
        let fraction = norm(&error) / norm(&product);
        assert_eq!(fraction < 1.0e-4, is_flat, "flat {is_flat}: {fraction}");
    }
}

/// A matrix times vectors of vertices.
fn times(matrix: &DMatrix<f64>, direction: &[Vec3]) -> Vec<Vec3> {
    let flat =
        DVector::from_iterator(3 * direction.len(), direction.iter().flat_map(|d| [d.x, d.y, d.z]));
    let product = matrix * flat;
    product.as_slice().as_chunks::<3>().0.iter().map(|own| Vec3::from(*own)).collect()
}

/// After a step the force is linear, with the shape at its end in the place of the present one.
#[test]
fn a_step_takes_the_force_linearised_at_its_start() {
    let (sheet, mut elements) = bending();
    let start = rough(&sheet);
    let exact = force(&mut *elements, &start);
    elements.end_step(&start, 0.01);
    let found = force(&mut *elements, &start);
    assert_eq!(exact, found);
    let direction = Noise::new(5).vectors(start.len(), 0.02);
    let jacobian = tangent(&*elements, start.len());
    let product = times(&jacobian, &direction);
    let there = force(&mut *elements, &moved(&start, &direction, 1.0));
    for (v, force) in there.iter().enumerate() {
        assert!((exact[v] - product[v] - force).norm() < 1.0e-6 * norm(&exact), "{v}");
    }
}
