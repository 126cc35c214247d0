"""Writes datatypes.h5 with h5py 3.7 and HDF5 1.10.8: types of other programs, also without a dtype, and attributes."""
import h5py, numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t

three = h5s.create_simple((3,))
text = h5t.py_create(h5py.string_dtype(), logical=True)


def create(name, datatype, items=None, memory=None, space=three):
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    made = h5d.create(file.id, name.encode(), datatype, space, properties)
    if items is not None:
        made.write(h5s.ALL, h5s.ALL, items, mtype=memory or datatype)
    return made


def changed(base, **settings):
    made = base.copy()
    for name, value in settings.items():
        getattr(made, 'set_' + name)(*value if isinstance(value, tuple) else (value,))
    return made


with h5py.File('datatypes.h5', 'w', libver='earliest') as file:
    numbers = np.arange(1, 4, dtype='<i4')
    create('bits', h5t.STD_B16BE, np.array([1, 2, 0x8003], '>u2'))
    create('bits12', changed(h5t.STD_I16LE, precision=12, offset=2), numbers - 2, h5t.STD_I32LE)
    create('nested', h5t.array_create(h5t.array_create(h5t.STD_I16BE, (2,)), (1, 2)), np.arange(12, dtype='>i2'))
    create('scales', h5t.py_create(h5py.enum_dtype({'FALSE': 0, 'TRUE': 2}, 'i1'), logical=True), np.array([0, 2, 7], 'i1'))
    create('space', changed(h5t.C_S1, size=4, strpad=h5t.STR_SPACEPAD), np.array([b'a   ', b'bc  ', b'    '], 'S4'))
    create('ended', changed(h5t.C_S1, size=4, strpad=h5t.STR_NULLTERM), np.array([b'a\0xx', b'bc\0\0', b'abc\0'], 'V4'))
    create('nothing', text, space=h5s.create(h5s.NULL))
    create('int3', changed(h5t.STD_I32LE, precision=24, size=3))
    create('long', changed(h5t.IEEE_F64LE, size=16))
    create('bfloat', changed(h5t.IEEE_F32LE, fields=(15, 7, 8, 0, 7), size=2, ebias=127))
    create('time', h5t.UNIX_D32LE)
    create('region', h5t.STD_REF_DSETREG)
    create('texts', h5t.array_create(text, (2,)))
    record = h5t.create(h5t.COMPOUND, 16)
    record.insert(b's', 0, text)
    create('record', record)
    deep = h5t.STD_I8LE
    for _ in range(33):
        deep = h5t.array_create(deep, (1,))
    create('deep', deep)
    attributes = create('attributes', h5t.STD_I8LE, np.zeros(3, 'i1'))
    for name, datatype, space, items in (
        ('fixed', changed(h5t.C_S1, size=3), three, np.array([b'a', b'bc', b'def'], 'S3')),
        ('null', h5t.STD_I32LE, h5s.create(h5s.NULL), None),
        ('null text', text, h5s.create(h5s.NULL), None),
        ('none', h5t.STD_I32LE, h5s.create_simple((0,)), None),
        ('no texts', text, h5s.create_simple((2, 0)), None),
        ('reference', h5t.STD_REF_OBJ, three, None),
        ('region', h5t.STD_REF_DSETREG, three, None),
        ('sequence', h5t.vlen_create(h5t.STD_I8LE), three, None),
        ('opaque', changed(h5t.create(h5t.OPAQUE, 2), tag=b'pair'), three, np.array([b'ab'] * 3, 'V2')),
        ('caf\udce9', h5t.STD_I8LE, h5s.create(h5s.SCALAR), np.array(5, 'i1')),
        ('not text', changed(text, cset=h5t.CSET_ASCII), h5s.create(h5s.SCALAR), np.array(b'caf\xe9', object)),
    ):
        made = h5a.create(attributes, name.encode('utf8', 'surrogateescape'), datatype, space)
        if items is not None:
            made.write(items, mtype=datatype if datatype.get_class() != h5t.STRING else None)
