if [[ ${__interpreter_code+set} == set ]]; then builtin eval "$__interpreter_options$__interpreter_code"; { return } 2>/dev/null; fi
# The shell kernel's driver for zsh: one zsh that runs cells and claims the status of each.
#
# Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
# out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary.
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
builtin zmodload zsh/parameter
__interpreter_job=$!

builtin print -r -u 9 "{\"kind\":\"ready\",\"version\":\"$ZSH_VERSION\"}"
__interpreter_options=
while IFS= builtin read -r -u 9 __interpreter_length; do
    __interpreter_code=
    if (( __interpreter_length )); then
        # Characters are bytes, so that the length is right; then they are characters again.
        unsetopt multibyte
        IFS= builtin read -r -u 9 -k $__interpreter_length __interpreter_code
        setopt multibyte
    fi
    {
        # While the cell runs, zsh keeps the socket where programs do not inherit it.
        source $__interpreter_driver 9<&-
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
