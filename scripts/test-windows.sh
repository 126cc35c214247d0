#!/bin/bash
# Builds the project for Windows (x86-64, UCRT) and tests it under wine; `make test-windows` runs it.
#
# usage: test-windows.sh [STEP...]
#
# The steps are those of test-windows.py; the default is all. The compiler and the linker are those
# of zig, from the Python Package Index, since Debian 12 has no UCRT for MinGW. Each program is ended
# after WINDOWS_SECONDS (default 1500).
set -euo pipefail
cd "$(dirname "$0")/.."

triple=x86_64-pc-windows-gnullvm
# Newer versions lack functions for `long double`.
zig=ziglang==0.14.1
scripts/need.sh wine64 python3-venv gcc binutils
scripts/need-rust.sh target "$triple" || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }

folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/windows
bin=$folder/bin python=$folder/venv/bin/python
if [ "$(cat "$folder/venv/packages" 2> /dev/null)" != "$zig" ]; then
    rm -rf "$folder/venv"
    for candidate in python3 /usr/bin/python3; do
        if "$candidate" -c 'import venv, ensurepip' 2> /dev/null; then
            "$candidate" -m venv "$folder/venv"
            break
        fi
    done
    "$python" -m pip install --quiet --disable-pip-version-check "$zig"
    echo "$zig" > "$folder/venv/packages"
fi

# zig knows the target, has the libraries of MinGW under other names, and has no library for stack
# protectors. It takes lists of exports as files. It would also add the checks of UBSan.
mkdir -p "$bin" "$folder/dll"
cat > "$bin/cc" << EOF
#!/bin/bash
arguments=()
for argument in "\$@"; do
    case \$argument in
    -lmsvcrt | -lmingw32 | -lmingwex | -lsynchronization | --target=* | -fstack-protector* | -fcf-protection) ;;
    -Wl,*.def) arguments+=("\${argument#-Wl,}") ;;
    *) arguments+=("\$argument") ;;
    esac
done
exec "$python" -m ziglang cc -target x86_64-windows-gnu -fno-sanitize=undefined "\${arguments[@]}"
EOF
printf '#!/bin/sh\nexec "%s" -m ziglang ar "$@"\n' "$python" > "$bin/ar"
chmod +x "$bin/cc" "$bin/ar"

# Rust's standard library needs this DLL, which wine lacks before version 9.
cat > "$folder/bcryptprimitives.c" << EOF
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return SystemFunction036(data, (ULONG)length);
}
EOF
"$bin/cc" -shared "$folder/bcryptprimitives.c" -ladvapi32 -o "$folder/dll/bcryptprimitives.dll"

cat > "$bin/run" << EOF
#!/bin/sh
export WINEDEBUG=-all WINEPREFIX="$folder/prefix" WINEPATH="Z:$folder/dll"
exec timeout "${WINDOWS_SECONDS:-1500}" /usr/lib/wine/wine64 "\$@"
EOF
chmod +x "$bin/run"

export CC_x86_64_pc_windows_gnullvm=$bin/cc AR_x86_64_pc_windows_gnullvm=$bin/ar
export CARGO_TARGET_X86_64_PC_WINDOWS_GNULLVM_LINKER=$bin/cc
export CARGO_TARGET_X86_64_PC_WINDOWS_GNULLVM_RUNNER=$bin/run
python3 scripts/test-windows.py "$triple" "$folder" "$@"
