#!/bin/bash
# A kubectl for tests, beside whatever the machine has: Debian trixie's package, unpacked into a folder. Nothing is installed.
#   kubectl.sh DIR   prints KUBECTL to export
set -euo pipefail

[ $# -eq 1 ] || { sed -n '2,3p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
program=$dir/root/usr/bin/kubectl

if [ ! -x "$program" ]; then
  mkdir -p "$dir/lists/partial" "$dir/archives/partial"
  : > "$dir/status"
  echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main' > "$dir/sources.list"
  options=(
    -qq -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$dir/lists"
    -o Dir::State::Status="$dir/status" -o Dir::Cache::Archives="$dir/archives" -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache=
    -o APT::Sandbox::User=root -o Debug::NoLocking=1
  )
  apt-get "${options[@]}" update >&2
  (cd "$dir/archives" && apt-get "${options[@]}" download kubectl >&2)
  dpkg-deb -x "$dir"/archives/kubectl_*.deb "$dir/root"
  rm -rf "$dir/archives" "$dir/lists"
fi
"$program" version --client >&2
echo "export KUBECTL='$program'"
