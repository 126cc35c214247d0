"""Reads and writes Arrow IPC and Parquet files with pyarrow, and prints their values.

usage: arrow.py JOBS

JOBS is a JSON file with a list of jobs: ["read", PATH] or ["write", PATH, SEED]. The format is that
of the suffix: .parquet, .arrow, .feather or .arrows (a stream). The output is a list with an object
for each job: "columns" maps names to lists of values in the form of expect.json, "types" to types.
"""

import json
import random
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet


def form(scalar):
    """Returns a value in the form of expect.json."""
    if not scalar.is_valid:
        return None
    kind = scalar.type
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        return scalar.value
    if pa.types.is_date32(kind):
        return scalar.value * 86400
    if pa.types.is_dictionary(kind):
        return form(scalar.dictionary[scalar.index.as_py()])
    if pa.types.is_struct(kind):
        entries = [["s:" + field.name, form(scalar[at])] for at, field in enumerate(kind)]
        return {"d": sorted(entries, key=lambda entry: json.dumps(entry, ensure_ascii=False))}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return {"l": [form(item) for item in scalar.values]}
    value = scalar.as_py()
    if isinstance(value, bytes):
        return "b:" + value.hex()
    if isinstance(value, str):
        return "s:" + value
    if pa.types.is_floating(kind):
        return "f:" + repr(float(value))
    return value


def content(table):
    columns = {}
    for name in table.column_names:
        columns[name] = [form(item) for item in table[name]]
    return {"columns": columns, "types": {field.name: str(field.type) for field in table.schema}}


def read(path):
    if path.endswith(".parquet"):
        return content(pyarrow.parquet.read_table(path))
    return content(pyarrow.feather.read_table(path, memory_map=False))


def numbers(low, high):
    def value(rng):
        return rng.choice([low, high, 0, rng.randint(low, high)])

    return value


def floats(rng):
    return rng.choice([0.0, -0.0, 1.5, float("inf"), float("nan"), -2.25, 65504.0])


def text(rng):
    return rng.choice(["", "a", "é€😀", "x" * rng.randint(0, 40), "a\0b", "nan"])


def blob(rng):
    return rng.choice([b"", b"\0", b"\xff\0", rng.randbytes(rng.randint(0, 20))])


def optional(value, share=0.2):
    return lambda rng: None if rng.random() < share else value(rng)


def listed(value, length=None):
    return lambda rng: [value(rng) for _ in range(rng.randint(0, 4) if length is None else length)]


def kinds():
    word = lambda rng: rng.choice(["one", "two", "", "four"])
    small, moment = numbers(-(2**15), 2**15 - 1), numbers(-(2**40), 2**40)
    record = pa.struct([("a", pa.int32()), ("b", pa.string()), ("c", pa.list_(pa.bool_()))])
    fields = lambda rng: {
        "a": optional(small)(rng),
        "b": optional(text)(rng),
        "c": optional(listed(lambda rng: rng.random() < 0.5))(rng),
    }
    found = []
    for bits in (8, 16, 32, 64):
        found.append((getattr(pa, f"int{bits}")(), numbers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)))
        found.append((getattr(pa, f"uint{bits}")(), numbers(0, 2**bits - 1)))
    for unit in ("s", "ms", "us", "ns"):
        found.append((pa.timestamp(unit), moment))
    found += [
        (pa.timestamp("us", tz="Europe/Berlin"), moment),
        (pa.float16(), floats),
        (pa.float32(), floats),
        (pa.float64(), floats),
        (pa.bool_(), lambda rng: rng.random() < 0.5),
        (pa.date32(), numbers(-10000, 10000)),
        (pa.string(), text),
        (pa.large_string(), text),
        (pa.string_view(), text),
        (pa.binary(), blob),
        (pa.large_binary(), blob),
        (pa.binary(4), lambda rng: rng.randbytes(4)),
        (pa.dictionary(pa.int8(), pa.string()), word),
        (pa.dictionary(pa.int32(), pa.large_string()), word),
        (pa.dictionary(pa.int32(), pa.int64()), lambda rng: rng.randint(0, 3)),
        (pa.list_(pa.int32()), listed(optional(small))),
        (pa.list_(pa.string()), listed(optional(text))),
        (pa.large_list(pa.float64()), listed(optional(floats))),
        (pa.list_(pa.list_(pa.int16())), listed(optional(listed(small)))),
        (pa.list_(pa.timestamp("ns")), listed(optional(moment))),
        (pa.list_(record), listed(optional(fields))),
        (record, fields),
        (pa.list_(pa.float32(), 3), listed(floats, 3)),
        (pa.list_(pa.list_(pa.int8(), 2), 3), listed(listed(numbers(-128, 127), 2), 3)),
        (pa.list_(pa.bool_(), 2), listed(lambda rng: rng.random() < 0.5, 2)),
        (pa.list_(pa.string(), 2), listed(text, 2)),
    ]
    return found


def write(path, seed):
    rng = random.Random(seed)
    rows = rng.choice([0, 1, 5, 300, 5000])
    every = kinds()
    chosen = every if seed % 5 == 0 else rng.sample(every, rng.randint(1, 8))
    if path.endswith(".parquet"):
        # pyarrow writes seconds as milliseconds.
        chosen = [kind for kind in chosen if kind[0] != pa.timestamp("s")] or every[:1]
    arrays, fields = [], []
    for number, (kind, value) in enumerate(chosen):
        nullable = rng.random() < 0.7
        cells = optional(value) if nullable else value
        values = [cells(rng) for _ in range(rows)]
        array = pa.array(values, kind) if not pa.types.is_date32(kind) else pa.array(
            values, pa.int32()).cast(kind)
        arrays.append(array)
        fields.append(pa.field(f"c{number}.{kind}"[:60], kind, nullable))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    size = rng.choice([7, 1000, 100000])
    if path.endswith(".parquet"):
        codec = rng.choice(["snappy", "gzip", "zstd", "lz4", "none"])
        pyarrow.parquet.write_table(
            table, path, row_group_size=size, compression=codec,
            use_dictionary=rng.random() < 0.5, data_page_version=rng.choice(["1.0", "2.0"]))
    elif path.endswith(".arrows"):
        with pyarrow.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=size)
    else:
        codec = rng.choice(["lz4", "zstd", "uncompressed"])
        pyarrow.feather.write_feather(table, path, compression=codec, chunksize=size)
    return content(table)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    results = [read(job[1]) if job[0] == "read" else write(job[1], job[2]) for job in jobs]
    sys.stdout.buffer.write(json.dumps(results, ensure_ascii=False).encode())


main()
