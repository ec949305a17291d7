# The driver of languages that keep nothing between cells: each cell is a file and a program.
#
#   bash once.sh run FILE NAME COUNT [PATTERN…] COUNT [WORD…] COMMAND…
#   bash once.sh show KIND
#   bash once.sh version COMMAND…
#
# `run` writes a cell to FILE in a private folder, does WORD… if there are any and then COMMAND….
# {folder}, {file} and {name} in them stand for the folder, the code's path and what the first
# PATTERN that matches finds in the code, or else NAME. `show` claims the cell as a result.
# `version` claims to be ready with the first line that COMMAND… prints, and takes no cells.
#
# Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
# out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary.
#
# The words by which a cell was called may come before it: after an `@` their length and number,
# then each with a NUL at its end. They are its name, the path of its file and its arguments, which
# COMMAND… is given too. A language that is not compiled runs the file itself, if that still holds
# what somebody looked at.

# What programs must not get: the control socket, and the way to their own stderr.
exec 40<&3 3<&- 41>&2
shopt -u patsub_replacement 2>/dev/null
# An interrupt between cells is nobody's, and what puts a cell in place does not die of it.
trap '' INT

kind=$1
shift
if [[ $kind == run ]]; then
    file_name=$1 otherwise=$2
    shift 2
    patterns=("${@:2:$1}")
    shift $(($1 + 1))
    compile=("${@:2:$1}")
    shift $(($1 + 1))
    run=("$@")
fi

# Reads the cell, byte for byte. Half a cell would make nonsense of the next: that is the end.
take() { head -c "$1" <&40 >"$folder/.code" || exit 1; }

# What the code says of itself. Nobody declares a class after the first 64 KiB.
find_name() {
    name=$otherwise
    ((${#patterns[@]})) || return
    local code pattern
    code=$(head -c 65536 "$folder/.code" 2>/dev/null)
    for pattern in "${patterns[@]}"; do
        [[ $code =~ $pattern ]] && name=${BASH_REMATCH[-1]} && return
    done
}

# Takes the words of the next cell.
take_words() {
    called=()
    local count=$1
    for ((; count; --count)); do
        IFS= read -r -d '' -u 40 "called[${#called[@]}]" || exit 1
    done
}
called=('' '')

# Does a command with the cell's own paths in it. What it reads is given by whoever calls this.
perform() {
    local words=("$@") marker notice said=': line [0-9]+: +[0-9]+ ([^ ]+( [^ ]+)*)  '
    marker={folder} words=("${words[@]//$marker/$folder}")
    marker={file} words=("${words[@]//$marker/$file}")
    marker={name} words=("${words[@]//$marker/$name}" "${arguments[@]}")
    trap 'interrupted=1' INT
    { (exec "${words[@]}" 2>&41 40<&- 41>&-); } 2>"$folder/.notice"
    status=$?
    trap '' INT
    # bash says which signal ended the program, beside much about itself.
    IFS= read -r notice 2>/dev/null <"$folder/.notice"
    [[ ! $notice =~ $said ]] || printf '%s\n' "${BASH_REMATCH[1]}" >&41
    ((!interrupted)) || status=130
}

run_cell() {
    find_name
    file=$folder/${file_name//'{name}'/$name}
    if [[ ${called[1]} && ${#compile[@]} == 0 && ${run[-1]} == '{file}' && -f ${called[0]} ]] &&
        cmp -s -- "$folder/.code" "${called[0]}"; then
        file=${called[0]}
    else
        mv -- "$folder/.code" "$file" || return
    fi
    local arguments=()
    interrupted=0 status=0
    ((${#compile[@]} == 0)) || perform "${compile[@]}" </dev/null
    arguments=("${called[@]:2}")
    # A file as standard input is read from its start by every cell.
    if [[ -f /dev/stdin ]]; then exec </dev/stdin; fi
    ((status)) || perform "${run[@]}"
    return "$status"
}

# The code as a JSON string. The dot stands after its last line's end, which would be lost.
show_cell() {
    printf '{"kind":"result","bundle":{"%s":"' "$1"
    { cat "$folder/.code" && printf .; } |
        LC_ALL=C sed "$escapes;\$!s/\$/\\\\n/;\$s/\.\$//" | tr -d '\000\n'
    printf '"}}\n'
}
escapes='s/\\/\\\\/g;s/"/\\"/g'
for number in {1..9} {11..31}; do
    printf -v digits %02x "$number"
    printf -v character "\\x$digits"
    escapes+=";s/$character/\\\\u00$digits/g"
done

if [[ $kind == version ]]; then
    printed=$("$@" </dev/null 2>&1 40<&- 41>&- | head -c 4096 | tr -cd '[:print:]\n' | grep -m1 '[^ ]')
    (exec 41>&-; printf '{"kind":"ready","version":"%s"}\n' "$(sed "$escapes" <<<"$printed")" >&40)
    exit
fi
printf '{"kind":"ready","version":""}\n' >&40
while IFS= read -r length <&40; do
    if [[ $length == @* ]]; then
        take_words "${length#* }"
        continue
    fi
    folder=$(mktemp -d "${TMPDIR:-/tmp}/run.XXXXXX") || exit 1
    take "$length"
    if [[ $kind == run ]]; then run_cell; else show_cell "$1" >&40; fi
    status=$?
    rm -rf -- "$folder" 2>/dev/null
    printf '{"kind":"finished","status":%d}\n' "$status" >&40
done
