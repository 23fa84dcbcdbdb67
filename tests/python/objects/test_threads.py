# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads: the same bits for every number of them, the GIL released, one caller at a time."""

import contextlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import weft
from small_cloths import FRAME, cloth, floor, simulation

LARGE = 40  # vertices a side: more than one thread is given at once


def pyramid(height: float) -> tuple[np.ndarray, np.ndarray]:
    base = [(0.1, 0.1, -0.3), (0.9, 0.1, -0.3), (0.9, 0.9, -0.3), (0.1, 0.9, -0.3)]
    triangles = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    return np.array([*base, (0.5, 0.5, height)]), np.array(triangles)


def draped(threads: int) -> tuple[bytes, bytes, list[int]]:
    settings = weft.Settings(threads=threads, wind=(1.0, 0.3, 0.0))
    positions, triangles = pyramid(-0.02)
    scene = weft.Simulation(
        [cloth(LARGE)],
        [weft.Collider(positions, triangles), weft.Collider(*floor(-0.31))],
        settings,
    )
    scene.set_pins(0, [0])
    contacts = []
    for frame in range(5):
        scene.set_collider(0, positions + 0.01 * frame * np.array((1.0, 0.0, 1.0)))
        contacts.append(scene.advance(FRAME).contacts)
    return scene.positions().tobytes(), scene.velocities().tobytes(), contacts


def test_every_number_of_threads_gives_the_same_bits():
    one = draped(1)
    assert one[2][-1] > 0
    assert draped(2) == one
    assert draped(8) == one


def test_every_run_gives_the_same_bits():
    assert draped(0) == draped(0)


def test_simulations_in_several_threads_do_not_disturb_each_other():
    with ThreadPoolExecutor(3) as executor:
        results = list(executor.map(draped, (1, 2, 1)))
    assert results[0] == results[1] == results[2] == draped(1)


def test_python_goes_on_while_a_simulation_computes_and_is_told_to_wait():
    # This thread can only see the simulation busy if it runs while the other is inside advance.
    scene = simulation(LARGE)
    worker = threading.Thread(target=scene.advance, args=(0.5,))
    refusals = set()
    worker.start()
    while worker.is_alive():
        try:
            scene.positions()
        except RuntimeError as error:
            refusals.add(str(error))
    worker.join()
    assert refusals == {
        "this simulation is computing in another thread: wait for that call to return"
    }
    assert scene.time == pytest.approx(0.5)
    assert (scene.positions()[:, 2] < 0.0).all()


def test_a_busy_simulation_still_has_a_description():
    scene = simulation(LARGE)
    worker = threading.Thread(target=scene.advance, args=(0.5,))
    descriptions = set()
    worker.start()
    while worker.is_alive():
        descriptions.add(repr(scene))
    worker.join()
    assert any("computing" in description for description in descriptions)


def test_asking_a_simulation_that_is_at_rest_never_stops_another_thread_from_advancing_it():
    scene = simulation(4)
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            with contextlib.suppress(RuntimeError):
                scene.positions()

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        for _ in range(300):
            scene.advance(1e-3)
    finally:
        stop.set()
        asker.join()
    assert scene.time == pytest.approx(0.3)


def test_a_simulation_keeps_nothing_of_python_alive():
    sheet, settings = cloth(), weft.Settings()
    collider, vertices = weft.Collider(*floor(-1.0)), [0, 1]
    given = (sheet, settings, collider, vertices)
    before = [sys.getrefcount(member) for member in given]
    scene = weft.Simulation([sheet], [collider], settings)
    scene.set_pins(0, vertices)
    assert [sys.getrefcount(member) for member in given] == before
