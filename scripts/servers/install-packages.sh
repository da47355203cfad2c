# For scripts that need a server of the distribution: sourced, not run.

# install_packages NAME…: installs them, and lets none of them start a server of its own.
install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod +x "$policy"
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  apt-get install -y -qq --no-install-recommends "$@" >&2
}
