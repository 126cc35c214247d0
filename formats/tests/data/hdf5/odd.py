"""Writes odd.h5 and names.h5 with h5py 3.7 and HDF5 1.10.8: names that are not UTF-8, a tag, items in other files, links."""
import h5py, numpy as np
from h5py import h5d, h5p, h5s, h5t

int32, three = h5t.STD_I32LE, h5s.create_simple((3,))


def create(file, name, datatype, items, properties=None):
    properties = properties or h5p.create(h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    made = h5d.create(file.id, name, datatype, three, properties)
    if items is not None:
        made.write(h5s.ALL, h5s.ALL, items, mtype=datatype)


with h5py.File('odd.h5', 'w', libver='earliest') as file:
    numbers = np.arange(3, dtype='<i4')
    create(file, b'plain', int32, numbers)
    record = h5t.create(h5t.COMPOUND, 8)
    record.insert(b'x', 0, int32)
    record.insert(b'caf\xe9', 4, int32)
    create(file, b'latin', record, np.array([(1, 4), (2, 5), (3, 6)], [('x', '<i4'), ('y', '<i4')]))
    opaque = h5t.create(h5t.OPAQUE, 3)
    opaque.set_tag(b'image')
    create(file, b'tagged', opaque, np.frombuffer(b'abcdefghi', 'V3'))
    opaque.set_tag(b'caf\xe9')
    create(file, b'tagged-latin', opaque, np.frombuffer(b'abcdefghi', 'V3'))
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_external(b'secret.bin', 0, 12)
    create(file, b'external', int32, None, properties)
    for name, source, dataset in ((b'virtual', b'secret.h5', b'/data'), (b'within', b'.', b'/plain')):
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_virtual(three, source, dataset, three)
        create(file, name, int32, None, properties)
    file.id.links.create_soft(b'nowhere', b'/missing')
    file.id.links.create_soft(b'root', b'/')
with h5py.File('names.h5', 'w', libver='earliest') as file:
    create(file, b'plain', int32, numbers)
    create(file, b'caf\xe9', int32, numbers)
