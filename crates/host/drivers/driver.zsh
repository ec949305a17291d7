if [[ ${__interpreter_code+set} == set ]]; then builtin eval "$__interpreter_options$__interpreter_code"; { return } 2>/dev/null; fi
# The shell kernel's driver for zsh: one zsh that runs cells and claims the status of each.
#
# Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
# out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary.
#
# The words by which a cell was called may come before it: after an `@` their length and number,
# then each with a NUL at its end. They are its name, the path of its file and its arguments. Code
# with a file is a script, and the shell that runs it takes this one's place.
#
# For each cell this file sources itself, because code in a function would make what it declares
# local, and because `return` needs something to return from.

__interpreter_driver=${0:A}
# The control socket moves out of the way of code that uses the lowest descriptors itself.
exec 9<&3 3<&-

# Returning what is not 0 makes zsh unwind whatever runs, as far as the `always` below. Between
# cells an interrupt is nobody's.
TRAPINT() {
    [[ ${__interpreter_code+set} == set ]] || return 0
    : ${__interpreter_status:=130}
    # The status of what was cut short must not end the shell on the way out.
    [[ ! -o errexit ]] || __interpreter_errexit=1
    unsetopt errexit
    return 130
}
# `set -e` ends the cell, and not the shell with all its state.
TRAPZERR() {
    local __interpreter_last=$?
    if [[ -o errexit && $ZSH_SUBSHELL == 0 && ${__interpreter_code+set} == set ]]; then
        __interpreter_status=$__interpreter_last
        kill -INT $$
    fi
}

# Says what the cell has left running, once.
__interpreter_tell_jobs() {
    [[ $! != "$__interpreter_job" ]] || return 0
    __interpreter_job=$!
    local __interpreter_number
    for __interpreter_number in ${(k)jobstates}; do
        [[ $jobstates[$__interpreter_number] != running* ]] ||
            builtin print -r -u 2 -- "still running: $jobtexts[$__interpreter_number] &"
    done
}
# Runs the code as the script that it is. From its file if that still holds what somebody looked at;
# otherwise from a copy of that.
__interpreter_script() {
    local __interpreter_name=$1
    shift 2
    # Anything but a file could keep us waiting.
    if [[ ! -f $__interpreter_name || "$(cat -- $__interpreter_name 2>/dev/null; builtin print -n .)" != "$__interpreter_code." ]]; then
        __interpreter_name=$(mktemp -d ${TMPDIR:-/tmp}/script.XXXXXX)/${__interpreter_name:t}
        builtin print -rn -- "$__interpreter_code" >$__interpreter_name || return
    fi
    exec zsh -f -- $__interpreter_name "$@" 9<&-
}
builtin zmodload zsh/parameter
__interpreter_job=$!

builtin print -r -u 9 "{\"kind\":\"ready\",\"version\":\"$ZSH_VERSION\"}"
__interpreter_options=
__interpreter_words=('' '')
while IFS= builtin read -r -u 9 __interpreter_length; do
    if [[ $__interpreter_length == @* ]]; then
        __interpreter_words=()
        repeat ${__interpreter_length#* }; do
            IFS= builtin read -r -d $'\0' -u 9 __interpreter_word
            __interpreter_words+=("$__interpreter_word")
        done
        continue
    fi
    __interpreter_code=
    if (( __interpreter_length )); then
        # Characters are bytes, so that the length is right; then they are characters again.
        unsetopt multibyte
        IFS= builtin read -r -u 9 -k $__interpreter_length __interpreter_code
        setopt multibyte
    fi
    [[ -z $__interpreter_words[2] ]] || __interpreter_script "${__interpreter_words[@]}"
    {
        # While the cell runs, zsh keeps the socket where programs do not inherit it.
        source $__interpreter_driver "${(@)__interpreter_words[3,-1]}" 9<&-
    } always {
        # The options of the code are put off while the driver runs; `set -x` would show it.
        {
            : ${__interpreter_status:=$?}
            TRY_BLOCK_ERROR=0 TRY_BLOCK_INTERRUPT=0
            __interpreter_options=
            [[ ! -o errexit && ! ${__interpreter_errexit+set} == set ]] ||
                __interpreter_options+='set -e;'
            [[ ! -o nounset ]] || __interpreter_options+='set -u;'
            [[ ! -o verbose ]] || __interpreter_options+='set -v;'
            [[ ! -o xtrace ]] || __interpreter_options+='set -x;'
            set +euvx
        } 2>/dev/null
        unset __interpreter_code __interpreter_errexit
    }
    __interpreter_tell_jobs
    builtin print -r -u 9 "{\"kind\":\"finished\",\"status\":$__interpreter_status}"
    unset __interpreter_status
done
