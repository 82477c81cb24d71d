"""What a unit of work costs, and what was measured to know it: `coefficients.json`, made by
`gsl-scale plan --fit`."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gsl_scale.errors import InputError
from gsl_scale.plan.size import Case
from gsl_scale.plan.work import Amounts, amounts, encoding, links_amounts

SHIPPED = Path(__file__).with_name("coefficients.json")


class Coefficients(BaseModel):
    """Costs per quantity and kind of work; seconds, bytes or rows per unit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    costs: dict[str, dict[str, float]]
    jitter: list[float]  # times of single steps by their median, in order
    threads: int  # of each worker that was measured
    provisional: bool  # not measured at length
    about: dict[str, Any]  # machine, versions, commit, time
    largest: dict[str, int]  # of the trainings measured: nodes, features, workers

    @classmethod
    def load(cls, path: Path = SHIPPED) -> "Coefficients":
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            raise InputError(
                f"{path} holds no coefficients: {str(error).splitlines()[0]}.",
                next_step="Make them: gsl-scale bench scaling --out runs/scaling, then "
                "gsl-scale plan --fit runs/scaling/scaling.json --to FILE",
            ) from None

    def to_json(self) -> str:
        return json.dumps(self.model_dump(), indent=1, ensure_ascii=False) + "\n"

    def links(self, case: Case) -> float:
        """Edges of the learned graph, self-loops included."""
        found = self.cost("graph.rows", links_amounts(case)["graph.rows"])
        if found is None:
            raise InputError(
                "The coefficients are of graphs without given edges.",
                next_step="Measure graphs with edges too: data.degree above 0 in the config of "
                "gsl-scale bench scaling.",
            )
        return found + case.size.nodes

    def predict(self, case: Case) -> dict[str, float]:
        """Every quantity that was measured, for this case."""
        links = self.links(case)
        found = {"graph.rows": links - case.size.nodes}
        for quantity, work in amounts(case, links).items():
            cost = self.cost(quantity, work)
            if cost is not None:
                found[quantity] = cost
        encoded = self.cost("step.seconds", encoding(case))
        if "prepare.seconds" in found and encoded is not None:
            found["prepare.seconds"] += encoded
        return found

    def cost(self, quantity: str, work: Amounts) -> float | None:
        """None if it, or a kind of work in it, was never measured."""
        costs = self.costs.get(quantity)
        if costs is None or any(amount and term not in costs for term, amount in work.items()):
            return None
        return sum(costs.get(term, 0.0) * amount for term, amount in work.items())
