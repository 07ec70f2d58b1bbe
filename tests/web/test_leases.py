"""Leases: one person at a case, one case a person, and none for ever."""

from __future__ import annotations

from deepfact.web.leases import Leases


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_lease_keeps_others_out_until_it_ends() -> None:
    clock = Clock()
    leases = Leases(60, clock)
    assert leases.take("x", "ada") and leases.take("x", "ada")
    assert not leases.take("x", "ben") and not leases.free("x", "ben")
    assert leases.free("x", "ada") and leases.free("y", "ben")
    clock.now += 61
    assert leases.free("x", "ben") and leases.take("x", "ben")
    assert not leases.take("x", "ada")


def test_taking_a_case_again_lengthens_the_lease() -> None:
    clock = Clock()
    leases = Leases(60, clock)
    leases.take("x", "ada")
    clock.now += 40
    leases.take("x", "ada")
    clock.now += 40
    assert not leases.take("x", "ben")


def test_the_next_case_gives_back_the_one_before_and_so_does_skipping() -> None:
    leases = Leases(60, Clock())
    leases.take("x", "ada")
    leases.take("y", "ada")
    assert leases.take("x", "ben")
    leases.give_back("y", "ben")  # not ben's
    assert not leases.free("y", "ben")
    leases.give_back("y", "ada")
    assert leases.free("y", "ben")
