"""snellen completion: shell scripts that complete commands, options, benchmarks, and models."""

from __future__ import annotations

import click

from snellen.cli._exit import DONE
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put

# Click's own scripts split completions at : and = (bash) and at commas (fish). They also add a
# space after `openai/`, where the user is about to type a name.
BASH = """\
_snellen_completion() {
    local line=${COMP_LINE:0:COMP_POINT} words current before type value
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    # bash splits a word at these signs, and replaces only the part after the last of them
    before=${current%"${current##*[:=@]}"}
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                COMPREPLY+=("${value#"$before"}")
                [[ $value == *[/:=] ]] && compopt -o nospace
                ;;
        esac
    done < <(COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \\
        _SNELLEN_COMPLETE=bash_complete "$1" 2> /dev/null)
}
complete -o nosort -F _snellen_completion snellen
"""
ZSH = """\
#compdef snellen
_snellen_completion() {
    local -a whole begun described
    local type key words_of
    while IFS= read -r type && IFS= read -r key && IFS= read -r words_of; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $key == *[/:=] ]]; then
                    begun+=("$key")
                elif [[ $words_of == _ ]]; then
                    whole+=("$key")
                else
                    described+=("$key:$words_of")
                fi
                ;;
        esac
    done < <(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) \\
        _SNELLEN_COMPLETE=zsh_complete snellen 2> /dev/null)
    (( $#described )) && _describe -V snellen described -U
    (( $#whole )) && compadd -U -V words -a whole
    (( $#begun )) && compadd -U -S '' -V begun -a begun
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _snellen_completion "$@"
else
    compdef _snellen_completion snellen
fi
"""
FISH = """\
function _snellen_completion
    set -lx COMP_WORDS (commandline -cp)
    set -lx COMP_CWORD (commandline -t)
    for line in (_SNELLEN_COMPLETE=fish_complete snellen 2> /dev/null)
        # A completion may contain commas.
        set -l parts (string split -m 1 , -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --command snellen --arguments "(_snellen_completion)"
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@click.command("completion")
@click.argument("shell", type=click.Choice([*SCRIPTS]))
@json_option
def command(shell: str, as_json: bool) -> int:
    """Print the script that makes SHELL complete commands, options, benchmarks, and models.

    bash: add `eval "$(snellen completion bash)"` to ~/.bashrc. zsh: add the same line, with zsh
    instead of bash, to ~/.zshrc below compinit. fish: run `snellen completion fish >
    ~/.config/fish/completions/snellen.fish`.
    """
    if as_json:
        put({"shell": shell, "script": SCRIPTS[shell]})
    else:
        click.echo(SCRIPTS[shell], nl=False)
    return DONE
