#!/bin/bash
# Builds the images of the six services and of the operators' command line, and tells how large they are.
#   deploy/images.sh                       on the base image that deploy/Dockerfile names
#   BASE_IMAGE=… deploy/images.sh          on another one
#   TAG=1.2.0 PREFIX=registry.example.com/almanac/ deploy/images.sh data jobs    some of them, under other names
set -euo pipefail
cd "$(dirname "$0")/.."

docker=${DOCKER:-docker}
prefix=${PREFIX:-almanac/}
tag=${TAG:-latest}
images=("$@")
[ $# -gt 0 ] || images=(gateway identity metadata data jobs billing operator)

for name in "${images[@]}"; do
  options=(--file deploy/Dockerfile --build-arg "SERVICE=$name" --tag "$prefix$name:$tag")
  [ -z "${BASE_IMAGE:-}" ] || options+=(--build-arg "BASE_IMAGE=$BASE_IMAGE")
  [ -z "${BUILD_NETWORK:-}" ] || options+=(--network "$BUILD_NETWORK")
  [ "$name" != operator ] || options+=(--target operator)
  DOCKER_BUILDKIT=1 "$docker" build --quiet "${options[@]}" . > /dev/null
  "$docker" image inspect --format "{{index .RepoTags 0}} {{.Size}}" "$prefix$name:$tag" |
    awk '{ printf "%-32s %4d MB\n", $1, $2 / 1e6 }'
done
