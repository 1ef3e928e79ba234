/** Shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
/** One of these shells. */
export type Shell = (typeof shells)[number]

/** The completion script of a shell for `fairlead`. Files are completed if nothing else is known. */
export function printScript(shell: Shell): string {
  return scripts[shell]
}

const bash = String.raw`# bash completion of fairlead. Load it: source <(fairlead completion bash)
_fairlead() {
  local line word last=$COMP_CWORD
  local current=${'$'}{COMP_WORDS[last]}
  [[ $current == = ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    word=${'$'}{line%%$'\t'*}
    COMPREPLY+=("$(printf '%q' "$word")")
  done < <("$1" __complete "${'$'}{COMP_WORDS[@]:1:last-1}" ":$current" 2>/dev/null)
}
complete -o default -F _fairlead fairlead
`

const zsh = String.raw`#compdef fairlead
# zsh completion of fairlead. Load it: source <(fairlead completion zsh)
_fairlead() {
  local line
  local -a found
  for line in "${'$'}{(@f)$("$words[1]" __complete "${'$'}{(@)words[2,CURRENT-1]}" ":$words[CURRENT]" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    found+=("${'$'}{${'$'}{${'$'}{line%%$'\t'*}//\\/\\\\}//:/\\:}:${'$'}{line#*$'\t'}")
  done
  if (( ${'$'}{#found} )); then _describe fairlead found; else _files; fi
}
if [[ $funcstack[1] == _fairlead ]]; then _fairlead "$@"; else compdef _fairlead fairlead; fi
`

const fish = String.raw`# fish completion of fairlead. Load it: fairlead completion fish | source
function __fairlead_complete
    set -l words (commandline -opc)
    set -l found ($words[1] __complete $words[2..-1] ":"(commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c fairlead -f -a '(__fairlead_complete)'
`

const powershell = `# PowerShell completion of fairlead. Load it: fairlead completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName fairlead -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { "$_" })
    & fairlead __complete @words ":$wordToComplete" 2>$null | ForEach-Object {
        $word, $about = $_ -split [char]9, 2
        if (-not $about) { $about = $word }
        # A name that others gave must not be run.
        $safe = $word
        if ($word -notmatch '^[A-Za-z0-9_./:=+-]+$') { $safe = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word) + "'" }
        [System.Management.Automation.CompletionResult]::new($safe, $word, 'ParameterValue', $about)
    }
}
`

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell }
