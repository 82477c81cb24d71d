"""What every group of keys in a config has in common."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, field_validator

_LARGEST = 2**53  # a JSON number up to here is the same everywhere


class Block(BaseModel):
    """A frozen group of keys; keys it does not have are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _fits(cls, value: Any) -> Any:
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise ValueError(f"must be at most {_LARGEST:,}")
        return value

    # Keys that say where input lies. They are left out of digests, because what is
    # compared is the content of the files (see `ingest.inputs`), not their path.
    locations: ClassVar[tuple[str, ...]] = ()
    # Keys that came later. Where they are not set they are left out of digests, so that what was
    # made before them is still what it was.
    later: ClassVar[tuple[str, ...]] = ()
