#!/bin/bash
# A kubectl for tests, beside whatever the machine has: Debian trixie's package, unpacked into a
# folder. Nothing is installed.
#   kubectl.sh DIR   prints KUBECTL to export
set -euo pipefail
# shellcheck source=other-suite.sh
. "$(dirname "$0")/other-suite.sh"

[ $# -eq 1 ] || { sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
program=$dir/root/usr/bin/kubectl

if [ ! -x "$program" ]; then
  apt_of_suite "$dir" trixie download kubectl
  dpkg-deb -x "$dir"/archives/kubectl_*.deb "$dir/root"
  rm -rf "$dir/archives" "$dir/lists"
fi
"$program" version --client >&2
echo "export KUBECTL='$program'"
