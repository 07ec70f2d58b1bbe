"""Asking arms in other processes: what is sent there, and what is opened there.

A worker builds verifiers from the same specs, reads the same sources, and asks through an engine
whose answers and permits are the run's. Secrets are not sent: specs hold none, and a worker has
keys from its own environment, like any other process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from deepfact.errors import ConfigError
from deepfact.executors.base import Bounds, Elsewhere
from deepfact.executors.durable import Answers
from deepfact.executors.engine import Engine
from deepfact.executors.permits import Permits
from deepfact.providers.base import DeferredProvider
from deepfact.records import Source, sha256_of
from deepfact.run_records import VerifierSpec
from deepfact.running.arm import Arm
from deepfact.running.arm_engines import EngineSpec, timed
from deepfact.running.site import ArmSite, Found, Traces, Unit
from deepfact.verifiers.base import Context, build_verifier

SITE = f"{__name__}:open_site"

KEPT_SOURCES = 256
"""Sources that a worker keeps decoded; the others are decoded when they are read."""


def engine_names(arms: Sequence[Arm]) -> dict[str, str]:
    """The name of each prompted arm's engine: arms that share one have the same.

    Raises:
        ConfigError: an arm whose provider gathers requests instead of answering them.
    """
    names = {}
    for arm in arms:
        if arm.prompted is None:
            continue
        spec = EngineSpec.of(arm.spec)
        if isinstance(spec.provider(), DeferredProvider):
            raise ConfigError(
                f"the provider {spec.provider_spec.kind!r} gathers all requests in one place, "
                "so other processes cannot ask it",
                where=f"verifier {arm.name!r}",
                fix="use --executor local, or a provider that answers at once",
            )
        names[arm.name] = sha256_of(spec.identity)[7:19]
    return names


def arms_elsewhere(
    arms: Sequence[Arm],
    sources: Mapping[str, Source],
    responses: Path | None,
    *,
    replay: bool = False,
    seed: int = 0,
    own_names: bool = True,
    workspace: Path | None = None,
    use: Callable[[Iterable[str]], None] | None = None,
) -> Elsewhere[Unit, Found]:
    """How other processes ask these arms.

    Args:
        arms: see `deepfact.running.arms.build_arms`.
        sources: that verifiers may read.
        responses: file of the response store, when an arm asks a model.
        replay: never call out.
        seed: draws the jitter between retries.
        own_names: as of `ArmSite`.
        workspace: folder of the run, when there is one.
        use: is told the keys of the answers that were used.

    Raises:
        ConfigError: as `engine_names`.
    """
    names = engine_names(arms)
    specs = {arm.name: EngineSpec.of(arm.spec) for arm in arms if arm.name in names}
    setting = {
        "arms": [[arm.name, json.loads(arm.spec.canonical())] for arm in arms],
        "prompts": prompt_hashes(arms),
        "engines": names,
        "replay": replay,
        "seed": seed,
        "own_names": own_names,
        "workspace": str(workspace.absolute()) if workspace else "",
    }
    return Elsewhere(
        site=SITE,
        setting=json.dumps(setting),
        write=Unit.text,
        read=Found.of,
        responses=responses,
        engines={
            names[arm]: Bounds(limits=spec.limits, budget=spec.budget)
            for arm, spec in specs.items()
        },
        texts=lambda: ((name, source.canonical()) for name, source in sources.items()),
        use=use,
    )


def prompt_hashes(arms: Sequence[Arm]) -> dict[str, list[str]]:
    """The hashes of the prompts of each prompted arm, to see that a worker has the same ones."""
    found = {}
    for arm in arms:
        steps = getattr(arm.verifier, "step_prompts", {})
        hashes = [prompt.ref.hash for _, prompt in sorted(steps.items())]
        if arm.prompt is not None:
            hashes.append(arm.prompt.hash)
        found[arm.name] = hashes
    return found


# --- in a worker -------------------------------------------------------------------------


class SentSources(Mapping[str, Source]):
    """Sources that came as texts.

    Args:
        texts: each source as JSON, by its id.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._read = lru_cache(maxsize=KEPT_SOURCES)(self._decoded)

    def __getitem__(self, name: str) -> Source:
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def _decoded(self, name: str) -> Source:
        return Source.model_validate_json(self._texts[name])


class WorkerSite:
    """An `ArmSite` that is sent texts; as `deepfact.executors.base.Site`."""

    def __init__(self, site: ArmSite, engines: Sequence[Engine]) -> None:
        self._site, self._engines = site, engines
        self.alone = site.keeps_busy()

    async def do(self, unit: str, tell: Callable[[str], None]) -> None:
        """As `Site.do`."""
        await self._site.do(Unit.of(unit), lambda found: tell(found.text()))

    async def aclose(self) -> None:
        """As `Site.aclose`."""
        for engine in self._engines:
            await engine.aclose()


def open_site(
    setting: str,
    texts: Mapping[str, str],
    answers: Answers,
    permits: Callable[[str], Permits],
) -> WorkerSite:
    """As `deepfact.executors.base.OpenSite`.

    Raises:
        ConfigError: what is installed here, or lies here, is not what the run was started with.
    """
    data = json.loads(setting)
    workspace = Path(data["workspace"]) if data["workspace"] else None
    if workspace is not None and not workspace.is_dir():
        workspace = None  # another machine, with no share of the run's folder
    arms = [_arm(name, spec, workspace) for name, spec in data["arms"]]
    if prompt_hashes(arms) != data["prompts"]:
        raise ConfigError(
            "a worker has other prompts under the same names",
            fix="let all machines of the cluster see the same prompt folder",
        )
    engines: dict[str, Engine] = {}
    by_arm: dict[str, Engine] = {}
    for arm in arms:
        if arm.name in data["engines"]:
            name = data["engines"][arm.name]
            if name not in engines:
                spec = EngineSpec.of(arm.spec)
                provider: Any = timed(spec.provider())
                engines[name] = Engine(
                    provider,
                    answers,
                    spec.limits,
                    replay=data["replay"] or spec.replay,
                    prices=spec.prices,
                    seed=data["seed"],
                    permits=permits(name),
                )
            by_arm[arm.name] = engines[name]
    site = ArmSite(
        arms, Context(SentSources(texts)), by_arm, data["engines"], own_names=data["own_names"]
    )
    return WorkerSite(site, list(engines.values()))


def _arm(name: str, spec: Any, workspace: Path | None) -> Arm:
    read = VerifierSpec.model_validate(spec)
    arm = Arm(name, read, build_verifier(read, workspace=workspace))
    if hasattr(arm.verifier, "traces"):
        arm.verifier.traces = Traces()
    return arm
