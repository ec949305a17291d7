# What the scripts share: finding what is missing and installing it by package name.
# Sourced, not run.

# need COMMAND PACKAGE: notes the package if the command is not there.
missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }

# Installs what was noted, or says what to install.
install_missing() {
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 && as_root=(sudo)
    [ ${#as_root[@]} -eq 0 ] && { echo "Please install: ${missing[*]}" >&2; exit 2; }
  fi
  if command -v apt-get >/dev/null 2>&1; then
    echo "Installing ${missing[*]} …"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  elif command -v dnf >/dev/null 2>&1; then
    "${as_root[@]}" dnf install -y -q "${missing[@]}"
  elif command -v pacman >/dev/null 2>&1; then
    "${as_root[@]}" pacman -S --noconfirm --needed "${missing[@]}"
  else
    echo "Please install: ${missing[*]}" >&2
    exit 2
  fi
}

need_cargo() {
  command -v cargo >/dev/null 2>&1 && return 0
  echo "Please install Rust first: https://rustup.rs" >&2
  exit 2
}

# A compiler without the C library's own headers compiles nothing.
need_compiler() {
  need cc gcc
  [ -e /usr/include/stdlib.h ] || missing+=(libc6-dev)
}

need_interpreters() {
  need python3 python3
  need bash bash
  need node nodejs
}
