#!/bin/bash
# Docker Compose for tests, beside whatever the machine has: Debian trixie's package, unpacked into
# a folder. Nothing is installed.
#   compose.sh DIR   prints DOCKER_CONFIG to export, with which `docker compose` is there
set -euo pipefail
# shellcheck source=other-suite.sh
. "$(dirname "$0")/other-suite.sh"

[ $# -eq 1 ] || { sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
plugin=$dir/cli-plugins/docker-compose

if [ ! -x "$plugin" ]; then
  apt_of_suite "$dir" trixie download docker-compose
  dpkg-deb -x "$dir"/archives/docker-compose_*.deb "$dir/root"
  mkdir -p "$dir/cli-plugins"
  mv "$dir/root/usr/libexec/docker/cli-plugins/docker-compose" "$plugin"
  rm -rf "$dir/archives" "$dir/lists" "$dir/root"
fi
"$plugin" version >&2
echo "export DOCKER_CONFIG='$dir'"
