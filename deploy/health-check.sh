#!/bin/bash
# Checks that this container's service is alive, for Docker and Compose. Kubernetes has
# its own probes. It doesn't use Node, whose start would cost more than the check.
set -euo pipefail
names=(gateway identity metadata data jobs billing console)
for number in "${!names[@]}"; do
  [ "${names[$number]}" != "$ALMANAC_SERVICE" ] || port=$((8080 + number))
done
set_port=${ALMANAC_SERVICE^^}_HTTP_PORT
exec 3<> "/dev/tcp/127.0.0.1/${!set_port:-$port}"
printf 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
# Bash has no TLS. A TLS server closes the connection after these bytes; a hanging process doesn't,
# until the time-out.
if [ "${ALMANAC_HTTP_TLS:-}" = true ] && [ "$ALMANAC_SERVICE" != gateway ]; then
  read -r -d '' -t 4 <&3 2> /dev/null || [ $? -le 128 ]
  exit
fi
read -r -t 4 _ status _ <&3
[ "$status" = 200 ]
