// The script of `etl completion bash`. The library's own needs the package bash-completion, may be read only once, leaves a
// blank after folders, and runs what is typed through eval.

/** For bash 3.2 and later, with nothing else installed. Proved by test/unit/cli/shell-completion.test.ts. */
export const bashScript = String.raw`# bash completion for etl

_etl_complete() {
    local line=§{COMP_LINE:0:COMP_POINT} words word typed head out reply directive=0
    # Without -r: a backslash before a blank makes it part of the word.
    read -a words <<< "$line"
    [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=("")
    word=§{words[§{#words[@]} - 1]}
    out=$(etl complete blanks -- "§{words[@]:1}" 2>/dev/null) || return
    # bash ends a word at = and : too, and puts the reply after the last of them.
    typed=$word
    [[ $word == -*=* ]] && typed=§{word#*=}
    head=§{typed%"§{typed##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r reply; do
        case $reply in
            :*) directive=§{reply#:} ;;
            ?*) reply=§{reply%%$'\t'*}; reply=§{reply#"$head"}; COMPREPLY+=("§{reply// /\\ }") ;;
        esac
    done <<< "$out"
    # 2: the word goes on, as a folder does. compopt came with bash 4.
    if (( directive & 2 )) && type compopt > /dev/null 2>&1; then compopt -o nospace; fi
}

complete -F _etl_complete etl
`.replaceAll('§', '$');
