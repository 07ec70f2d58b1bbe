"""What a token costs: from a maintained public price list, or from the config.

The list is that of the ``genai-prices`` package, as bundled with it: nothing is fetched. A
price that is in neither is unknown (None), never zero. Prices are estimates: the bill is the
provider's.
"""

from __future__ import annotations

from typing import Mapping

from pydantic import Field

from deepfact.model_records import Completion
from deepfact.records import Record

MILLION = 1_000_000


class Price(Record):
    """US dollars per million tokens of each kind."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    """As ``input`` when not given."""
    cache_write: float | None = Field(default=None, ge=0)
    """As ``input`` when not given."""

    def of(self, completion: Completion) -> float:
        """What an answer cost, in US dollars. Input tokens do not include cached ones."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        return (
            completion.input_tokens * self.input
            + completion.output_tokens * self.output
            + completion.cache_read_tokens * read
            + completion.cache_write_tokens * write
        ) / MILLION


class PriceList:
    """Prices by model id.

    Args:
        overrides: prices from the config by model id; they win over the public list.
        provider: the name of the provider in the public list, such as ``anthropic``; any
            provider that lists the model when empty; None when the list says nothing about
            it, as of a server on this machine.
        batch: use the prices of the provider's batch API.
    """

    def __init__(
        self,
        overrides: Mapping[str, Price] | None = None,
        *,
        provider: str | None = "",
        batch: bool = False,
    ) -> None:
        self._known: dict[str, Price | None] = dict(overrides or {})
        self._provider, self._batch = provider, batch

    def of(self, model: str) -> Price | None:
        """The price of a model's tokens, or None where it is unknown."""
        if model not in self._known:
            self._known[model] = None if self._provider is None else self._listed(model)
        return self._known[model]

    def cost(self, request_model: str, completion: Completion) -> float | None:
        """US dollars that an answer cost; None where the price is unknown.

        The model asked for decides: it is what the config names and what an override names.
        """
        price = self.of(request_model) or (self.of(completion.model) if completion.model else None)
        return None if price is None else price.of(completion)

    def _listed(self, model: str) -> Price | None:
        """The public list's price, worked out once a model by pricing a million of each."""
        from genai_prices import Usage, calc_price

        context = {"processing": "batch"} if self._batch else None

        def dollars(**tokens: int) -> float:
            usage = Usage(**tokens)
            provider = self._provider or None
            price = calc_price(usage, model, provider_id=provider, price_context=context)
            return float(price.total_price)

        try:
            # One token of each is too few to reach a tier of long contexts; scaled up here.
            many = 1000
            scale = MILLION / many
            return Price(
                input=dollars(input_tokens=many) * scale,
                output=dollars(output_tokens=many) * scale,
                cache_read=dollars(input_tokens=many, cache_read_tokens=many) * scale,
                cache_write=dollars(input_tokens=many, cache_write_tokens=many) * scale,
            )
        except LookupError:
            return None
