# What the scripts that make packages share. Sourced, not run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# The comment at the top of the script that runs.
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; }

# The version of the workspace.
version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$here/Cargo.toml"; }

# The time that every file of a package gets: of the last commit, so that the same commit gives the same
# package.
package_time() {
  echo "${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || stat -c %Y "$here/Cargo.lock")}"
}

# read_options NAMES ARGUMENT…: the value of each option into the variable of its name. `output` is a folder
# that is there afterwards; the others are empty without their option.
read_options() {
  local names=" $1 " name
  for name in $1; do printf -v "$name" ''; done
  shift
  while [ $# -gt 0 ]; do
    name=${1#--}
    case $1 in
      -h | --help) usage && exit 0 ;;
      --?*) ;;
      *) name=none ;;
    esac
    [[ $names = *" $name "* ]] || { echo "Unknown argument: $1" >&2 && usage >&2 && exit 2; }
    [ $# -gt 1 ] || { echo "$1 needs a value." >&2 && exit 2; }
    printf -v "$name" %s "$2"
    shift 2
  done
  output=${output:-$here/dist}
  mkdir -p "$output" && output=$(cd "$output" && pwd)
}

# Builds the program unless one was given.
need_binary() {
  [ -z "$binary" ] || { binary=$(realpath -- "$binary") && return 0; }
  # shellcheck source=scripts/lib.sh
  . "$here/scripts/lib.sh"
  need_cargo
  need_compiler
  need_engine
  install_missing
  (cd "$here" && cargo build --release --locked --bin interpreter)
  binary=$here/target/release/interpreter
}

# package_files FOLDER: the files of an installation, with a program without debugging symbols and with
# the licences of everything that is compiled into it.
package_files() {
  "$here/scripts/package/files" "$binary" "$1"
  if command -v strip >/dev/null 2>&1; then strip --strip-unneeded "$1/bin/interpreter"; fi
  python3 "$here/scripts/package/crates.py" notices >"$1/share/doc/interpreter/THIRD-PARTY-LICENSES"
}
