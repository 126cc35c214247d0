#!/bin/bash
# Makes sure that Debian packages are there, asking nobody: need.sh PACKAGE...
#
# Installs only what is missing, and only as root; another user is told what is missing. On systems
# without dpkg it trusts that everything is there: the build says by itself what is not.
set -euo pipefail

command -v dpkg-query > /dev/null || exit 0

missing=()
for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" != 0 ]; then
    echo "please install: ${missing[*]}" >&2
    exit 1
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
install_missing() {
    apt-get install -qq -y --no-install-recommends "${missing[@]}" > /dev/null
}
# The package lists may be old or absent; a fresh copy is fetched only when the one there fails.
install_missing 2> /dev/null || { apt-get update -qq && install_missing; }
