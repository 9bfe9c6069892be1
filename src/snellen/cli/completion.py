"""snellen completion: what a shell needs to complete verbs, options, benchmarks and models."""

from __future__ import annotations

import click

from snellen.cli._exit import DONE
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put

VARIABLE = "_SNELLEN_COMPLETE"
"""What click's side of it is asked by."""
BASH = """\
_snellen_completion() {
    local line=${COMP_LINE:0:COMP_POINT} words current before type value
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    # bash takes a word apart at these signs, and replaces what stands behind the last of them
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


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
def command(shell: str, as_json: bool) -> int:
    """Print what makes SHELL complete verbs, options, benchmarks and models at a TAB.

    bash: put `eval "$(snellen completion bash)"` into ~/.bashrc. zsh: the same with zsh into
    ~/.zshrc, below compinit. fish: snellen completion fish >
    ~/.config/fish/completions/snellen.fish.
    """
    script = {"bash": BASH, "zsh": ZSH}.get(shell) or _fish()
    if as_json:
        put({"shell": shell, "script": script})
    else:
        click.echo(script, nl=False)
    return DONE


def _fish() -> str:
    from click.shell_completion import FishComplete

    return FishComplete(click.Command("snellen"), {}, "snellen", VARIABLE).source()
