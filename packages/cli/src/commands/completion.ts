import { Argument, Command } from 'commander'
import type { Io } from '../io.js'
import type { MakeCommand } from '../run-commands.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** `fhir-ops completion`. @param commands Every command. */
export function completionCommand(io: Io, commands: () => Promise<readonly MakeCommand[]>): Command {
  return new Command('completion')
    .description('Print the completion of commands and options for a shell.')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(SHELLS))
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops completion bash > ~/.local/share/bash-completion/completions/fhir-ops\n\nOthers:\n  fhir-ops completion zsh > "${fpath[1]}/_fhir-ops"\n  fhir-ops completion fish > ~/.config/fish/completions/fhir-ops.fish',
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const made = (await commands()).map((make) => make(io))
      io.out(scriptFor(shell, made))
    })
}

/** A word that may follow, with its description. */
interface Offered {
  readonly word: string
  readonly description: string
}

/** Possible completions after the words of a command. */
interface Completed {
  /** The words so far: `fhir-ops`, `fhir-ops token`. */
  readonly words: string
  /** Subcommands, or values of the first argument; if there are none, file names are completed. */
  readonly offered: readonly Offered[]
  /** Long option names, offered after a hyphen. */
  readonly options: readonly string[]
}

function scriptFor(shell: (typeof SHELLS)[number], commands: readonly Command[]): string {
  const named = commands.map(offeredOf)
  const all: readonly Completed[] = [
    { words: 'fhir-ops', offered: [...named, { word: 'help', description: 'Help about a command.' }], options: ['--help', '--version'] },
    { words: 'fhir-ops help', offered: named, options: [] },
    ...commands.filter((command) => command.commands.length > 0).map(helpAbout),
    ...commands.flatMap((command) => completedIn('fhir-ops', command)),
  ]
  if (shell === 'bash') return bash(all)
  return shell === 'zsh' ? zsh(all) : fish(all)
}

function helpAbout(command: Command): Completed {
  return { words: `fhir-ops help ${command.name()}`, offered: command.commands.map(offeredOf), options: [] }
}

function completedIn(before: string, command: Command): readonly Completed[] {
  const words = `${before} ${command.name()}`
  const choices = (command.registeredArguments[0]?.argChoices ?? []).map((word) => ({ word, description: '' }))
  const options = [...command.options.flatMap(({ long }) => long ?? []), '--help']
  return [
    { words, offered: [...command.commands.map(offeredOf), ...choices], options },
    ...command.commands.flatMap((inner) => completedIn(words, inner)),
  ]
}

function offeredOf(command: Command): Offered {
  return { word: command.name(), description: command.description() }
}

/** Maps patterns of the preceding words to the completions of each command; the longest pattern first. */
function patterns(all: readonly Completed[], open: string, close: string): string {
  const listed = (name: string, words: readonly string[]): string => `${name}=${open}${words.join(' ')}${close}`
  return all
    .toSorted((a, b) => b.words.split(' ').length - a.words.split(' ').length)
    .map(({ words, offered, options }) => {
      const before = words.replace(/^fhir-ops ?/, '')
      const names = offered.map(({ word }) => word)
      return `    "${before === '' ? '' : `${before} `}"*) ${listed('offered', names)} ${listed('options', options)} ;;`
    })
    .join('\n')
}

function bash(all: readonly Completed[]): string {
  return `# bash completion of fhir-ops
_fhir_ops() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[*]:1:COMP_CWORD-1} " offered options
  [ "$before" = " " ] && before=""
  case "$before" in
${patterns(all, '"', '"')}
  esac
  [[ $current == -* ]] && offered="$options"
  [[ -n $offered ]] && compopt +o default
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _fhir_ops fhir-ops`
}

/** In a folder of `$fpath`, the file is the body of the function and runs when the function is first called; otherwise `source` reads it. */
function zsh(all: readonly Completed[]): string {
  return `#compdef fhir-ops
_fhir_ops() {
  local -a offered options
  local before="\${words[2,CURRENT-1]} "
  [[ $before == " " ]] && before=""
  case "$before" in
${patterns(all, '(', ')')}
  esac
  [[ $PREFIX == -* ]] && offered=($options)
  if (( $#offered )); then compadd -- $offered; else _files; fi
}
if [[ $funcstack[1] == _fhir-ops ]]; then _fhir_ops; else compdef _fhir_ops fhir-ops; fi`
}

function fish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ words, offered, options }) => {
    const seen = words.split(' ').slice(1)
    const here = seen.length === 0 ? '__fish_use_subcommand' : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    const next = offered.map(({ word }) => word).join(' ')
    const before = seen.length === 0 || next === '' ? here : `${here}; and not __fish_seen_subcommand_from ${next}`
    return [
      ...(next === '' ? [] : [`complete -c fhir-ops -n '${before}' -f`]),
      ...offered.map(({ word, description }) => `complete -c fhir-ops -n '${before}' -a ${word} -d '${quotedForFish(description)}'`),
      ...options.map((option) => `complete -c fhir-ops -n '${here}' -l ${option.slice(2)}`),
    ]
  })
  return ['# fish completion of fhir-ops', ...lines].join('\n')
}

function quotedForFish(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
