// SPDX-License-Identifier: MIT OR Apache-2.0
//! Degenerate shapes, meshes and materials: always finite, never a panic.

use super::samples::{
    ELASTIC, FABRIC, Noise, Pattern, Sheet, bending, flat, forces, norm, product,
};
use crate::{
    forces::{
        bending::{Bending, BendingLaw, scalar_stiffness},
        elements::ScalarStiffness,
        strain_history::StrainHistory,
    },
    material::{Material, PlateRigidity},
    mesh::{Mesh, Polygons},
    vec3::Vec3,
};
use proptest::prelude::*;

const SOFT: PlateRigidity = PlateRigidity { d11: 0.0, d22: 0.0, d12: 0.0, d66: 0.0 };

fn is_finite(vectors: &[Vec3]) -> bool {
    vectors.iter().all(|vector| vector.iter().all(|x| x.is_finite()))
}

fn mesh_of(triangles: &[[usize; 3]], rest: &[Vec3]) -> Mesh {
    let faces = Polygons::new(&vec![3; triangles.len()], triangles.as_flattened(), rest.len());
    Mesh::new(&faces.unwrap(), rest, None).unwrap()
}

/// Forces, products and scalar stiffness at `positions`, elastic and viscous, all finite.
fn check_finite(mesh: &Mesh, bending: &mut Bending, positions: &[Vec3]) {
    let reference = vec![0.5; bending.hinge_count()];
    for inverse_beta in [0.0, 100.0] {
        let history = StrainHistory { reference: &reference, inverse_beta };
        let found = forces(bending, positions, history);
        let total: Vec3 = found.iter().sum();
        assert!(is_finite(&found));
        assert!(total.norm() <= 1e-10 * norm(&found));
        let direction = Noise::new(1).vectors(positions.len(), 1.0);
        assert!(is_finite(&product(bending, &direction)));
        assert!(bending.energy(positions).is_finite());
        for hinge in 0..bending.hinge_count() {
            assert!(is_finite(&bending.gradients(hinge)));
        }
    }
    let ScalarStiffness { entries, .. } = scalar_stiffness(bending, mesh);
    assert!(entries.data().iter().all(|entry| entry.x.is_finite() && entry.y.is_finite()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_shape_has_finite_forces(
        shape in prop::collection::vec((-2_i8..3, -2_i8..3, -2_i8..3), 20),
        seed in 0_u64..50,
        scale in prop::sample::select(vec![1e-9, 1e-3, 1.0, 1e3]),
    ) {
        // Few distinct places: many vertices coincide, many triangles are flat or folded onto others.
        let (sheet, points) = Sheet::strip(3, 3, Pattern::Poor, seed);
        let place = |(x, y, z): &(i8, i8, i8)| Vec3::new(f64::from(*x), f64::from(*y), f64::from(*z));
        let positions: Vec<Vec3> = shape.iter().map(|at| place(at) * scale).collect();
        prop_assert_eq!(positions.len(), points.len());
        let mesh = sheet.mesh(0.1);
        check_finite(&mesh, &mut bending(&mesh, FABRIC), &positions);
    }

    #[test]
    fn any_material_gives_a_semidefinite_product(
        warp in 0.0..2.0, weft in 0.0..2.0, poisson in 0.0..0.99, twist in prop::option::of(0.0..2.0),
        zero in 0..4_usize, seed in 0_u64..50,
    ) {
        let mut material = Material {
            bend_warp: warp, bend_weft: weft, bend_twist: twist, poisson,
            stretch_warp: 100.0, stretch_weft: 100.0, ..Material::default()
        };
        match zero {
            0 => material.bend_warp = 0.0,
            1 => material.bend_weft = 0.0,
            2 => material.bend_twist = Some(0.0),
            _ => {}
        }
        let law = BendingLaw::from(&material.checked().unwrap());
        let (sheet, points) = Sheet::strip(4, 3, Pattern::Poor, seed);
        let mut bending = Bending::new(&sheet.mesh(0.4), &[law], &vec![false; points.len()]);
        forces(&mut bending, &flat(&points), ELASTIC);
        let direction = Noise::new(seed).vectors(points.len(), 1.0);
        let found = product(&mut bending, &direction);
        prop_assert!(is_finite(&found));
        let work = crate::forces::bending::tests::samples::dot(&found, &direction);
        prop_assert!(work >= -1e-13 * norm(&found) * norm(&direction));
    }
}

#[test]
fn without_rigidity_there_is_no_force() {
    let (sheet, points) = Sheet::strip(5, 3, Pattern::Irregular, 2);
    let mut bending = bending(&sheet.mesh(0.0), SOFT);
    let bent: Vec<Vec3> = points.iter().map(|[x, y]| Vec3::new(*x, *y, x * x * y)).collect();
    assert!(norm(&forces(&mut bending, &bent, ELASTIC)) == 0.0);
    assert!(bending.energy(&bent) == 0.0);
}

#[test]
fn odd_meshes_are_sound() {
    let corners =
        [[0.0, 0.0], [1.0, 0.0], [0.4, 0.9], [1.3, 1.1], [5.0, 5.0], [6.0, 5.0], [5.0, 6.0]];
    let rest: Vec<Vec3> = corners.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect();
    let tetrahedron = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
    let cases: [(&str, Mesh, Vec<Vec3>); 5] = [
        ("a triangle", mesh_of(&[[0, 1, 2]], &rest[..3]), rest[..3].to_vec()),
        (
            "two triangles and one apart",
            mesh_of(&[[0, 1, 2], [2, 1, 3], [4, 5, 6]], &rest),
            rest.clone(),
        ),
        ("a pillow", mesh_of(&[[0, 1, 2], [0, 2, 1]], &rest[..3]), rest[..3].to_vec()),
        (
            "a tetrahedron",
            mesh_of(&[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], &tetrahedron),
            tetrahedron.to_vec(),
        ),
        ("a ribbon", mesh_of(&[[0, 1, 2], [2, 1, 3]], &rest[..4]), rest[..4].to_vec()),
    ];
    for (name, mesh, positions) in cases {
        let mut bending = bending(&mesh, FABRIC);
        assert!(norm(&forces(&mut bending, &positions, ELASTIC)) < 1e-12, "{name}");
        let shaken = Noise::new(3).vectors(positions.len(), 0.2);
        let bent: Vec<Vec3> = positions.iter().zip(shaken).map(|(x, shift)| x + shift).collect();
        check_finite(&mesh, &mut bending, &bent);
        check_finite(&mesh, &mut bending, &vec![Vec3::zeros(); positions.len()]);
    }
}

#[test]
fn a_fold_of_pi_at_rest_is_at_rest_from_either_side() {
    // A hem pressed flat: by the noise of round-off the angle is π or −π.
    let rest = [Vec3::zeros(), Vec3::y(), Vec3::new(-1.0, 0.5, 0.0), Vec3::new(-1.0, 0.4, 0.0)];
    let mut bending = bending(&mesh_of(&[[0, 1, 2], [1, 0, 3]], &rest), FABRIC);
    for lift in [1e-9, -1e-9] {
        let mut positions = rest;
        positions[3].z = lift;
        assert!(norm(&forces(&mut bending, &positions, ELASTIC)) < 1e-6, "{lift}");
    }
}

#[test]
fn slivers_do_not_spoil_their_surroundings() {
    // One vertex next to the edge between two others: triangles 1e-6 high.
    let (mut sheet, mut points) = Sheet::strip(6, 4, Pattern::Right, 0);
    let centre = 2 + 5 * 3;
    points[centre] = [points[centre][0], points[centre + 1][1] - 1e-6];
    for (triangle, corners) in sheet.triangles.iter().zip(&mut sheet.corners) {
        *corners = triangle.map(|vertex| points[vertex as usize]);
    }
    let mut bending = bending(&sheet.mesh(0.0), FABRIC);
    assert!(norm(&forces(&mut bending, &flat(&points), ELASTIC)) == 0.0);
    let rolled: Vec<Vec3> = points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.005 * x * x)).collect();
    let wanted = 0.5 * FABRIC.d11 * 0.01_f64.powi(2) * 7.0 * 4.0;
    let found = bending.energy(&rolled);
    assert!(found < 1.1 * wanted && found > 0.5 * wanted, "{found} {wanted}");
}
