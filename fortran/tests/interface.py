"""Compares the Fortran modules with C: constants, struct layouts and functions.

usage: interface.py PREFIX DIR [FORTRAN-OPTION...]

PREFIX is the installation prefix of the headers, DIR a directory for generated programs. A C
program and a Fortran program, both generated from the names in the sources of the modules, print
constants and layouts; functions are compared with the recorded prototypes and symbols of the C
libraries.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "fortran" / "src"
ABI = ROOT / "tests" / "abi"
HEADERS = {
    "blosc": ["blosc.h"],
    "blosc2": ["b2nd.h", "blosc2.h", "blosc2/codecs-registry.h", "blosc2/filters-registry.h", "blosc2/tuners-registry.h"],
}
CONSTANTS = {
    "blosc": ["blosc_shared.f90", "blosc_constants.f90"],
    "blosc2": ["blosc_shared.f90", "blosc2_constants.f90", "b2nd_constants.f90"],
}
# Header names that are not constants: an old alias, and macros that programs define.
NO_CONSTANTS = {"BLOSC2_MAX_DIM", "BLOSC1_COMPAT"}
# Types whose name or component names differ in C.
C_NAMES = {
    "c_blosc2_schunk": "blosc2_schunk", "c_b2nd_array": "b2nd_array_t", "c_chunk_cache": "chunk_cache_s",
    "blosc_timestamp": "blosc_timestamp_t",
}
C_FIELDS = {("blosc_timestamp", "seconds"): "tv_sec", ("blosc_timestamp", "nanoseconds"): "tv_nsec"}
C_TYPES = {
    "integer(c_int)": "int", "integer(c_int64_t)": "int64_t", "integer(c_int32_t)": "int32_t",
    "integer(c_int16_t)": "int16_t", "integer(c_size_t)": "size_t", "real(c_double)": "double",
    "logical(c_bool)": "_Bool", "type(c_funptr)": "blosc_threads_callback", "type(blosc_timestamp)": "blosc_timestamp_t",
}


def source(name):
    """Returns a source without comments and with continued lines joined."""
    text = re.sub(r"^\s*!.*\n", "", (SOURCES / name).read_text(), flags=re.M)
    return re.sub(r"&\s*\n\s*", "", text)


def run(*command, folder=None):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, cwd=folder).stdout


def header_constants(prefix, library):
    names = set()
    for header in HEADERS[library]:
        text = (prefix / "include" / header).read_text()
        text = text.split("#ifdef BLOSC1_COMPAT")[0]
        names |= set(re.findall(r"^\s+([A-Z][A-Z0-9_]+) = -?\d+,?$", text, re.M))
        names |= set(re.findall(r'^#define ([A-Z][A-Z0-9_]+) (?:-?\d+|".*")(?: */\*.*)?$', text, re.M))
    return names - NO_CONSTANTS


def fortran_constants(library):
    names = {}
    for name in CONSTANTS[library]:
        for kind, constant in re.findall(r"(integer\(c_int\)|character\(\*\)), parameter, public :: (\w+)", source(name)):
            names[constant] = kind
    return names


def fortran_types():
    """Returns the components of each bind(c) type."""
    types = {}
    for name, body in re.findall(r"type, bind\(c\), public :: (\w+)\n(.*?)\n  end type", source("blosc2_types.f90"), re.S):
        components = []
        for line in body.splitlines():
            declared = re.sub(r" = .*", "", line.split("::")[1])
            components += re.findall(r"(\w+)(?:\([^)]*\))?(?:,|$)", declared.strip())
        types[name] = components
    return types


def compare_values(prefix, folder, library, options):
    constants = fortran_constants(library)
    missing = header_constants(prefix, library) ^ set(constants)
    assert not missing, f"{library}: constants of only one side: {sorted(missing)}"
    c = ["#include <stdio.h>", "#include <stddef.h>"] + [f"#include <{h}>" for h in HEADERS[library]]
    f = []
    c.append("int main(void) {")
    for name, kind in sorted(constants.items()):
        text = kind.startswith("character")
        c.append(f'  printf("{name} %{"s" if text else "d"}\\n", {name});')
        f.append(f"print '(2a)', '{name} ', {name}" if text else f"print '(a, i0)', '{name} ', {name}")
    if library == "blosc2":
        recorded = json.loads((ABI / "layout-x86_64.json").read_text())["libblosc2"]["structs"]
        for name, components in sorted(fortran_types().items()):
            c_name = C_NAMES.get(name, name)
            fields = [C_FIELDS.get((name, x), x) for x in components]
            if c_name in recorded:
                assert [x["name"] for x in recorded[c_name]["fields"]] == fields, f"{name} does not have the fields of C"
            c.append(f'  printf("{name} %zu\\n", sizeof({c_name}));')
            f.append(f"call print_size('{name}', storage_size({name}_item)/8)")
            for component, field in zip(components, fields):
                c.append(f'  printf("{name}%%{component} %zu\\n", offsetof({c_name}, {field}));')
                f.append(f"call print_size('{name}%{component}', &\n  distance(c_loc({name}_item), c_loc({name}_item%{component})))")
    c.append("  return 0;\n}")
    declared = [f"type({name}), target :: {name}_item" for name in fortran_types()] if library == "blosc2" else []
    program = [f"program values_of_{library}", f"use {library}"]
    program += ["use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc, c_ptr", "implicit none", *declared, *f]
    program += [
        "contains", "subroutine print_size(name, bytes)", "character(*), intent(in) :: name", "integer, intent(in) :: bytes",
        "print '(a, 1x, i0)', name, bytes", "end subroutine",
        "integer function distance(whole, part)", "type(c_ptr), intent(in) :: whole, part",
        "distance = int(transfer(part, 0_c_intptr_t) - transfer(whole, 0_c_intptr_t))", "end function",
        f"end program values_of_{library}",
    ]
    (folder / f"{library}.c").write_text("\n".join(c) + "\n")
    (folder / f"{library}.f90").write_text("\n".join(program) + "\n")
    run("gcc", "-std=c11", f"-I{prefix}/include", f"{library}.c", "-o", f"{library}-c", folder=folder)
    run("gfortran", "-std=f2018", f"{library}.f90", "-o", f"{library}-f", *options, folder=folder)
    of_c, of_fortran = run(folder / f"{library}-c").splitlines(), run(folder / f"{library}-f").splitlines()
    assert len(of_c) >= len(constants) and len(of_c) == len(of_fortran)
    for a, b in zip(of_c, of_fortran):
        assert a == b, f"{library}: C says {a}, Fortran {b}"
    return len(of_c)


def same_type(declared, c_type):
    """Whether a dummy argument or result has the right C type."""
    c_type = re.sub(r"\bconst\b", "", c_type).strip()
    if ", value" not in declared:
        return c_type.endswith("*")
    kind = declared.split(", ")[0]
    if kind == "type(c_ptr)":
        return c_type.endswith("*")
    if kind == "integer(c_int8_t)":
        return c_type in ("int8_t", "uint8_t")
    return C_TYPES.get(kind, kind.removeprefix("type(").rstrip(")")) == c_type


def compare_functions(library, sources):
    prototypes = json.loads((ABI / "prototypes.json").read_text())["lib" + library]
    symbols = {"blosc": "libblosc.so.1", "blosc2": "libblosc2.so.9"}[library]
    lines = (ABI / f"symbols-{symbols}.txt").read_text().splitlines()
    exported = {line.split()[0] for line in lines if line and not line.startswith("#")}
    found = set()
    for name in sources:
        text = source(name)
        pattern = r"(function|subroutine) c_(\w+)\(([^)]*)\)\s*bind\(c, name='(\w+)'\)(.*?)\n    end \1"
        for kind, fortran_name, arguments, c_name, body in re.findall(pattern, text, re.S):
            assert fortran_name == c_name, (fortran_name, c_name)
            found.add(c_name)
            prototype = prototypes[c_name]
            declared = {}
            for declaration, names in re.findall(r"^\s+(\w+\(.*?\).*?) :: (.*)$", body, re.M):
                for dummy in re.findall(r"(\w+)(?:\([^)]*\))?", names):
                    declared[dummy] = declaration
            arguments = [a.strip() for a in arguments.split(",") if a.strip()]
            assert len(arguments) == len(prototype["params"]), c_name
            for argument, c_type in zip(arguments, prototype["params"]):
                assert same_type(declared[argument], c_type), (c_name, argument, declared[argument], c_type)
            result = declared.get("c_result")
            assert (result is None) == (prototype["ret"] == "void") == (kind == "subroutine"), c_name
            assert result is None or same_type(result + ", value", prototype["ret"]), (c_name, result)
    assert found == exported, f"{library}: functions of only one side: {sorted(found ^ exported)}"
    return len(found)


def main():
    prefix, folder, options = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    for library in ("blosc", "blosc2"):
        values = compare_values(prefix, folder, library, options)
        functions = compare_functions(library, [p.name for p in sorted(SOURCES.glob(f"{library}_c*.f90"))])
        print(f"{library}: {values} values and {functions} functions match C")


main()
