"""How long and how dear a run of ten million claims would be: a model, and a check of it.

    python tests/perf/scaling_model.py              the tables of docs/scaling.md
    python tests/perf/scaling_model.py --measure    measure the constants on this machine first
    python tests/perf/scaling_model.py --check      and compare predictions with 5,000-claim runs

An engine that keeps C calls in flight is a closed queueing network of two stations: the process
itself, which spends ``cpu`` seconds on each call one after the other, and a delay of ``latency +
hold`` seconds that calls spend side by side (waiting for the provider, then for the answer to be on
disk). Its throughput is worked out by mean value analysis (M. Reiser and S. Lavenberg, Journal of
the ACM 27, 1980). Rate limits cap it, workers multiply it, and failed calls are sent again, so that
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
    """Calls a second of one worker, by mean value analysis."""
    delay, queue, rate = latency + constants.hold, 0.0, 0.0
    for in_flight in range(1, concurrency + 1):
        at_process = constants.cpu * (1 + queue)
        rate = in_flight / (at_process + delay)
        queue = rate * at_process
    return rate


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
        f"{constants.hold * 1000:.0f} ms hold, {constants.startup:.1f} s start-up.",
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


def measured() -> Constants:
    """The constants of this machine: from runs of 1,000 and 3,000 claims that the process bounds,
    and of 200 and 600 that the delay bounds. None of them is a run that is then predicted."""
    import platform

    busy = [run(claims, 400, 0.05) for claims in (1000, 3000)]
    cpu = (busy[1] - busy[0]) / 2000
    slow = [run(claims, 10, 0.05) for claims in (200, 600)]
    each = (slow[1] - slow[0]) / 400 * 10
    hold = max(0.0, each - 0.05 - cpu)
    startup = max(0.0, slow[0] - 200 * each / 10)
    machine = f"{platform.machine()}, Python {platform.python_version()}, server on the same cores"
    return Constants(round(cpu, 6), round(hold, 4), round(startup, 3), machine)


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
