# Part of the shell kernel's driver: commands that install packages.
#
# The sandbox has no index, and packages that are installed in it are gone with it. So these commands
# say that their packages are there, or end the cell with words that lead to a question. After a yes
# the cell runs again. Only plain names and versions count; anything else is the tool's own.

# The words of the error go where the cell's own do, even if the command's are sent elsewhere.
exec 41>&2

__interpreter_install() {
    local kind=$1 word plain found fits missing=() names=()
    shift
    case $kind in
        python) fits='^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?([=<>!~]=?[A-Za-z0-9.*]+(,[=<>!~]=?[A-Za-z0-9.*]+)*)?$' ;;
        npm) fits='^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[0-9A-Za-z.^~<>=-]+)?$' ;;
    esac
    for word; do
        case $word in
            # They change nothing here.
            -q | -qq | --quiet | -U | --upgrade | --user | --no-cache-dir | -y | --yes | --system) ;;
            --break-system-packages | --disable-pip-version-check | --no-input | --prefer-binary) ;;
            --save | -S | --no-save | --no-audit | --no-fund | --silent) ;;
            *)
                [[ $word =~ $fits ]] || return 125
                names+=("$word")
                ;;
        esac
    done
    ((${#names[@]})) || return 125
    for word in "${names[@]}"; do
        if [[ $kind == python ]]; then
            plain=${word%%[\[=<>!~]*}
            found=$(command python3 -c 'import sys
from importlib.metadata import version
print(version(sys.argv[1]))' "$plain" 2>/dev/null)
            [[ $word != *==* || ${word##*==} == "$found" ]] || found=
        else
            plain=$word
            [[ ${plain:1} != *@* ]] || plain=${plain%@*}
            found=
            [[ ! -d node_modules/$plain && ! -d ${NODE_PATH:-/nowhere}/$plain ]] || found='(npm)'
        fi
        if [[ $found ]]; then
            printf '%s %s is installed\n' "$plain" "$found"
        else
            missing+=("$word")
        fi
    done
    ((${#missing[@]})) || return 0
    printf 'PackageNotInstalled: %s %s\n' "$kind" "${missing[*]}" >&41
    ((BASH_SUBSHELL)) || __interpreter_end_cell 1
    return 1
}
# Finds the packages that a command names after its first words, or has the tool do it.
__interpreter_tool() {
    local kind=$1 first=$2 status=0
    shift 2
    __interpreter_install "$kind" "${@:first + 1}" || status=$?
    # It is not for us.
    ((status != 125)) || { command "$@" || return; return 0; }
    return "$status"
}
pip() { if [[ ${1-} == install ]]; then __interpreter_tool python 2 pip "$@"; else command pip "$@"; fi; }
pip3() { if [[ ${1-} == install ]]; then __interpreter_tool python 2 pip3 "$@"; else command pip3 "$@"; fi; }
uv() { if [[ ${*:1:2} == 'pip install' ]]; then __interpreter_tool python 3 uv "$@"; else command uv "$@"; fi; }
npm() { if [[ ${1-} == @(install|i|add) ]]; then __interpreter_tool npm 2 npm "$@"; else command npm "$@"; fi; }
python() { if [[ ${*:1:3} == '-m pip install' ]]; then __interpreter_tool python 4 python "$@"; else command python "$@"; fi; }
python3() { if [[ ${*:1:3} == '-m pip install' ]]; then __interpreter_tool python 4 python3 "$@"; else command python3 "$@"; fi; }
# To be in the way of a program that runs behind the shell, they must be needed.
[[ $__interpreter_code == *'-m pip'* ]] || unset -f python python3
