"""Tensors that belong together (a model, what was fitted beside it) as one safetensors part, read
without running anything in it."""

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from gsl_scale.errors import CorruptError
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import Table
from gsl_scale.store.parts import Parts


def write_tensors(out: Parts, name: str, tensors: dict[str, Tensor]) -> Table:
    path = out.path(name, 0, "safetensors")
    state = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    save_file(state, path)
    columns = {key: str(list(value.shape)) for key, value in state.items()}
    return Table(format="safetensors", columns=columns, parts=[out.seal(name, 0, path, len(state))])


def read_tensors(artifact: Artifact, name: str) -> dict[str, Tensor]:
    path = artifact.folder / artifact.manifest.tables[name].parts[0].path
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise CorruptError(
            f"{path} cannot be read: {error}", next_step="Write the artifact again."
        ) from None
