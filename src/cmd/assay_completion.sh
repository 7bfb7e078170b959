# shellcheck shell=bash
# Completion of assay's command lines in bash; installed where bash-completion looks for it, or sourced by hand. The
# program itself says what fits (src/cmd/complete.h).
_assay() {
    local word=${COMP_WORDS[COMP_CWORD]} lines
    [ "$word" != = ] || word=
    mapfile -t lines < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=()
    case ${lines[0]-} in
    :files) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    :directories) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    :programs) mapfile -t COMPREPLY < <(compgen -c -- "$word" && compgen -f -- "$word") ;;
    esac
    [[ ${lines[0]-} != :* ]] || { compopt -o filenames 2>/dev/null && lines=("${lines[@]:1}"); }
    COMPREPLY+=(${lines[@]+"${lines[@]}"})
    # No blank behind "--core=": its value follows.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != --*= ]] || compopt -o nospace 2>/dev/null
}
complete -F _assay assay
