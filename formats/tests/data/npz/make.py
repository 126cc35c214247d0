"""Writes the files of this directory with NumPy."""

import numpy as np

two = {"arr_0": np.arange(12, dtype="<i4").reshape(3, 4), "data": np.arange(5, dtype=">f8")}
np.savez("two.npz", **two)
np.savez_compressed("compressed.npz", a=np.asfortranarray(np.arange(30, dtype="<u2").reshape(5, 6)))
