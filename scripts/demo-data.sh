#!/bin/bash
# Prints the paths of the demo's data files, after fetching them: demo-data.sh DIRECTORY
#
# The data are NOAA's relief of the Earth and the Levitus climatology of the ocean, 4-byte floats,
# from Debian's package ferret-datasets. Without a network, generates a temperature field.
set -euo pipefail

folder=$1
data=$folder/usr/share/ferret-vis/data
files=("$data/etopo5.cdf" "$data/levitus_climatology.cdf")

fetch() {
    ls "${files[@]}" > /dev/null 2>&1 && return
    cd "$folder"
    # Silences apt's warning that a download as root is not sandboxed.
    apt-get download ferret-datasets > /dev/null 2>&1 \
        || { apt-get update -qq && apt-get download ferret-datasets; } > /dev/null 2>&1 \
        || return 1
    dpkg -x ferret-datasets_*.deb .
    rm ferret-datasets_*.deb
}

mkdir -p "$folder"
if (fetch); then
    printf '%s\n' "${files[@]}"
else
    echo "no network: using a generated field" >&2
    python3 - "$folder/field.f32" << 'END'
"""Writes 100 days of 300 x 300 temperatures: latitude, seasons, weather and sensor noise."""
import array, math, random, sys

random.seed(1)
with open(sys.argv[1], "wb") as out:
    for day in range(100):
        season = 8 * math.sin(2 * math.pi * day / 365)
        field = array.array("f")
        for y in range(300):
            mean = 25 - abs(y - 150) / 3 + season * (y - 150) / 150
            weather = [4 * math.sin(0.02 * x + 0.1 * day) for x in range(300)]
            field.extend(round(mean + w + random.gauss(0, 0.3), 1) for w in weather)
        field.tofile(out)
END
    echo "$folder/field.f32"
fi
