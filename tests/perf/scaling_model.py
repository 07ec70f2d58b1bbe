"""How long and how dear a run of ten million claims would be: a model, and a check of it.

    python tests/perf/scaling_model.py              the tables of docs/scaling.md
    python tests/perf/scaling_model.py --measure    measure the constants on this machine first
    python tests/perf/scaling_model.py --check      and compare predictions with 5,000-claim runs

An engine that keeps C calls in flight goes round and round: in each turn the process works ``C x
cpu`` seconds, one call after the other, and each call waits ``latency + hold`` seconds (for the
provider, then for the answer to be on disk), all side by side. Were the two to overlap entirely, a
turn would take the longer of them; were they not to overlap, their sum. Answers that share a write
to disk come back in bursts, so it lies between: ``burst`` is the part of the shorter that adds.
Rate limits cap it, workers multiply it, and failed calls are sent again, so that
``1 / (1 - failures)`` calls are needed for an answer. A script to run by hand: the suite tests the
arithmetic, never the times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path

HERE = Path(__file__).parent
CONSTANTS = HERE / "scaling_constants.json"

CLAIMS, VOTES = 10_000_000, 3
TOLERANCE = 0.15
CHECKED = ((5000, 50, 0.05), (5000, 200, 0.05), (5000, 200, 0.2))
"""Claims, concurrency and latency in seconds of the runs that must be predicted."""


@dataclass(frozen=True, slots=True)
class Constants:
    """What was measured of one engine process on one machine."""

    cpu: float
    """Seconds of the process for each call."""
    hold: float
    """Seconds for which a call keeps its place beyond the provider's latency."""
    burst: float
    """Share of the shorter of work and waiting that the other does not hide, 0 to 1."""
    startup: float
    """Seconds before the first call and after the last."""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is made."""

    name: str
    latency: float = 4.0
    """Seconds that the provider takes for an answer."""
    concurrency: int = 200
    """Calls in flight in each worker."""
    workers: int = 1
    requests_a_minute: float = float("inf")
    failures: float = 0.0
    """Share of calls that fail and are sent again."""
    batch_hours: float = 0.0
    """For batches: hours until a batch is done. 0 means live calls."""
    batch_size: int = 100_000
    batches_at_once: int = 10


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens, and tokens of a call. Examples: put your own."""

    input: float = 3.0
    output: float = 15.0
    batch_discount: float = 0.5
    input_tokens: int = 1500
    output_tokens: int = 300


def throughput(constants: Constants, latency: float, concurrency: int) -> float:
    """Calls a second of one worker."""
    return concurrency / turn(constants, latency, concurrency)


def turn(constants: Constants, latency: float, concurrency: int) -> float:
    """Seconds in which each place is used once."""
    work = concurrency * constants.cpu
    waiting = latency + constants.hold + constants.cpu
    return max(work, waiting) + constants.burst * (min(work, waiting) - constants.cpu)


def seconds(constants: Constants, plan: Plan, calls: int) -> float:
    """How long so many answers take."""
    needed = calls / (1 - plan.failures)
    if plan.batch_hours:
        submitting = constants.startup + needed * constants.cpu
        turns = ceil(needed / (plan.batch_size * plan.batches_at_once))
        return max(submitting, turns * plan.batch_hours * 3600)
    live = plan.workers * throughput(constants, plan.latency, plan.concurrency)
    return constants.startup + needed / min(live, plan.requests_a_minute / 60)


def dollars(plan: Plan, prices: Prices, calls: int) -> float:
    """What the answers cost. Failed calls are not charged."""
    each = prices.input_tokens * prices.input + prices.output_tokens * prices.output
    return calls * each / 1e6 * (1 - prices.batch_discount if plan.batch_hours else 1)


LIVE = Plan("live, 1 process, 200 in flight")
PLANS = (
    LIVE,
    replace(LIVE, name="the same, 4,000 requests a minute allowed", requests_a_minute=4000),
    replace(LIVE, name="8 workers, 200 in flight each", workers=8),
    replace(LIVE, name="8 workers, 10 % of calls fail", workers=8, failures=0.1),
    replace(LIVE, name="8 workers, 20,000 requests a minute", workers=8, requests_a_minute=20_000),
    replace(LIVE, name="64 workers, 200 in flight each", workers=64),
    replace(LIVE, name="64 workers, 2,000 in flight each", workers=64, concurrency=2000),
    replace(LIVE, name="batches of 100,000, 10 at once, done in 1 h", batch_hours=1),
    replace(LIVE, name="batches of 100,000, 10 at once, done in 24 h", batch_hours=24),
    replace(LIVE, name="the same, 10 % expired and resubmitted", batch_hours=24, failures=0.1),
)


