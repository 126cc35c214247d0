#!/bin/bash
# Debian's PyTables 3.7: its own tests.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 python3-tables

ours /usr/bin/python3 -m tables.tests.test_all > log 2>&1 || { tail -n 100 log; exit 1; }
had "$ours1"
unittests log 6375 14
