// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

fn member() -> SewnPair {
    SewnPair {
        vertices: [0, 1],
        cloth: 0,
        width: 0.02,
        time: 0.5,
        requested_bound: Some(3.0),
        stiffness: 200.0,
        bound: 3.0,
        initial_length: 0.3,
    }
}

#[test]
fn forces_are_derivatives_of_energies_and_tangents_of_forces() {
    let member = member();
    for (rest, length) in
        [(0.0, 0.004), (0.0, 0.2), (0.0, 0.0), (0.05, 0.052), (0.05, 0.3), (0.05, 0.02)]
    {
        let span = Vec3::new(0.48, -0.6, 0.64) * length;
        // Closed pairs are damped in all directions.
        let [viscosity, friction] = if rest > 0.0 { [2.0, 0.0] } else { [0.0, 2.0] };
        let state = PairState { rest, stiffness: 200.0, viscosity, friction };
        let before = measured(&Vec3::new(0.3 * length, -0.5 * length, 0.6 * length));
        let force = |span: &Vec3| {
            let response = member.damped_response(span, &state, &before, 40.0);
            (response.direction * response.tension + response.drag, response.energy)
        };
        let here = member.damped_response(&span, &state, &before, 40.0);
        let dyad = here.direction * here.direction.transpose();
        let tangent = dyad * (here.axial_stiffness - here.transverse_stiffness)
            + Matrix3::identity() * here.transverse_stiffness;
        let step = 1.0e-7;
        for axis in 0..3 {
            let displacement = Vec3::from_fn(|row, _| if row == axis { step } else { 0.0 });
            let ends = [force(&(span + displacement)), force(&(span - displacement))];
            let slope = (ends[0].1 - ends[1].1) / (2.0 * step);
            assert!((slope - force(&span).0[axis]).abs() < 1.0e-6, "{rest} {length}: {slope}");
            let column = (ends[0].0 - ends[1].0) / (2.0 * step);
            let error = (column - tangent.column(axis)).norm();
            assert!(error < 1.0e-5 * 200.0, "{rest} {length}: {column}");
        }
        assert!(here.axial_stiffness >= 0.0 && here.transverse_stiffness >= 0.0);
        assert!(member.response(&span, &state).tension <= 3.0);
    }
}

#[test]
fn a_pair_closes_within_its_time_and_without_jerks() {
    let member = member();
    let rest = |seconds: f64| member.state_after(seconds).rest;
    for (seconds, length) in [(0.0, 0.3), (0.5, 0.0), (9.0, 0.0)] {
        assert!((rest(seconds) - length).abs() < 1.0e-12, "{seconds} s");
    }
    assert!(rest(1.0e-3) > 0.3 - 1.0e-5 && rest(0.3749) < 3.0e-4);
    assert!((rest(0.2) - rest(0.3) - (rest(0.25) - rest(0.35))).abs() < 1.0e-12);
    assert!((member.state_after(0.1).stiffness - 150.0).abs() < 1.0e-9);
    assert!((member.state_after(0.5).stiffness - 200.0).abs() < 1.0e-9);
}

#[test]
fn a_pair_that_starts_together_is_closed_from_the_start() {
    let member = SewnPair { initial_length: 1.0e-6, ..member() };
    for seconds in [0.0, 0.1, 0.4, 9.0] {
        let state = member.state_after(seconds);
        let difference = (state.stiffness - member.stiffness).abs();
        assert!(state.rest == 0.0 && difference < 1.0e-9 * member.stiffness, "{seconds} s");
    }
    let apart = SewnPair { initial_length: 0.02, ..member };
    assert!(apart.state_after(0.0).stiffness < member.stiffness);
}
