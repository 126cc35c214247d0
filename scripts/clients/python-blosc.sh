#!/bin/bash
# Debian's python-blosc: its own tests and the examples in its documentation.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 python3-blosc python3-numpy

cat > suite.py << 'END'
import importlib, sys, unittest
import blosc.toplevel
# `blosc.test` is a function that hides the module of the same name. `blosc.toplevel` holds the
# documentation's examples.
load = unittest.defaultTestLoader.loadTestsFromModule
suite = unittest.TestSuite([load(importlib.import_module("blosc.test")), load(blosc.toplevel)])
sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
END
ours /usr/bin/python3 suite.py 2> log
had "$ours1"
unittests log 39 1
