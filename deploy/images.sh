#!/bin/bash
# Builds the images of the seven services and of the operators' command line, and prints their
# sizes.
#   deploy/images.sh                  on the base image of deploy/Dockerfile
#   BASE_IMAGE=… deploy/images.sh     on another one
#   PREFIX=registry.example.com/almanac/ deploy/images.sh data jobs   some, with other names
#   TAG=trial deploy/images.sh        with this tag alone
# The tags are the version of the package, and `latest`.
set -euo pipefail
cd "$(dirname "$0")/.."

docker=${DOCKER:-docker}
prefix=${PREFIX:-almanac/}
images=("$@")
[ $# -gt 0 ] || images=(gateway identity metadata data jobs billing console operator)

# The operators' command line has the version of the repository.
version_of() {
  local manifest=services/$1/package.json
  [ "$1" != operator ] || manifest=package.json
  sed -n 's/^  "version": "\(.*\)",$/\1/p' "$manifest"
}

for name in "${images[@]}"; do
  tag=${TAG:-$(version_of "$name")}
  options=(--file deploy/Dockerfile --build-arg "SERVICE=$name" --tag "$prefix$name:$tag")
  [ -n "${TAG:-}" ] || options+=(--tag "$prefix$name:latest")
  [ -z "${BASE_IMAGE:-}" ] || options+=(--build-arg "BASE_IMAGE=$BASE_IMAGE")
  [ -z "${BUILD_NETWORK:-}" ] || options+=(--network "$BUILD_NETWORK")
  [ "$name" != operator ] || options+=(--target operator)
  DOCKER_BUILDKIT=1 "$docker" build --quiet "${options[@]}" . > /dev/null
  "$docker" image inspect --format '{{.Size}}' "$prefix$name:$tag" |
    awk -v name="$prefix$name:$tag" '{ printf "%-32s %4d MB\n", name, $1 / 1e6 }'
done
