# For scripts that need a server of the distribution: sourced, not run.

# install_packages NAME…: installs them, and lets none of them start a server of its own.
install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  local try policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod +x "$policy"
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  # Another installation may hold the lock, a mirror may be away for a moment, and one that was
  # interrupted has to be ended first.
  for try in 1 2 3; do
    dpkg --configure -a >&2 && apt-get update -qq >&2 &&
      apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >&2 && return
    [ "$try" = 3 ] || sleep 10
  done
  echo "These packages could not be installed: $*" >&2
  return 1
}
