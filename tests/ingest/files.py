"""A small graph, as the files of the table tests hold it."""

import numpy as np
import pandas as pd

X = np.array([[1, 0.5], [2, 0], [0.25, 3], [4, 4]], np.float32)


def csv(path, *lines):
    path.write_text("\n".join(lines) + "\n")


def frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=["a", "b"])
