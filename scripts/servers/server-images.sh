#!/bin/bash
# Images of the other servers where no registry is at hand: Debian trixie's packages of PostgreSQL and RabbitMQ, behind those variables
# of the usual images that deploy/compose.yaml and tests use, and Ceph's object gateway with everything in memory (ceph-rgw.sh).
#   server-images.sh PREFIX [NAME…]   makes PREFIXpostgres, PREFIXrabbitmq and PREFIXobjects, or some of them (DOCKER_HOST says where)
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
prefix=$1
shift
names=("$@")
[ $# -gt 0 ] || names=(postgres rabbitmq objects)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

postgres_start='#!/bin/bash
# As the usual image: makes the cluster at the first start, runs what lies in /docker-entrypoint-initdb.d, then the server.
set -euo pipefail
data=/var/lib/postgresql/data
export POSTGRES_USER=${POSTGRES_USER:-postgres}
user=$POSTGRES_USER
install -d -o postgres -g postgres -m 700 "$data"
as() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp "$@"; }
if [ ! -f "$data/PG_VERSION" ]; then
  as initdb --pgdata="$data" --username="$user" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 \
    --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C > /dev/null
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  as pg_ctl --pgdata="$data" --wait --silent --options="-c listen_addresses= -c unix_socket_directories=/tmp" start
  export PGHOST=/tmp
  as psql -U "$user" -d postgres --quiet --set=user="$user" --set=password="$POSTGRES_PASSWORD" <<< "alter role :\"user\" password :'"'password'"'"
  for file in /docker-entrypoint-initdb.d/*.sh; do [ ! -f "$file" ] || as bash "$file"; done
  as pg_ctl --pgdata="$data" --wait --silent stop
  unset PGHOST
fi
shift # postgres
exec setpriv --reuid=postgres --regid=postgres --clear-groups \
  postgres -D "$data" -c listen_addresses="*" -c unix_socket_directories=/tmp "$@"
'
rabbitmq_start='#!/bin/bash
set -euo pipefail
printf "default_user = %s\ndefault_pass = %s\n" "$RABBITMQ_DEFAULT_USER" "$RABBITMQ_DEFAULT_PASS" > /etc/rabbitmq/rabbitmq.conf
exec rabbitmq-server
'

# The address to use it by, with keys of its own, is the line that it prints. MONITOR_PORT and PORT say where it listens.
objects_start='#!/bin/bash
set -euo pipefail
ceph-rgw.sh start /srv/objects "$MONITOR_PORT" "$PORT"
exec tail --pid="$(cat /srv/objects/run/client.rgw.pid)" --follow /dev/null
'

# make NAME PACKAGES START PATH
make() {
  mmdebstrap --quiet --variant=minbase --include="$2" trixie "$work/$1" >&2
  install -m 755 "$here"/*.sh "$work/$1/usr/local/bin/"
  printf '%s' "$3" > "$work/$1/usr/local/bin/start"
  chmod 755 "$work/$1/usr/local/bin/start"
  rm -rf "$work/$1"/var/lib/postgresql/*
  tar -C "$work/$1" --exclude=./dev --exclude=./var/cache -c . |
    "${DOCKER:-docker}" import --change "ENV PATH=$4" --change 'ENTRYPOINT ["start"]' - "$prefix$1" >&2
  rm -rf "${work:?}/$1"
}

usual=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
for name in "${names[@]}"; do
  case $name in
    postgres) make postgres postgresql-17 "$postgres_start" "$usual:/usr/lib/postgresql/17/bin" ;;
    rabbitmq) make rabbitmq rabbitmq-server "$rabbitmq_start" "$usual" ;;
    objects) make objects ceph-mon,ceph-osd,radosgw,ceph-common,curl "$objects_start" "$usual" ;;
    *) echo "There is no image $name." >&2; exit 2 ;;
  esac
done
