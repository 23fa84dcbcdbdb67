# SPDX-License-Identifier: MIT OR Apache-2.0
"""Etzmuss 2002, chapter 4: reaction constraints, and what collisions cost over time."""

import numpy as np
import plot
import weft
from page import Finding, Table, judged
from scenes import Run, advance, box, grid, isotropic, offered

IMPLICIT = ("bdf2", "implicit_euler", "implicit_midpoint", "imex_euler", "sbdf2", "imex_midpoint")


def near(positions: np.ndarray, low: tuple, high: tuple) -> int:
    """Number of positions within 1 cm of a box."""
    outside = np.maximum(np.maximum(np.subtract(low, positions), np.subtract(positions, high)), 0.0)
    return int((np.linalg.norm(outside, axis=1) < 0.01).sum())


def swinging(frames: int, duration: float) -> tuple[Run, weft.Simulation, np.ndarray]:
    """A patch fixed at two corners swings against a box: account, end and faces."""
    points, quads = grid((19, 19), (0.76, 0.76))
    material = isotropic(1e4, 50.0, 1e-4)
    corners = (0.13, -0.35, -1.2), (0.63, 0.08, -0.12)
    body = weft.Collider(*box(*corners))
    cloth = weft.Cloth(points, quads, material)
    simulation = weft.Simulation([cloth], [body], weft.Settings(time_step=0.01))
    simulation.set_pins(0, [0, len(points) - 20])
    run = advance(simulation, frames, duration, lambda one: near(one.positions(), *corners))
    return run, simulation, quads


def figure_4_3() -> Finding:
    """Effort and collisions of a patch that swings against a box."""
    frames, duration = 300, 0.02
    run, simulation, quads = swinging(frames, duration)
    times = duration * (1.0 + np.arange(frames))
    contacts, linear = np.array(run.contacts), np.array(run.linear_of_frame)
    close = np.array(run.watched)
    first = int(np.argmax(contacts > 0))
    phases = {
        "free swing before the hit": slice(max(0, first - 10), first),
        "first 0.3 s of contact": slice(first, first + 15),
        "last 2 s, on the box": slice(-100, None),
    }
    rows = [
        (name, *(float(each[phase].mean()) for each in (linear, contacts, close)))
        for name, phase in phases.items()
    ]
    free, hit, rest = (row[1] for row in rows)
    drawn = [
        plot.Line("iterations per 0.02 s", times, linear),
        plot.Line("pairs that press", times, contacts),
        plot.Line("vertices within 1 cm of the box", times, close),
    ]
    shown = plot.lines("Effort and collisions", plot.Axis("time, s"), plot.Axis("number"), drawn)
    shape = plot.sheet("the end", simulation.positions(), quads, (-0.7, -1.0, -0.3))
    peak = first + int(close[first : first + 30].argmax())
    away = peak + int(close[peak : peak + 50].argmin())
    verdict, told = judged(
        {
            "more iterations after the hit than before": hit > free,
            "the cloth leaves the box": close[away] < 0.5 * close[peak],
            "and hits it again": close[away:].max() > 0.5 * close[peak],
            "as many collisions at rest as after the hit": rows[2][3] >= rows[1][3],
            "fewer iterations at rest than after the hit": rest < hit,
            "at rest hardly more than before (a quarter)": rest < 1.25 * free,
        }
    )
    return Finding(
        name="Effort and collisions over time",
        source="Etzmuss 2002, figure 4.3",
        statement="When the cloth hits the box the iterations rise; the response is strong, so "
        "that it moves away, collides again, and comes to rest. There hardly any additional work "
        "is necessary, though the number of collisions is very large.",
        measured=f"{told}. {free:.0f} iterations per frame before, {hit:.0f} after the hit, "
        f"{rest:.0f} at rest, with {rows[2][3]:.0f} of 400 vertices within 1 cm of the box.",
        verdict=verdict,
        why="Here the cloth still sways gently on the box in the last 2 s, over which the mean is "
        "taken. The document counts pairs of faces that collide; here what is close counts, as "
        "contacts are the pairs that press alone, and most of what lies on the box touches it at "
        "few of them.",
        tables=[
            Table(
                "Means per frame of 0.02 s",
                ["phase", "iterations", "pairs that press", "vertices within 1 cm"],
                rows,
            )
        ],
        plots=[shown, shape],
    )


# --- section 4.3 ------------------------------------------------------------------------------

GRAVITY = 9.81
SLOPE, FRICTION = np.radians(30.0), 0.3


