#!/bin/bash
# An S3 server for tests: Ceph's object gateway, in memory, on the loopback, deleted by `stop`.
#   ceph-rgw.sh start DIR MONPORT RGWPORT   installs Ceph if missing, starts it, prints its address
#   ceph-rgw.sh stop DIR
# It also uses MONPORT+1. Use a new DIR each time: all data is in memory. CEPH_GATEWAY_ADDRESS,
# CEPH_BUCKET, ROOT_ACCESS_KEY and ROOT_SECRET_KEY replace address, bucket and keys
# (server-images.sh).
set -euo pipefail

# shellcheck source=install-packages.sh
. "$(dirname "$0")/install-packages.sh"

bucket=${CEPH_BUCKET:-almanac-test}

usage() {
  sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2
  exit 2
}

install_server() {
  local missing=''
  for tool in ceph-mon ceph-osd radosgw ceph curl; do command -v "$tool" > /dev/null || missing=1; done
  [ -z "$missing" ] && return
  echo 'ceph-rgw.sh: installing ceph and radosgw' >&2
  install_packages ceph-mon ceph-osd radosgw ceph-common curl
}

configure() {
  local dir=$1 monitor=$2 gateway=$3 id=$4
  mkdir -p "$dir"/{mon,osd,rgw,run,log}
  cat > "$dir/ceph.conf" << CONF
[global]
fsid = $id
mon host = v2:127.0.0.1:$((monitor + 1)),v1:127.0.0.1:$monitor
mon initial members = a
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
public addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 2000
mon data avail crit = 1
mon data avail warn = 2
run dir = $dir/run
log file = $dir/log/\$name.log
admin socket = $dir/run/\$name.asok
pid file = $dir/run/\$name.pid
keyring = $dir/keyring
mon data = $dir/mon
osd data = $dir/osd
rgw data = $dir/rgw
[osd.0]
keyring = $dir/osd/keyring
osd objectstore = memstore
memstore device bytes = 4294967296
[client.rgw]
rgw frontends = beast endpoint=${CEPH_GATEWAY_ADDRESS:-127.0.0.1}:$gateway
rgw enable usage log = false
rgw dynamic resharding = false
rgw rados pool pg num min = 1
rgw run sync thread = false
CONF
}

# Cephx between the parts is needed; without it they wait for each other for ever.
make_keys() {
  local dir=$1
  ceph-authtool -C -n mon. --gen-key "$dir/keyring"
  ceph-authtool -n client.admin --gen-key --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' "$dir/keyring"
  ceph-authtool -n client.rgw --gen-key --cap mon 'allow *' --cap osd 'allow *' "$dir/keyring"
  ceph-authtool -C -n osd.0 --gen-key "$dir/osd/keyring"
}

start_monitor() {
  local dir=$1 monitor=$2 id=$3
  monmaptool --create --addv a "[v2:127.0.0.1:$((monitor + 1)),v1:127.0.0.1:$monitor]" --fsid "$id" "$dir/monmap"
  ceph-mon -i a --mkfs --monmap "$dir/monmap" --keyring "$dir/keyring"
  ceph-mon -i a
}

start_storage() {
  local dir=$1 id secret
  id=$(cat /proc/sys/kernel/random/uuid)
  secret=$(ceph-authtool -p -n osd.0 "$dir/osd/keyring")
  echo "{\"cephx_secret\": \"$secret\"}" | timeout 60 ceph osd new "$id" -i -
  timeout 60 ceph osd crush add osd.0 1 root=default host=localhost
  ceph-osd -i 0 --mkfs --osd-uuid "$id"
  ceph-osd -i 0
  wait_until 'the storage daemon' storage_is_up
}

storage_is_up() {
  timeout 10 ceph osd stat | grep -q '1 up'
}

gateway_answers() {
  curl -s -o /dev/null "http://127.0.0.1:$gateway_port/"
}

wait_until() {
  local what=$1
  shift
  for _ in $(seq 300); do
    "$@" && return
    sleep 0.2
  done
  echo "ceph-rgw.sh: $what did not come up" >&2
  return 1
}

s3() {
  curl -sf -o /dev/null --max-time 60 --aws-sigv4 aws:amz:default:s3 --user "$access:$secret" \
    -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "$@"
}

start() {
  local dir=$1 monitor=$2
  gateway_port=$3
  install_server
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
  local id
  id=$(cat /proc/sys/kernel/random/uuid)
  configure "$dir" "$monitor" "$gateway_port" "$id"
  export CEPH_CONF=$dir/ceph.conf
  access=${ROOT_ACCESS_KEY:-almanac$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')}
  secret=${ROOT_SECRET_KEY:-$(od -An -N20 -tx1 /dev/urandom | tr -d ' \n')}
  # In the background, because `set -e` is off in what a condition calls.
  bring_up "$dir" "$monitor" "$id" > "$dir/log/start.log" 2>&1 &
  if ! wait $!; then
    tail -n 30 "$dir/log/start.log" >&2
    stop "$dir"
    echo 'ceph-rgw.sh: Ceph did not start' >&2
    exit 1
  fi
  echo "export ALMANAC_TEST_S3_URL='s3://$access:$secret@127.0.0.1:$gateway_port/$bucket?tls=false&region=default'"
}

bring_up() {
  local dir=$1 monitor=$2 id=$3 url=http://127.0.0.1:$gateway_port/$bucket
  make_keys "$dir"
  start_monitor "$dir" "$monitor" "$id"
  start_storage "$dir"
  radosgw -n client.rgw < /dev/null
  wait_until 'the gateway' gateway_answers
  radosgw-admin -n client.rgw user create --uid=almanac --display-name=almanac --access-key="$access" --secret="$secret"
  # The first bucket and the first object make the pools, which takes seconds that no test should
  # wait for.
  s3 -X PUT "$url"
  s3 -X PUT --data-binary warm "$url/warm"
  s3 -X DELETE "$url/warm"
}

stop() {
  local dir=$1 file pid
  for file in "$dir"/run/client.rgw.pid "$dir"/run/osd.0.pid "$dir"/run/mon.a.pid; do
    [ -f "$file" ] || continue
    pid=$(cat "$file")
    # Nothing here is kept, so nothing has to be shut down in order.
    kill -9 "$pid" 2> /dev/null || true
    rm -f "$file"
  done
}

case "${1:-} $#" in
  'start 4') start "$2" "$3" "$4" ;;
  'stop 2') stop "$2" ;;
  *) usage ;;
esac
