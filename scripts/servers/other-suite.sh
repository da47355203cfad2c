# For scripts that use a package of another suite of Debian without changing the machine: sourced,
# not run.

# apt_of_suite DIR SUITE ARGUMENT…: runs apt-get as if nothing were installed and SUITE were the
# only one, from the machine's mirror.
apt_of_suite() {
  local dir=$1 suite=$2 mirror
  shift 2
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 -E '/debian/?$') || {
    echo 'No mirror of Debian stands in the sources of apt.' >&2
    return 1
  }
  mkdir -p "$dir/lists/partial" "$dir/archives/partial"
  : > "$dir/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" > "$dir/sources.list"
  local options=(
    -qq -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$dir/lists"
    -o Dir::State::Status="$dir/status" -o Dir::Cache::Archives="$dir/archives" -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache=
    -o APT::Sandbox::User=root -o APT::Install-Recommends=false -o Debug::NoLocking=1
  )
  apt-get "${options[@]}" update >&2 && (cd "$dir/archives" && apt-get "${options[@]}" "$@" >&2)
}
