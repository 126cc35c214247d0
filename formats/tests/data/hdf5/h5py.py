"""Writes h5py.h5 with h5py 3.7 and HDF5 1.10.8: a dataset of each type, links and a cycle of groups."""
import h5py, numpy as np
f=h5py.File('h5py.h5','w')
rng=np.random.default_rng(1)
a=np.arange(365*60).reshape(365,60).astype('>i4')
f.create_dataset('grp/temp',data=a,chunks=(50,60),compression='gzip',shuffle=True)
f['grp/temp'].attrs['units']='K'; f['grp/temp'].attrs['scale']=1.5; f['grp/temp'].attrs['v']=np.arange(3); f['grp/temp'].attrs['names']=['a','b']
f['grp/temp'].attrs['flag']=True
f['scalar']=3.5
f['empty']=h5py.Empty('f4')
f.create_dataset('zero',shape=(0,4),dtype='f8',maxshape=(None,4),chunks=(10,4))
f['bools']=np.array([True,False,True])
f['cplx']=np.array([1+2j,3-4j],dtype='c8')
f['half']=np.array([1.5,2.5],dtype='f2')
f['S']=np.array([b'ab',b'cdef'])
f['str']=np.array(['häus','x','']  ,dtype=h5py.string_dtype())
r=np.zeros(5,dtype=np.dtype([('a','i1'),('b','f8',(2,)),('c','S3')],align=True)); r['a']=range(5); r['b'][:,1]=range(5)
f['rec']=r
f.create_dataset('sparse',shape=(100,100),chunks=(10,10),dtype='f4',fillvalue=7)
f['sparse'][25:30,33:40]=1
f['arr']=np.zeros(3,dtype=[('x','i4')])['x']
dt=np.dtype(('<i4',(2,3)))
ds=f.create_dataset('arrtype',(4,),dtype=dt); ds[...]=np.arange(24).reshape(4,2,3)
f['ref']=np.array([f['scalar'].ref],dtype=h5py.ref_dtype)
f['opaque']=np.array([b'abc',b'xyz'],dtype='V3')
f['time']=np.array(['2020-01-01','2021-01-01'],dtype='M8[D]').astype(h5py.opaque_dtype('M8[D]'))
f['enum']=f.create_dataset('en',(3,),dtype=h5py.enum_dtype({'a':1,'b':2},basetype='i2'))
f['vl']=f.create_dataset('vlen',(2,),dtype=h5py.vlen_dtype('i4'))
f['loop']=h5py.SoftLink('/')
f['grp/up']=f['/']
f['ext']=h5py.ExternalLink('other.h5','/x')
f['x']=np.arange(60.); f['x'].make_scale('x'); f['y']=np.arange(365); f['y'].make_scale('y')
f['grp/temp'].dims[0].attach_scale(f['y']); f['grp/temp'].dims[1].attach_scale(f['x'])
f.close()
