#!/bin/bash
# Images of the four servers that deploy/compose.yaml, deploy/k8s/overlays/local and tests use,
# where no registry is at hand: packages of Debian trixie behind the variables, users and ports that
# the usual images have, as far as these use them.
#   server-images.sh PREFIX [NAME…]  makes PREFIXpostgres, PREFIXrabbitmq, PREFIXobjects, PREFIXmail
#                                     in the engine of DOCKER_HOST
# Differences: `objects` is Ceph's gateway (ceph-rgw.sh), listens at MONITOR_PORT, PORT and
# CEPH_GATEWAY_ADDRESS, and loses its data when it stops; `mail` prints mails and has no page.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2; exit 2; }
prefix=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# As root (Compose) they give that up, as anybody else (Kubernetes) they stay who they are.
postgres_start='#!/bin/bash
# As the usual image: makes the cluster at the first start, runs what lies in
# /docker-entrypoint-initdb.d, then the server.
set -euo pipefail
export PGDATA=${PGDATA:-/var/lib/postgresql/data} POSTGRES_USER=${POSTGRES_USER:-postgres}
user=$POSTGRES_USER
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  as() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp "$@"; }
fi
if [ ! -f "$PGDATA/PG_VERSION" ]; then
  as initdb --username="$user" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 \
    --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C > /dev/null
  echo "host all all all scram-sha-256" | as tee -a "$PGDATA/pg_hba.conf" > /dev/null
  as pg_ctl --wait --silent --options="-c listen_addresses= -c unix_socket_directories=/tmp" start
  export PGHOST=/tmp
  as psql -U "$user" -d postgres --quiet --set=user="$user" --set=password="$POSTGRES_PASSWORD" <<< "alter role :\"user\" password :'"'password'"'"
  for file in /docker-entrypoint-initdb.d/*.sh; do [ ! -f "$file" ] || as bash "$file"; done
  as pg_ctl --wait --silent stop
  unset PGHOST
fi
shift # postgres
[ "$(id -u)" = 0 ] || exec postgres -c listen_addresses="*" -c unix_socket_directories=/tmp "$@"
exec setpriv --reuid=postgres --regid=postgres --clear-groups \
  postgres -c listen_addresses="*" -c unix_socket_directories=/tmp "$@"
'
rabbitmq_start='#!/bin/bash
set -euo pipefail
[ "$(id -u)" != 0 ] || chown -R rabbitmq:rabbitmq /var/lib/rabbitmq
exec /usr/lib/rabbitmq/bin/rabbitmq-server
'
objects_start='#!/bin/bash
# In memory, under the keys that the usual image has from its variables, or under some of its own:
# how to use it is what it prints.
set -euo pipefail
export CEPH_GATEWAY_ADDRESS=${CEPH_GATEWAY_ADDRESS:-0.0.0.0} CEPH_BUCKET=${CEPH_BUCKET:-almanac}
rm -rf /tmp/ceph
ceph-rgw.sh start /tmp/ceph "${MONITOR_PORT:-6789}" "${PORT:-7070}"
trap "exit 0" TERM INT
tail --pid="$(cat /tmp/ceph/run/client.rgw.pid)" --follow /dev/null & wait $!
'
mail_start='#!/bin/bash
exec python3 -um aiosmtpd --nosetuid --listen 0.0.0.0:1025 --class aiosmtpd.handlers.Debugging stdout
'

# make NAME PACKAGES START [HOOK…]; a hook is a command in the image, as root.
make() {
  local name=$1 packages=$2 start=$3 hooks=() hook
  shift 3
  for hook in "$@"; do hooks+=("--customize-hook=chroot \"\$1\" $hook"); done
  mmdebstrap --quiet --variant=minbase --include="$packages" "${hooks[@]}" trixie "$work/$name" >&2
  printf '%s' "$start" > "$work/$name/usr/local/bin/start"
  cp "$here"/*.sh "$work/$name/usr/local/bin/"
  chmod 755 "$work/$name"/usr/local/bin/*
  local usual=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  tar -C "$work/$name" --exclude=./dev --exclude=./var/cache -c . |
    "${DOCKER:-docker}" import --change "ENV PATH=$usual:/usr/lib/postgresql/17/bin" --change 'ENTRYPOINT ["start"]' - "$prefix$name" >&2
  rm -rf "${work:?}/$name"
}

# The usual images' servers are user 999, which the manifests name.
as_999() {
  echo "sh -c 'usermod -o -u 999 $1 && groupmod -o -g 999 $1 && chown -R $1:$1 $2'"
}

[ $# -gt 0 ] || set -- postgres rabbitmq objects mail
for name in "$@"; do
  case $name in
    postgres) make postgres postgresql-17 "$postgres_start" "$(as_999 postgres /var/lib/postgresql)" 'sh -c "rm -rf /var/lib/postgresql/*"' ;;
    rabbitmq) make rabbitmq rabbitmq-server "$rabbitmq_start" "$(as_999 rabbitmq '/var/lib/rabbitmq /var/log/rabbitmq')" ;;
    objects) make objects ceph-mon,ceph-osd,radosgw,ceph-common,curl "$objects_start" ;;
    mail) make mail python3-aiosmtpd "$mail_start" ;;
    *) echo "server-images.sh: there is no $name" >&2; exit 2 ;;
  esac
done
