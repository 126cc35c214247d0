#!/bin/bash
# Installs missing Debian packages without a prompt: need.sh PACKAGE...
#
# Only root installs; for other users the script lists the missing packages and fails. Without dpkg
# it assumes that everything is installed, and the build reports missing packages.
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
# Scripts that run at the same time wait for each other.
exec 9< "$0"
flock 9
install_missing() {
    apt-get install -qq -y --no-install-recommends "${missing[@]}" > /dev/null
}
# The package lists may be old or absent; they are updated only if the installation fails.
install_missing 2> /dev/null || { apt-get update -qq && install_missing; }
