"""One step of the method, beside the paper's Algorithm 1."""

from dataclasses import dataclass

from torch import Tensor, nn

from gsl_scale.config import Config
from gsl_scale.contrast.encoder import Encoder, projector
from gsl_scale.contrast.loss import nt_xent
from gsl_scale.contrast.views import ANCHOR, LEARNER, drop_edges, feature_mask, key_of
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph
from gsl_scale.learners import LEARNERS
from gsl_scale.postprocess import Sketch, learned_graph


class Model(nn.Module):
    """The learner (omega), the encoder (theta) and the projector (phi)."""

    def __init__(self, config: Config, dim: int, dim_learner: int) -> None:
        super().__init__()
        learner, contrast = config.learner, config.contrast
        self.learner = LEARNERS[learner.kind](dim_learner, learner.layers, learner.activation)
        self.encoder = Encoder(dim, contrast.hidden, contrast.representation, contrast.dropout)
        self.projector = projector(contrast.representation, contrast.projection)


@dataclass(frozen=True)
class Views:
    """What both views are made of. `seen` is X, or X with its context (`context.py`)."""

    features: Features
    seen: Features
    given: Graph | None
    sketch: Sketch
    anchor: Graph


def contrast_views(
    model: Model, views: Views, seeds: Tensor, config: Config, step: int
) -> tuple[Tensor, Graph]:
    """The loss of one batch of seeds, and the learned graph S it was computed with."""
    settings = config.contrast

    # Lines 7, 8: the learner's embeddings, then the post-processor: S = q(p(X, A)).
    embeddings = model.learner(views.seen, views.given)
    learned = learned_graph(embeddings, views.sketch).normalised()

    # Lines 9 to 12: two views, augmented, encoded, projected.
    projections = []
    for view, graph, masked in (
        (LEARNER, learned, settings.mask_learner),
        (ANCHOR, views.anchor, settings.mask_anchor),
    ):
        key = key_of(config.train.seed, step, view)
        mask = feature_mask(views.features.shape[1], masked, key)
        dropped = drop_edges(graph, settings.drop_edges, key)
        representations = model.encoder(dropped, views.features, mask, key, seeds)
        projections.append(model.projector(representations))

    # Line 13: the contrastive loss.
    loss = nt_xent(projections[0], projections[1], settings.temperature)
    return loss, learned.detach()
