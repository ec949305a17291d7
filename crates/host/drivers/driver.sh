if [[ ${__interpreter_code+set} ]]; then \builtin eval "$__interpreter_options$__interpreter_code"; { \builtin return; } 2>/dev/null; fi
# The shell kernel's driver: one bash that runs cells and claims the status of each.
#
# Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
# out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary.
#
# The words by which a cell was called may come before it: after an `@` their length and number,
# then each with a NUL at its end. They are its name, the path of its file and its arguments. Code
# with a file is a script, and the shell that runs it takes this one's place.
#
# For each cell this file sources itself. Sourced, because code in a function would make what it
# declares local, and because `return` and the unwinding below need something to return from.
# In the first line, because bash counts the lines of evaluated code from that of the `eval`.

__interpreter_driver=$(builtin cd -- "${BASH_SOURCE[0]%/*}" && builtin pwd)/${BASH_SOURCE[0]##*/}
# What the driver cannot do without is not the code's to unset.
readonly __interpreter_driver
BASH_ARGV0=bash
# Whether packages can be installed for the folder: see `packages.sh`.
readonly __interpreter_packages=${INTERPRETER_PACKAGES-}
unset INTERPRETER_PACKAGES
# The control socket moves out of the way of code that uses low descriptors itself.
exec 40<&3 3<&-
shopt -s expand_aliases
# Functions too run the ERR trap below.
set -E

# Ends the cell at its next command, however deep in loops, functions and sourced files it is: a
# DEBUG trap that gives 2 makes whatever is running return. Back in the driver it removes itself.
__interpreter_unwind() {
    ((${#FUNCNAME[@]} < 3)) || return 2
    trap - DEBUG
    shopt -u extdebug
    set -E
}
__interpreter_end_cell() {
    __interpreter_status=$1
    # The status of what was cut short must not end the shell on the way out.
    [[ ! -o errexit ]] || __interpreter_errexit=e
    set +e
    shopt -s extdebug
    trap __interpreter_unwind DEBUG
}
# Between cells an interrupt is nobody's. Subshells die of it by themselves.
trap '{ [[ ! ${__interpreter_code+set} ]] || __interpreter_end_cell 130; } 2>/dev/null' INT
# `set -e` ends the cell, and not the shell with all its state.
trap '{ __interpreter_failed $?; } 2>/dev/null' ERR
__interpreter_failed() {
    [[ ! -o errexit || $BASH_SUBSHELL != 0 || ! ${__interpreter_code+set} ]] ||
        __interpreter_end_cell "$1"
}
# Says what the cell has left running, once. Starts no process for it: there may be no room for one.
__interpreter_tell_jobs() {
    __interpreter_job=$!
    local line file=${TMPDIR:-/tmp}/.jobs.$$ count=0
    { builtin jobs -r >"$file"; } 2>/dev/null || return 0
    while IFS= builtin read -r line; do
        [[ $line == *Running* ]] && ((++count <= 10)) || continue
        line=${line#*Running}
        builtin printf 'still running: %s\n' "${line#"${line%%[! ]*}"}"
    done <"$file" >&2
    ((count <= 10)) || builtin printf 'still running: %d more\n' $((count - 10)) >&2
}
# Runs the code as the script that it is. From its file if that still holds what somebody looked at;
# otherwise from a copy of that.
__interpreter_script() {
    local content= name=$1
    shift 2
    # Anything but a file could keep us waiting.
    [[ ! -f $name ]] || { IFS= builtin read -r -d '' content <"$name"; } 2>/dev/null
    if [[ $content != "$__interpreter_code" ]]; then
        name=$(mktemp -d "${TMPDIR:-/tmp}/script.XXXXXX")/${name##*/} || return
        builtin printf %s "$__interpreter_code" >"$name" || return
    fi
    exec "$BASH" -- "$name" "$@" 40>&-
}
readonly -f __interpreter_unwind __interpreter_end_cell __interpreter_failed __interpreter_tell_jobs \
    __interpreter_script

__interpreter_job=

builtin printf '{"kind":"ready","version":"%s"}\n' "$BASH_VERSION" >&40
__interpreter_options=
__interpreter_status=
__interpreter_words=('' '')
# A file as standard input is read from its start by every cell.
[[ ! -f /dev/stdin ]] || __interpreter_reads_file=1
while IFS= builtin read -r -u 40 __interpreter_length; do
    if [[ $__interpreter_length == @* ]]; then
        __interpreter_words=()
        for ((__interpreter_count = ${__interpreter_length#* }; __interpreter_count; --__interpreter_count)); do
            IFS= builtin read -r -d '' -u 40 "__interpreter_words[${#__interpreter_words[@]}]"
        done
        continue
    fi
    if [[ $__interpreter_length == 0* ]]; then
        # The code is ASCII: whatever the locale, a character is a byte.
        IFS= builtin read -r -u 40 -N "$__interpreter_length" __interpreter_code
    else
        # In the C locale too. To enter and leave it takes longer than a short cell.
        LC_ALL=C IFS= builtin read -r -u 40 -N "$__interpreter_length" __interpreter_code
    fi
    [[ ! ${__interpreter_words[1]} ]] || __interpreter_script "${__interpreter_words[@]}"
    [[ ! ${__interpreter_reads_file-} ]] || exec </dev/stdin
    # Only for a cell that names them: the person's own programs are not covered without need. A longer
    # one is not looked through, and each pattern takes one pass.
    if [[ $__interpreter_packages && ${#__interpreter_code} -le 65536 ]] &&
        [[ $__interpreter_code == *pip* || $__interpreter_code == *npm* ]] &&
        [[ $__interpreter_code == *install* || $__interpreter_code == *' add '* || $__interpreter_code == *' i '* ]]; then
        builtin source "${__interpreter_driver%/*}/packages.sh"
        __interpreter_covers=1
    fi
    # While the cell runs, bash keeps the socket where programs do not inherit it.
    builtin source "$__interpreter_driver" "${__interpreter_words[@]:2}" 40>&-
    # The options of the code are put off while the driver runs; `set -x` would show it.
    {
        : "${__interpreter_status:=$?}"
        __interpreter_options=${-//[!euvx]/}${__interpreter_errexit-}
        set +euvx
    } 2>/dev/null
    __interpreter_options=${__interpreter_options:+set -$__interpreter_options;}
    unset __interpreter_code __interpreter_errexit
    if [[ ${__interpreter_covers-} ]]; then
        unset -f pip pip3 uv npm python python3
        exec 41>&-
        unset __interpreter_covers
    fi
    [[ $! == "$__interpreter_job" ]] || __interpreter_tell_jobs
    builtin printf '{"kind":"finished","status":%d}\n' "$__interpreter_status" >&40
    __interpreter_status=
done
