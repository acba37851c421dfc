import { Argument, Command } from 'commander'
import type { Io } from '../io.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** `fhir-ops completion`. @param commands Every other command. */
export function completionCommand(io: Io, commands: () => readonly Command[]): Command {
  return new Command('completion')
    .description('Print the completion of commands and options for a shell.')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(SHELLS))
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops completion bash > ~/.local/share/bash-completion/completions/fhir-ops\n\nOthers:\n  fhir-ops completion zsh > "${fpath[1]}/_fhir-ops"\n  fhir-ops completion fish > ~/.config/fish/completions/fhir-ops.fish',
    )
    .action((shell: (typeof SHELLS)[number]) => io.out(scriptFor(shell, commands())))
}

/** What can follow on the words of a command. */
interface Completed {
  /** The words so far: `fhir-ops`, `fhir-ops token`. */
  readonly words: string
  readonly commands: readonly Command[]
  /** Long names of options. */
  readonly options: readonly string[]
}

function scriptFor(shell: (typeof SHELLS)[number], commands: readonly Command[]): string {
  const all = completedIn({ words: 'fhir-ops', commands })
  if (shell === 'bash') return bash(all)
  return shell === 'zsh' ? zsh(all) : fish(all)
}

function completedIn({ words, commands }: { readonly words: string; readonly commands: readonly Command[] }): readonly Completed[] {
  const inner = commands.flatMap((command) => {
    const below = completedIn({ words: `${words} ${command.name()}`, commands: command.commands })
    const options = command.options.flatMap(({ long }) => long ?? [])
    return below.map((one, index) => (index === 0 ? { ...one, options: [...options, '--help'] } : one))
  })
  return [{ words, commands, options: ['--help', '--version'] }, ...inner]
}

/** What follows on each command, as patterns of the words before; the longest first. */
function patterns(all: readonly Completed[], line: (completed: Completed, words: string) => string): string {
  const longest = all.toSorted((a, b) => b.words.split(' ').length - a.words.split(' ').length)
  return longest.map((completed) => line(completed, completed.words.replace(/^fhir-ops ?/, ''))).join('\n')
}

function wordsOf({ commands, options }: Completed): string {
  return [...commands.map((command) => command.name()), ...options].join(' ')
}

function bash(all: readonly Completed[]): string {
  const cases = patterns(all, (completed, words) => `    "${words === '' ? '' : `${words} `}"*) words="${wordsOf(completed)}" ;;`)
  return `# bash completion of fhir-ops
_fhir_ops() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[*]:1:COMP_CWORD-1} " words
  [ "$before" = " " ] && before=""
  case "$before" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _fhir_ops fhir-ops`
}

function zsh(all: readonly Completed[]): string {
  const cases = patterns(all, (completed, words) => `    "${words === '' ? '' : `${words} `}"*) options=(${wordsOf(completed)}) ;;`)
  return `#compdef fhir-ops
_fhir_ops() {
  local -a options
  local before="\${words[2,CURRENT-1]} "
  [[ $before == " " ]] && before=""
  case "$before" in
${cases}
  esac
  compadd -- $options
  _files
}
compdef _fhir_ops fhir-ops`
}

function fish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ words, commands, options }) => {
    const before = words.split(' ').slice(1)
    const condition =
      before.length === 0 ? '__fish_use_subcommand' : before.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    return [
      ...commands.map(
        (command) => `complete -c fhir-ops -n '${condition}' -a ${command.name()} -d '${quotedForFish(command.description())}'`,
      ),
      ...options.map((option) => `complete -c fhir-ops -n '${condition}' -l ${option.slice(2)}`),
    ]
  })
  return ['# fish completion of fhir-ops', ...lines].join('\n')
}

function quotedForFish(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