def on_ground(integrator: str, angle: float = 0.0) -> weft.Simulation:
    """A soft sheet of 0.3 m that lies on a plane, which is inclined about y."""
    turn = np.array(
        [[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]]
    )
    points, quads = grid((5, 5), (0.3, 0.3))
    fabric = isotropic(40.0, 0.2, 1e-4, density=0.2, friction=FRICTION, thickness=0.001)
    cloth = weft.Cloth(np.add(points, (-0.15, -0.15, 0.002)) @ turn.T, quads, fabric)
    corners = np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (5.0, 5.0, 0.0), (-5.0, 5.0, 0.0)])
    plane = weft.Collider(
        corners @ turn.T, [(0, 1, 2), (0, 2, 3)], friction=FRICTION, thickness=0.001
    )
    settings = weft.Settings(
        integrator=integrator, gravity=(0.0, 0.0, -GRAVITY), air_density=0.0, self_collision=False
    )
    return weft.Simulation([cloth], [plane], settings=settings)


def returned(integrator: str) -> tuple[np.ndarray, np.ndarray]:
    """Times in s, and what is lacking in mm to a collision distance that has grown by 1 mm."""
    simulation = on_ground(integrator)
    simulation.advance(0.2)
    simulation.set_collider_surface(0, FRICTION, 0.002)
    found = [3.0 - 1e3 * simulation.positions()[:, 2].mean()]
    for _ in range(30):
        simulation.advance(0.005)
        found.append(3.0 - 1e3 * simulation.positions()[:, 2].mean())
    return 0.005 * np.arange(31), np.array(found)


def reaction_constraints() -> Finding:
    """Equations 4.1 and 4.2 in every explicit scheme: slope, return, release."""
    names = [name for name in offered("integrator") if name not in IMPLICIT]
    wanted = GRAVITY * (np.sin(SLOPE) - FRICTION * np.cos(SLOPE))
    rows, drawn = [], []
    for name in names:
        sliding = on_ground(name, SLOPE)
        sliding.advance(0.1)
        downhill = sliding.velocities() @ (np.cos(SLOPE), 0.0, -np.sin(SLOPE))
        times, lacking = returned(name)
        pulled = on_ground(name)
        pulled.advance(0.1)
        before = pulled.positions()[:, 2].mean()
        pulled.set_gravity((0.0, 0.0, 0.5 * GRAVITY))
        pulled.advance(0.1)
        risen = pulled.positions()[:, 2].mean() - before
        row = (name, downhill.mean() / 0.1 / wanted, lacking[4] / lacking[0], min(lacking))
        rows.append((*row, risen / (0.25 * GRAVITY * 0.01)))
        drawn.append(plot.Line(name, times, lacking))
    verdict, told = judged(
        {
            "slides as g(sin θ − μ cos θ) (1 %)": all(abs(row[1] - 1.0) < 0.01 for row in rows),
            "moves gradually to its target": all(0.6 < row[2] < 0.85 for row in rows),
            "and not beyond": all(row[3] > -1e-3 for row in rows),
            "is released by a force that drags it away (2 %)": all(
                abs(row[4] - 1.0) < 0.02 for row in rows
            ),
        }
    )
    head = [
        "scheme",
        "acceleration over exact",
        "lacking after 0.02 s",
        "least, mm",
        "rise over exact",
    ]
    return Finding(
        name="Reaction constraints of the explicit schemes",
        source="Etzmuss 2002, section 4.3, equations 4.1 and 4.2",
        statement="The force along the collision direction is replaced by k(x̄ − x) + d(v̄ − v), "
        "which moves a particle gradually to its target; it is switched off where the force drags "
        "the particle away; with damped correction forces the integration runs smoothly.",
        measured=f"{told}.",
        verdict=verdict,
        why="k and d are those of critical damping with 0.02 s for the mass of both sides, so that "
        "(1 + t/τ)exp(−t/τ) = 0.74 is left after τ. The printed condition knows no velocity: what "
        "approaches while a force drags it away would pass through, and what its support throws "
        "up would stay on it. Here a reaction that is off still pushes. Impacts are impulses.",
        tables=[Table("A soft sheet on a plane", head, rows)],
        plots=[
            plot.lines(
                "Return to the collision distance",
                plot.Axis("time, s"),
                plot.Axis("lacking, mm"),
                drawn,
            )
        ],
    )


ALL = (figure_4_3, reaction_constraints)