def tables(constants: Constants, prices: Prices = Prices()) -> str:
    """The Markdown of docs/scaling.md between its markers."""
    calls = CLAIMS * VOTES
    lines = [
        f"Constants ({constants.machine}): {constants.cpu * 1000:.2f} ms of the process a call, "
        f"{constants.hold * 1000:.0f} ms hold, burst {constants.burst:.2f}, "
        f"{constants.startup:.1f} s start-up.",
        "",
        f"{CLAIMS:,} claims x {VOTES} votes = {calls:,} answers; "
        f"{LIVE.latency:g} s a call, {prices.input_tokens:,} tokens in and "
        f"{prices.output_tokens:,} out at ${prices.input:g} and ${prices.output:g} a million "
        f"(examples), batches at {1 - prices.batch_discount:.0%} of that.",
        "",
        "| how | hours | dollars |",
        "|---|---:|---:|",
    ]
    for plan in PLANS:
        hours = seconds(constants, plan, calls) / 3600
        lines.append(f"| {plan.name} | {hours:,.1f} | {dollars(plan, prices, calls):,.0f} |")
    return "\n".join(lines)


# --- measuring -----------------------------------------------------------------------------


def run(claims: int, concurrency: int, latency: float, times: int = 3) -> float:
    """Median wall seconds of the engine on so many claims, against a server on loopback."""
    sys.path.insert(0, str(HERE))
    from engine import SERVER, measure

    command = [sys.executable, str(SERVER), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            url, took = server.stdout.readline().strip(), []
            for _ in range(times):
                with tempfile.TemporaryDirectory() as folder:
                    took.append(measure("engine", url, claims, concurrency, Path(folder))["wall"])
        finally:
            server.terminate()
    return statistics.median(took)


CALIBRATION = ((400, 0.05, 1000, 3000), (10, 0.05, 200, 600), (100, 0.1, 1000, 3000))
"""In flight, latency, and the two numbers of claims whose difference gives the time of a turn. None
of these runs is one that is then predicted."""


def measured() -> Constants:
    """The constants of this machine, from three settings: one that the process bounds, one that
    waiting bounds, and one where both take about as long."""
    import platform

    turns, startups = [], []
    for concurrency, latency, few, many in CALIBRATION:
        first, second = run(few, concurrency, latency), run(many, concurrency, latency)
        each = (second - first) / (many - few)
        turns.append(each * concurrency)
        startups.append(first - few * each)
    cpu, hold, burst = fitted(turns)
    machine = f"{platform.machine()}, Python {platform.python_version()}, server on the same cores"
    startup = max(0.0, statistics.median(startups))
    return Constants(round(cpu, 6), round(hold, 4), round(burst, 2), round(startup, 3), machine)


def fitted(turns: list[float]) -> tuple[float, float, float]:
    """The ``cpu``, ``hold`` and ``burst`` that come nearest to the turns of `CALIBRATION`."""
    from scipy.optimize import least_squares

    def off(values: list[float]) -> list[float]:
        guess = Constants(*values, startup=0.0)
        settings = zip(CALIBRATION, turns, strict=True)
        return [turn(guess, one[1], one[0]) / found - 1 for one, found in settings]

    found = least_squares(off, [0.001, 0.005, 0.5], bounds=([1e-5, 0, 0], [0.1, 1, 1])).x
    return float(found[0]), float(found[1]), float(found[2])


def check(constants: Constants) -> bool:
    """Print measured beside predicted; whether every prediction is near enough."""
    near = True
    print("| claims | in flight | latency | measured s | predicted s | off |")
    print("|---:|---:|---:|---:|---:|---:|")
    for claims, concurrency, latency in CHECKED:
        plan = Plan("checked", latency=latency, concurrency=concurrency)
        found, said = run(claims, concurrency, latency), seconds(constants, plan, claims)
        off = said / found - 1
        near &= abs(off) <= TOLERANCE
        print(
            f"| {claims} | {concurrency} | {latency} s | {found:.2f} | {said:.2f} | {off:+.0%} |",
            flush=True,
        )
    return near


def main() -> int:
    """Print the tables; measure or check when asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--measure", action="store_true", help="measure and keep the constants")
    parser.add_argument("--check", action="store_true", help="also compare with 5,000-claim runs")
    asked = parser.parse_args()
    if asked.measure:
        CONSTANTS.write_text(json.dumps(asdict(measured()), indent=1) + "\n", encoding="utf-8")
    constants = Constants(**json.loads(CONSTANTS.read_text(encoding="utf-8")))
    print(tables(constants))
    if asked.check:
        print()
        return 0 if check(constants) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
