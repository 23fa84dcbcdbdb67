// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plate of particles against the plate it stands for.

use super::{
    BendingKind, particles,
    stencil::{STENCIL_VERTICES, Stencil},
    vertex_neighbourhood::VertexNeighbourhood,
};
use crate::{
    forces::{model_input::ModelInput, strain_history::StrainHistory},
    material::{Material, PlateRigidity},
    mesh::{Mesh, Polygons, Quads, Uv},
    vec3::Vec3,
};

const PLATE: PlateRigidity = PlateRigidity { d11: 1.0, d22: 0.4, d12: 0.06, d66: 0.2 };

/// Warp at 0.3 rad on quads shifted by an irrational pattern, `valence` of them around vertex 0.
fn star(valence: usize) -> (Mesh, Quads) {
    let mut points = vec![[0.01, -0.02]];
    let mut corners = Vec::new();
    for spoke in 0..valence {
        let angle = |part: f64| std::f64::consts::TAU * (spoke as f64 + part) / valence as f64;
        let shift = |seed: f64| 0.2 * (seed * (spoke as f64 + 1.0) * 12.9898).sin();
        let (near, far) = (angle(0.2 * shift(1.0)), angle(0.5 + 0.2 * shift(2.0)));
        let (length, reach) = (1.0 + shift(3.0), 1.5 + shift(4.0));
        points.push([length * near.cos(), length * near.sin()]);
        points.push([reach * far.cos(), reach * far.sin()]);
        corners.extend([0, 1 + 2 * spoke, 2 + 2 * spoke, 1 + 2 * ((spoke + 1) % valence)]);
    }
    let positions: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
    let (sine, cosine) = 0.3_f64.sin_cos();
    let uv = points.iter().map(|[x, y]| [cosine * x + sine * y, cosine * y - sine * x]).collect();
    let polygons = Polygons::new(&vec![4; valence], &corners, points.len()).unwrap();
    let mesh = Mesh::new(&polygons, &positions, Some(&Uv::Vertex(uv))).unwrap();
    let quads = Quads::new(&mesh);
    (mesh, quads)
}

/// A state of constant curvature has the energy of the plate, wherever the quads are and however many meet.
#[test]
fn the_curvature_around_a_particle_costs_what_it_costs_a_plate() {
    for valence in [3, 4, 5, 6] {
        let (mesh, quads) = star(valence);
        let fans = quads.fans(mesh.vertex_count());
        let fan = fans.iter().find(|fan| fan.vertex == 0).unwrap();
        assert!(fan.is_closed);
        let ring = VertexNeighbourhood::new(&mesh, &quads, fan, &vec![false; mesh.vertex_count()]);
        let stencil = Stencil::new(&ring, fan.lines());
        let stiffness = stencil.stiffness(&PLATE);
        let area: f64 = ring.corners.iter().map(|corner| corner.area).sum();
        for [k11, k22, k12] in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.7, -0.4, 0.9]]
        {
            // In yarn axes, around the middle.
            let (sine, cosine) = 0.3_f64.sin_cos();
            let height = |vertex: u32| {
                let p = mesh.rest.positions[vertex as usize] - mesh.rest.positions[0];
                let (u, v) = (cosine * p.x + sine * p.y, cosine * p.y - sine * p.x);
                0.5 * (k11 * u * u + k22 * v * v) + k12 * u * v
            };
            let measure = |m: usize| -> f64 {
                let factors = &stencil.coefficients[m];
                (0..STENCIL_VERTICES)
                    .map(|place| factors[place] * height(stencil.vertices[place]))
                    .sum()
            };
            let measures = nalgebra::SVector::<f64, 6>::from_fn(|m, _| measure(m));
            let found = 0.5 * measures.dot(&(stiffness * measures));
            let PlateRigidity { d11, d22, d12, d66 } = PLATE;
            let density = d11 * k11 * k11 + d22 * k22 * k22 + 2.0 * d12 * k11 * k22;
            let wanted = 0.5 * area * (density + 4.0 * d66 * k12 * k12);
            assert!((found / wanted - 1.0).abs() < 1.0e-9, "{valence}: {found}, not {wanted}");
        }
    }
}

