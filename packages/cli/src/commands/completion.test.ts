import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../program.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** Where the shells are started: with a file that commands can be given, and the scripts under the names that their shells look for. */
const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-completion-'))
const SCRIPTS: Readonly<Record<Shell, string>> = { bash: 'fhir-ops.bash', zsh: '_fhir-ops', fish: 'fhir-ops.fish' }
beforeAll(async () => {
  writeFileSync(join(folder, 'resource.json'), '{}')
  writeFileSync(join(folder, 'create.json'), '{}')
  for (const shell of SHELLS) writeFileSync(join(folder, SCRIPTS[shell]), await script(shell))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function script(shell: Shell): Promise<string> {
  const out: string[] = []
  const status = await run(['completion', shell], { out: (line) => out.push(line), err: () => {}, stdin: async () => '' })
  expect(status).toBe(0)
  return `${out.join('\n')}\n`
}

function said(shell: Shell, args: readonly string[], lines: string): string {
  const { stdout, stderr, status } = spawnSync(shell, [...args, '-c', lines], { encoding: 'utf8', cwd: folder, timeout: 60_000 })
  expect([stderr, status], lines).toEqual(['', 0])
  return stdout
}

/**
 * What a line becomes when the key is pressed at its end in a zsh that was just started and has the script in its `fpath`: the second half of
 * the line is typed by the test, so that the terminal's echo of it is not taken for what it prints. Keys are those of Emacs, whatever `EDITOR` says.
 */
const ZSH = String.raw`
zmodload zsh/zpty
zpty z 'TERM=dumb zsh -f -i'
zpty -w z "PS1='> '; bindkey -e; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D; print BE''GIN"
zpty -r z said '*BEGIN*'
zpty -w -n z "$LINE"$'\t'
zpty -w -n z $'\x01print -r -- "LI""NE=\x05" ; print E""ND\n'
zpty -r z said '*END*'
print -r -- "$said"`

const completed: Readonly<Record<Shell, (line: string) => string>> = {
  bash: (line) => {
    const words = line.split(' ')
    const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _fhir_ops`
    // Only where a key was pressed can `compopt` say that names of files are not wanted.
    const lines = [
      'compopt() { named=$2; }',
      `source ./${SCRIPTS.bash}; ${call}`,
      `[ -z "$named" ] && compgen -f -- '${words.at(-1)}'`,
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]
    return onlyOf(line, said('bash', [], lines.join('\n')).split('\n'))
  },
  zsh: (line) => {
    return /LINE=(.*?)\s*$/m.exec(said('zsh', ['-f'], `LINE=${JSON.stringify(line)}\n${ZSH}`))?.[1] ?? ''
  },
  fish: (line) => {
    const found = said('fish', ['--no-config'], `source ${SCRIPTS.fish}; complete -C'${line}'`)
    return onlyOf(
      line,
      found.split('\n').map((one) => one.split('\t')[0] ?? ''),
    )
  },
}

/** The line with its last word completed, where one completion only was found. */
function onlyOf(line: string, found: readonly string[]): string {
  const [only, ...others] = found.filter((one) => one !== '')
  return only === undefined || others.length > 0 ? line : `${line.slice(0, line.lastIndexOf(' ') + 1)}${only}`
}

const isThere = (shell: Shell): boolean => spawnSync(shell, ['--version']).status === 0

describe.each(SHELLS.map((shell) => ({ shell })))('$shell (needs $shell)', ({ shell }) => {
  test.skipIf(!isThere(shell)).each([
    ['fhir-ops transl', 'fhir-ops translate'],
    ['fhir-ops token cr', 'fhir-ops token create'],
    ['fhir-ops token create --st', 'fhir-ops token create --storage'],
    ['fhir-ops expand http://example.org --fil', 'fhir-ops expand http://example.org --filter'],
    ['fhir-ops completion fi', 'fhir-ops completion fish'],
    ['fhir-ops help subs', 'fhir-ops help subsumes'],
    ['fhir-ops help token cr', 'fhir-ops help token create'],
    ['fhir-ops --vers', 'fhir-ops --version'],
    ['fhir-ops validate res', 'fhir-ops validate resource.json'],
    ['fhir-ops token create cr', 'fhir-ops token create create.json'],
    ['fhir-ops import res', 'fhir-ops import res'],
  ])('%s', (line, wanted) => {
    expect(completed[shell](line)).toBe(wanted)
  })
})
