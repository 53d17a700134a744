// The script of `etl completion zsh`. The library's own runs what is typed through eval, and inserts file names unquoted.

/** For zsh with compinit. Proved by test/unit/cli/shell-completion.test.ts. */
export const zshScript = String.raw`#compdef etl
compdef _etl etl

_etl() {
    local -a offers options
    local line directive=0
    while IFS= read -r line; do
        case $line in
            :*) directive=§{line#:} ;;
            ?*) line=§{line//:/\\:}; offers+=("§{line/$'\t'/:}") ;;
        esac
    done < <(etl complete -- "§{(@)words[2,CURRENT]}" 2>/dev/null)
    # 2: the word goes on, as a folder does.
    (( directive & 2 )) && options=(-S '')
    [[ $PREFIX == -*=* ]] && compset -P '*='
    _describe etl offers "§{(@)options}"
}

# As an autoloaded file, it is called when it is read.
if [[ $funcstack[1] == _etl ]]; then _etl; fi
`.replaceAll('§', '$');
