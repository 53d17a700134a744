// `etl completion <shell>`: prints a script for tab completion.

import { programName } from '../called.ts';
import { command } from '../command.ts';
import { argumentOf } from '../inputs.ts';

// bash and zsh have our own scripts: the scripts of @bomb.sh/tab pass typed text to eval. Its bash
// script also needs the package bash-completion, and its zsh script inserts file names unquoted.

/** For bash 3.2 and later. Proved by test/unit/cli/shell-completion.test.ts. */
const bashScript = String.raw`# bash completion for etl

_etl_complete() {
    local line=§{COMP_LINE:0:COMP_POINT} words word typed head out reply directive=0
    # Without -r: a backslash before a blank makes it part of the word.
    read -a words <<< "$line"
    [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=("")
    word=§{words[§{#words[@]} - 1]}
    out=$(etl complete blanks -- "§{words[@]:1}" 2>/dev/null) || return
    # bash also ends a word at = and at :, and inserts the reply after the last of them.
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
    # Directive 2: add no blank, because the word is a folder. compopt exists since bash 4.
    if (( directive & 2 )) && type compopt > /dev/null 2>&1; then compopt -o nospace; fi
}

complete -F _etl_complete etl
`.replaceAll('§', '$');

/** For zsh with compinit. Proved by test/unit/cli/shell-completion.test.ts. */
const zshScript = String.raw`#compdef etl
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
    # Directive 2: add no blank, because the word is a folder.
    (( directive & 2 )) && options=(-S '')
    [[ $PREFIX == -*=* ]] && compset -P '*='
    _describe etl offers "§{(@)options}"
}

# If this file is autoloaded as the function _etl, zsh expects it to complete at once.
if [[ $funcstack[1] == _etl ]]; then _etl; fi
`.replaceAll('§', '$');

export const completionCommand = command({
  name: 'completion',
  summary: 'print a script for tab completion',
  description: 'Prints a script that completes commands, flags and pipeline files in the shell.',
  takes: { shell: argumentOf('<shell>', 'the shell', ['bash', 'zsh', 'fish', 'powershell']) },
  help: `
The script calls \`etl\` whenever the tab key is pressed, so \`etl\` must be on the PATH. The script of
\`sluice completion\` completes the name sluice.

Examples:
  $ etl completion bash >> ~/.bashrc
  $ etl completion zsh > ~/.zfunc/_etl
  $ etl completion fish > ~/.config/fish/completions/etl.fish
  PS> etl completion powershell >> $PROFILE`,
  async act({ io, shell }) {
    const name = programName();
    if (shell === 'bash' || shell === 'zsh') {
      io.stdout.write((shell === 'bash' ? bashScript : zshScript).replaceAll('etl', name));
      return;
    }
    const { script } = await import('@bomb.sh/tab');
    script(shell, name, name);
  },
});
