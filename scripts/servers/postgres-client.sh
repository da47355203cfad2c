#!/bin/bash
# PostgreSQL 18's client programs (pg_dump, pg_restore) for tests, beside whatever the machine has: Debian's packages of a newer
# release, unpacked into a folder with all that they need, also the C library. Nothing is installed.
#   postgres-client.sh DIR   prints the folder of the programs to export
set -euo pipefail

[ $# -eq 1 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
programs=$dir/bin
suites='forky sid' # the first that has it

answer() {
  echo "export ALMANAC_POSTGRES_PROGRAMS='$programs'"
  exit
}

[ -x "$programs/pg_dump" ] && "$programs/pg_dump" --version > /dev/null 2>&1 && answer

mkdir -p "$dir"/{lists/partial,archives/partial,root,bin}
: > "$dir/status" # as if nothing were installed: everything that is needed is fetched

fetch() {
  local suite=$1
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" > "$dir/sources.list"
  local options=(
    -qq -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$dir/lists"
    -o Dir::State::Status="$dir/status" -o Dir::Cache::Archives="$dir/archives" -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache=
    -o APT::Sandbox::User=root -o APT::Install-Recommends=false -o Debug::NoLocking=1
  )
  apt-get "${options[@]}" update >&2 && apt-get "${options[@]}" -y --download-only install postgresql-client-18 >&2
}

for suite in $suites; do fetch "$suite" && break; done
for package in "$dir"/archives/*.deb; do dpkg-deb -x "$package" "$dir/root"; done

loader=$(find "$dir/root" -name 'ld-linux-*.so.*' | head -1)
libraries=$(find "$dir/root" -name 'libpq.so.5' -printf '%h\n' | head -1)
for name in pg_dump pg_restore; do
  printf '#!/bin/sh\nexec "%s" --library-path "%s:%s" "%s" "$@"\n' \
    "$loader" "$libraries" "$(dirname "$loader")" "$dir/root/usr/lib/postgresql/18/bin/$name" > "$programs/$name"
  chmod +x "$programs/$name"
done
rm -rf "$dir/archives" "$dir/lists"
"$programs/pg_dump" --version >&2
answer
