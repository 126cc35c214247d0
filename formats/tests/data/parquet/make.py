"""Writes checksums.parquet: two numbers in a page with a checksum. Needs pyarrow."""

from pathlib import Path

import pyarrow
from pyarrow import parquet

numbers = pyarrow.array([0x0102030405060708, 0x1112131415161718], pyarrow.int64())
schema = pyarrow.schema([pyarrow.field("n", pyarrow.int64(), nullable=False)])
parquet.write_table(
    pyarrow.table([numbers], schema=schema),
    Path(__file__).with_name("checksums.parquet"),
    write_page_checksum=True,
    compression="none",
    use_dictionary=False,
    write_statistics=False,
    store_schema=False,
)
