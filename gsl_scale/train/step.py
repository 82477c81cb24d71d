"""One step of the method, beside the paper's Algorithm 1."""

from collections.abc import Callable
from typing import Any, Protocol

from torch import Tensor, nn

from gsl_scale.config import Config
from gsl_scale.contrast.encoder import Encoder, projector
from gsl_scale.contrast.views import ANCHOR, LEARNER, feature_mask, key_of
from gsl_scale.graph.features import Features
from gsl_scale.graph.sample import Block
from gsl_scale.graph.weighted import Graph
from gsl_scale.learners import LEARNERS


class Batch(Protocol):
    """The nodes around a batch of seeds, in the learned graph and in the anchor.

    Their edges are dropped as (seed, step, view) says (line 10); `sharded.py` reads only what the
    seeds need, `whole.py` has it all in memory.
    """

    @property
    def seen(self) -> Features:
        """X, or X with its context (`context.py`)."""
        ...

    @property
    def given(self) -> Graph | None: ...

    def learned(self, embeddings: Tensor) -> Block:
        """The post-processor q: weights from similarities, symmetric, normalised."""
        ...

    def anchored(self) -> Block: ...

    def look_up(self) -> None:
        """Find its edges now and not when they are asked for."""
        ...


class Model(nn.Module):
    """The learner (omega), the encoder (theta) and the projector (phi)."""

    def __init__(self, config: Config, dim: int, dim_learner: int) -> None:
        super().__init__()
        learner, contrast = config.learner, config.contrast
        self.config = config
        self.learner = LEARNERS[learner.kind](dim_learner, learner.layers, learner.activation)
        self.encoder = Encoder(dim, contrast.hidden, contrast.representation, contrast.dropout)
        self.projector = projector(contrast.representation, contrast.projection)

    def forward(
        self,
        batch: Batch,
        step: int,
        tell: Callable[[Tensor], Any] = lambda projections: projections,
    ) -> tuple[Tensor, Any]:
        """The seeds' projections in the learner's view and in the anchor's. The latter come first
        and can be told to other ranks meanwhile."""
        settings = self.config.contrast

        # Lines 9 to 12, the anchor's view: augmented, encoded, projected.
        anchor = tell(self._projected(batch.anchored(), ANCHOR, settings.mask_anchor, step))

        # Lines 7, 8: the learner's embeddings, then the post-processor: S = q(p(X, A)).
        embeddings = self.learner(batch.seen, batch.given)
        learned = batch.learned(embeddings)

        # Lines 9 to 12, the learner's view.
        return self._projected(learned, LEARNER, settings.mask_learner, step), anchor

    def _projected(self, block: Block, view: int, masked: float, step: int) -> Tensor:
        key = key_of(self.config.train.seed, step, view)
        mask = feature_mask(block.features.shape[1], masked, key).to(block.features.device)
        projections: Tensor = self.projector(self.encoder(block, mask, key))
        return projections
