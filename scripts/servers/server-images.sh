#!/bin/bash
# Images of PostgreSQL and RabbitMQ for trying deploy/compose.yaml where no registry is at hand: Debian's packages behind the
# variables that the usual images have, as far as that file uses them.
#   server-images.sh PREFIX   makes PREFIXpostgres and PREFIXrabbitmq (DOCKER_HOST says where)
set -euo pipefail

[ $# -eq 1 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

postgres_start='#!/bin/bash
# As the usual image: makes the cluster at the first start, runs what lies in /docker-entrypoint-initdb.d, then the server.
set -euo pipefail
data=/var/lib/postgresql/data
install -d -o postgres -g postgres -m 700 "$data"
as() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp "$@"; }
if [ ! -f "$data/PG_VERSION" ]; then
  as initdb --pgdata="$data" --username=postgres --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 \
    --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C > /dev/null
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  as pg_ctl --pgdata="$data" --wait --silent --options="-c listen_addresses= -c unix_socket_directories=/tmp" start
  export PGHOST=/tmp
  as psql -U postgres --quiet --set=password="$POSTGRES_PASSWORD" <<< "alter role postgres password :'"'password'"'"
  for file in /docker-entrypoint-initdb.d/*.sh; do as bash "$file"; done
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

# make NAME PACKAGES START PATH
make() {
  mmdebstrap --quiet --variant=minbase --include="$2" trixie "$work/$1" >&2
  printf '%s' "$3" > "$work/$1/usr/local/bin/start"
  chmod 755 "$work/$1/usr/local/bin/start"
  rm -rf "$work/$1"/var/lib/postgresql/*
  tar -C "$work/$1" --exclude=./dev --exclude=./var/cache -c . |
    "${DOCKER:-docker}" import --change "ENV PATH=$4" --change 'ENTRYPOINT ["start"]' - "$prefix$1" >&2
}

usual=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
make postgres postgresql-17 "$postgres_start" "$usual:/usr/lib/postgresql/17/bin"
make rabbitmq rabbitmq-server "$rabbitmq_start" "$usual"
