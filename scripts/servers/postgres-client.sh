#!/bin/bash
# PostgreSQL 18's client programs (pg_dump, psql) for tests, beside whatever the machine has:
# Debian's packages of a newer release, unpacked into a folder with all that they need, also the C
# library. Nothing is installed.
#   postgres-client.sh DIR   prints the folder of the programs to export
set -euo pipefail
# shellcheck source=other-suite.sh
. "$(dirname "$0")/other-suite.sh"

[ $# -eq 1 ] || { sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
programs=$dir/bin
suites='forky sid' # the first that has it

answer() {
  echo "export ALMANAC_POSTGRES_PROGRAMS='$programs'"
  exit
}

[ -x "$programs/psql" ] && "$programs/pg_dump" --version > /dev/null 2>&1 && answer

mkdir -p "$dir"/{root,bin}

for suite in $suites; do apt_of_suite "$dir" "$suite" -y --download-only install postgresql-client-18 && break; done
for package in "$dir"/archives/*.deb; do dpkg-deb -x "$package" "$dir/root"; done

loader=$(find "$dir/root" -name 'ld-linux-*.so.*' | head -1)
libraries=$(find "$dir/root" -name 'libpq.so.5' -printf '%h\n' | head -1)
for name in pg_dump psql; do
  printf '#!/bin/sh\nexec "%s" --library-path "%s:%s" "%s" "$@"\n' \
    "$loader" "$libraries" "$(dirname "$loader")" "$dir/root/usr/lib/postgresql/18/bin/$name" > "$programs/$name"
  chmod +x "$programs/$name"
done
rm -rf "$dir/archives" "$dir/lists"
"$programs/pg_dump" --version >&2
answer
