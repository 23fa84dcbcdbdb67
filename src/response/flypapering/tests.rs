// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::{
    collision::PrimitivePair,
    response::{ColliderMotion, CollisionResponse, StepStart},
    scene::Collider,
    surface::CollisionMesh,
    vec3::Vec3,
};

/// Corners of a triangle at a height in m.
fn triangle(size: f64, height: f64) -> [Vec3; 3] {
    [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(size * x, size * y, height))
}

/// Corners of two plates at given heights, in m.
fn plates(heights: [f64; 2]) -> Vec<Vec3> {
    heights.into_iter().flat_map(|height| triangle(1.0, height)).collect()
}

/// A triangle of cloth between two plates, which begin with 10 mm of room.
fn cloth_between_plates() -> CollisionResponse {
    let plates = Collider::new(plates([-5.0e-3, 5.0e-3]), &[[0, 1, 2], [3, 5, 4]], 0.0, 1.0e-3);
    let (cloth, colliders) = (triangle(0.1, 0.0).to_vec(), [plates.unwrap()]);
    let mesh = CollisionMesh::of_thin_cloths(&[[0, 1, 2]], &[0, 3], cloth.clone(), &colliders);
    CollisionResponse::new(mesh, vec![ColliderMotion::new(&colliders[0])], &cloth, true)
}

/// Begins a step in which the plates move to given heights, with the cloth at rest.
fn move_plates(response: &mut CollisionResponse, heights: [f64; 2]) {
    response.scene.collider_motions[0].frame_positions[1] = plates(heights);
    let cloth = triangle(0.1, 0.0);
    response.begin_step(StepStart {
        start_positions: &cloth,
        predicted_positions: &cloth,
        is_pinned: &[false; 3],
        frame_fractions: [0.0, 1.0],
        duration: 0.01,
        vertex_compliances: Vec::new(),
    });
}

/// The cloth and each plate require 2 mm.
#[test]
fn cloth_is_compressed_to_the_room_between_plates() {
    for (heights, fraction) in [([-1.0e-3, 1.0e-3], 0.5), ([-1.0e-3, 2.0e-3], 0.75)] {
        let mut response = cloth_between_plates();
        move_plates(&mut response, heights);
        let flypapering = &response.recovery.flypapering;
        assert!(flypapering.is_pinching() && flypapering.held_vertices().next().is_none());
        for thickness in &response.scene.mesh.thickness_fractions[..3] {
            assert!((thickness - fraction).abs() < 1e-9, "{thickness}");
        }
        let pair = PrimitivePair::vertex_face(&response.scene.mesh, 0, 1);
        assert!(response.begun_step().is_guaranteed_pair(&pair));
    }
    let mut response = cloth_between_plates();
    move_plates(&mut response, [-2.1e-3, 2.1e-3]);
    assert!(!response.recovery.flypapering.is_pinching());
}

#[test]
fn cloth_without_room_is_held_in_the_middle_until_the_plates_open() {
    let mut response = cloth_between_plates();
    move_plates(&mut response, [0.9e-3, 1.0e-3]);
    let held: Vec<_> = response.recovery.flypapering.held_vertices().collect();
    assert_eq!(held.iter().map(|one| one.vertex).collect::<Vec<_>>(), [0, 1, 2]);
    for one in &held {
        assert!((one.end.z - 0.95e-3).abs() < 1e-9, "{:?}", one.end);
        assert!(response.step.is_pinned(one.vertex));
    }
    let pair = PrimitivePair::vertex_face(&response.scene.mesh, 0, 1);
    assert!(response.begun_step().is_filtered_pair(&pair));
    // It is remembered from step to step, and let go where there is room.
    response.recovery.flypapering.accept_pinched_vertices();
    assert_eq!(response.recovery.flypapering.pinched_vertices.len(), 3);
    move_plates(&mut response, [-5.0e-3, 5.0e-3]);
    assert!(response.recovery.flypapering.held_vertices().next().is_none());
    assert!(!response.step.is_pinned(0) && !response.begun_step().is_filtered_pair(&pair));
}
