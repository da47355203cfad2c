#!/bin/bash
# A RabbitMQ for tests: its own folder, ports and cookie, loopback only, no system service, deleted
# by `stop`.
#   rabbitmq.sh start DIR PORT   installs RabbitMQ if missing, starts it, prints its address
#   rabbitmq.sh control DIR PORT COMMAND…   runs a command of rabbitmqctl
#   rabbitmq.sh stop DIR
# With cert.pem and key.pem in DIR/tls it also serves TLS on PORT+1. It uses PORT+2 (Erlang
# distribution) and PORT+3 (its own port mapper) as well.
set -euo pipefail
# shellcheck source=install-packages.sh
. "$(dirname "$0")/install-packages.sh"

usage() {
  sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2
  exit 2
}

install_server() {
  [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && return
  echo 'rabbitmq.sh: installing rabbitmq-server' >&2
  install_packages rabbitmq-server
}

configure() {
  local dir=$1 port=$2
  mkdir -p "$dir"/{home,data,log,conf}
  printf 'listeners.tcp.default = 127.0.0.1:%s\n' "$port" > "$dir/conf/rabbitmq.conf"
  if [ -d "$dir/tls" ]; then
    cat >> "$dir/conf/rabbitmq.conf" << CONF
listeners.ssl.default = 127.0.0.1:$((port + 1))
ssl_options.certfile = $dir/tls/cert.pem
ssl_options.keyfile = $dir/tls/key.pem
ssl_options.verify = verify_none
CONF
  fi
  printf '[].\n' > "$dir/conf/enabled_plugins"
  printf '[].\n' > "$dir/conf/advanced.config"
  local cookie=$dir/home/.erlang.cookie
  if [ ! -f "$cookie" ]; then
    head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$cookie"
    chmod 400 "$cookie"
  fi
  export HOME=$dir/home LC_ALL=C.UTF-8
  export RABBITMQ_NODENAME=almanac$port@localhost
  export RABBITMQ_MNESIA_BASE=$dir/data RABBITMQ_LOG_BASE=$dir/log RABBITMQ_PID_FILE=$dir/pid
  export RABBITMQ_CONFIG_FILE=$dir/conf/rabbitmq.conf RABBITMQ_ADVANCED_CONFIG_FILE=$dir/conf/advanced.config
  export RABBITMQ_ENABLED_PLUGINS_FILE=$dir/conf/enabled_plugins RABBITMQ_CONF_ENV_FILE=/dev/null
  export RABBITMQ_DIST_PORT=$((port + 2)) ERL_EPMD_PORT=$((port + 3)) ERL_EPMD_ADDRESS=127.0.0.1
  export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
}

start() {
  local dir=$1 port=$2
  install_server
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
  configure "$dir" "$port"
  # The port mapper is started here, not by Erlang, so that its process is known and can be ended.
  epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 < /dev/null > "$dir/log/epmd.out" 2>&1 &
  echo $! > "$dir/epmd.pid"
  setsid /usr/lib/rabbitmq/bin/rabbitmq-server < /dev/null > "$dir/log/server.out" 2>&1 &
  local launcher=$!
  for _ in $(seq 900); do # a busy machine takes its time
    if (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
      echo "export ALMANAC_TEST_AMQP_URL='amqp://guest:guest@127.0.0.1:$port'"
      return
    fi
    if ! kill -0 "$launcher" 2> /dev/null; then break; fi
    sleep 0.2
  done
  tail -n 30 "$dir/log/server.out" >&2
  stop "$dir"
  echo 'rabbitmq.sh: RabbitMQ did not start' >&2
  exit 1
}

stop() {
  local dir=$1 name pid
  for name in pid epmd.pid; do
    [ -f "$dir/$name" ] || continue
    pid=$(cat "$dir/$name")
    kill "$pid" 2> /dev/null || true
    for _ in $(seq 100); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null || true
    rm -f "$dir/$name"
  done
}

control() {
  configure "$(cd "$1" && pwd)" "$2"
  /usr/lib/rabbitmq/bin/rabbitmqctl -q "${@:3}"
}

case "${1:-} $#" in
  control\ [4-9]) control "${@:2}" ;;
  'start 3') start "$2" "$3" ;;
  'stop 2') stop "$2" ;;
  *) usage ;;
esac
