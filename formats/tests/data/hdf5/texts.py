"""Writes texts.h5 with h5py 3.7 and HDF5 1.10.8: chunked texts, of which few are stored."""
import h5py
f = h5py.File("texts.h5", "w")
for name, fill in [("empty", None), ("filled", "häuser")]:
    texts = f.create_dataset(name, (1 << 50,), h5py.string_dtype(), chunks=(5,), fillvalue=fill)
    texts[(1 << 49) + 2] = "häus"
f.close()