/// A free edge bears no moment: what is bent along it alone has the rigidity of a strip.
#[test]
fn a_free_edge_bends_as_a_strip() {
    let points: Vec<Vec3> =
        (0..6).map(|i| Vec3::new([0.0, 1.1, 1.9][i % 3], [0.0, 0.8][i / 3], 0.0)).collect();
    let polygons = Polygons::new(&[4, 4], &[0, 1, 4, 3, 1, 2, 5, 4], 6).unwrap();
    let uv = points.iter().map(|p| [p.x, p.y]).collect();
    let mesh = Mesh::new(&polygons, &points, Some(&Uv::Vertex(uv))).unwrap();
    let quads = Quads::new(&mesh);
    let fans = quads.fans(6);
    let fan = fans.iter().find(|fan| fan.vertex == 1).unwrap();
    let ring = VertexNeighbourhood::new(&mesh, &quads, fan, &[false; 6]);
    let stencil = Stencil::new(&ring, fan.lines());
    let curvature = 0.3;
    let measures = nalgebra::SVector::<f64, 6>::from_fn(|m, _| {
        let height = |vertex: u32| 0.5 * curvature * (points[vertex as usize].x - 1.1).powi(2);
        let factors = &stencil.coefficients[m];
        (0..STENCIL_VERTICES).map(|place| factors[place] * height(stencil.vertices[place])).sum()
    });
    let found = 0.5 * measures.dot(&(stencil.stiffness(&PLATE) * measures));
    let strip = PLATE.d11 - PLATE.d12 * PLATE.d12 / PLATE.d22;
    let wanted = 0.5 * (0.95 * 0.4) * strip * curvature * curvature;
    assert!((found / wanted - 1.0).abs() < 1.0e-5, "{found}, not {wanted}");
}

/// Where an outline leaves half of every corner, all is half: mass, forces, energy.
#[test]
fn half_of_the_cloth_weighs_and_resists_half() {
    let material = Material { poisson: 0.2, ..Material::default() };
    let whole = star(4).0;
    let mut half = whole.clone();
    half.cover(|_, _| 0.5);
    let shape: Vec<Vec3> = (whole.rest.positions.iter())
        .map(|p| Vec3::new(1.04 * p.x + 0.1 * p.y, 0.97 * p.y, 0.2 * p.x * p.x - 0.1 * p.y))
        .collect();
    let [all, part] = [&whole, &half].map(|mesh| {
        let materials = std::slice::from_ref(&material);
        let none = ModelInput {
            mesh,
            materials,
            rest_scale: &[],
            stiffness_scale: &[],
            property_scale: &[],
        };
        let (mut elements, areas) = particles(&none, BendingKind::ThinPlate);
        let mut forces = vec![Vec3::zeros(); mesh.vertex_count()];
        let history = StrainHistory { reference: &[], inverse_beta: 0.0 };
        let energy =
            elements.iter_mut().map(|one| one.evaluate(&shape, history, &mut forces)).sum::<f64>();
        (areas, forces, energy)
    });
    assert!((part.2 / all.2 - 0.5).abs() < 1e-12);
    for vertex in 0..whole.vertex_count() {
        assert!((part.0[vertex] - 0.5 * all.0[vertex]).abs() < 1e-12);
        let apart = (part.1[vertex] - 0.5 * all.1[vertex]).norm();
        assert!(apart < 1e-9 * all.1[vertex].norm(), "{apart} at {vertex}");
    }
}

/// Halves of quads share what their corners have: the sums are those of the particles.
#[test]
fn covered_triangles_add_up_to_covered_corners() {
    let points: Vec<Vec3> =
        (0..6).map(|i| Vec3::new([0.0, 1.1, 1.9][i % 3], [0.0, 0.8][i / 3], 0.0)).collect();
    let polygons = Polygons::new(&[4, 4], &[0, 1, 4, 3, 1, 2, 5, 4], 6).unwrap();
    let mut mesh = Mesh::new(&polygons, &points, None).unwrap();
    let part = |face: usize, vertex: u32| 0.1 + 0.1 * f64::from(vertex) + 0.05 * face as f64;
    mesh.cover(part);
    let quads = Quads::new(&mesh);
    let areas = super::membrane::vertex_areas(&mesh, &quads);
    let coverage = mesh.triangle_coverage();
    let triangles: f64 = coverage.iter().zip(mesh.rest.areas.iter()).map(|(c, a)| c * a).sum();
    assert!((areas.iter().sum::<f64>() / triangles - 1.0).abs() < 1e-12);
    for (quad, (corners, found)) in quads.vertices.iter().zip(&quads.coverage).enumerate() {
        let wanted = corners.map(|vertex| part(quad, vertex));
        assert!(found.iter().zip(wanted).all(|(one, other)| one.to_bits() == other.to_bits()));
    }
}
