import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { useOf } from '../child-process-use.js'
import { markdownTable } from '../markdown.js'
import { exampleTexts } from './examples.js'

const ROUNDS = 4
/** Number of first rounds that are not counted, because both compile code in them. */
const WARM_UPS = 2
/** Start of examples that are left out: each takes HL7's validator about five seconds, even when warm, and would dominate the result. */
const LEFT_OUT = '{"resourceType":"StructureDefinition"'
const PATIENT = '{"resourceType":"Patient","id":"a","active":true}'
const COMMAND = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

/**
 * HL7's Java validator compared with this library: R4 examples from text, one after the other, after a warm-up, and the first answer of a process.
 * `FHIR_OPS_ORACLE` is the command of the validator: that of `packages/conformance/oracle`, which builds it from Maven Central.
 */
export async function java(): Promise<string> {
  const command = process.env['FHIR_OPS_ORACLE']
  if (command === undefined || command === '') {
    return 'HL7’s Java validator was not measured: FHIR_OPS_ORACLE does not name its command (packages/conformance/oracle/README.md says how it is built).'
  }
  if (spawnSync('java', ['-version']).error !== undefined) return 'HL7’s Java validator was not measured: there is no java on the PATH.'
  const examples = exampleTexts()
    .map((text) => JSON.stringify(JSON.parse(text)))
    .filter((text) => !text.startsWith(LEFT_OUT))
  const theirs = await theirTimes(command, examples)
  const own = { ...(await ownTimes(examples)), first: await ownFirst() }
  const row = (name: string, { round, first }: Times): string[] => [
    name,
    ((round.ms * 1_000) / examples.length).toFixed(0),
    ((round.processorMs * 1_000) / examples.length).toFixed(0),
    first.ms.toFixed(0),
    first.processorMs.toFixed(0),
  ]
  const ratio = (of: (times: Times) => number): string => (of(theirs) / of(own)).toFixed(0)
  return markdownTable(
    [
      `${examples.length} R4 examples but StructureDefinitions, from text`,
      'µs each, warm',
      'of processor time',
      'first answer of a process, ms',
      'of processor time',
    ],
    [
      row("HL7's Java validator", theirs),
      row('fhir-ops, everything', own),
      [
        'times as fast',
        ratio(({ round }) => round.ms),
        ratio(({ round }) => round.processorMs),
        ratio(({ first }) => first.ms),
        ratio(({ first }) => first.processorMs),
      ],
    ],
  )
}

interface Taken {
  readonly ms: number
  readonly processorMs: number
}

interface Times {
  /** Validating all examples once. */
  readonly round: Taken
  /** From the start of a process to its answer about a small Patient. */
  readonly first: Taken
}

/** The round with the least processor time, because other processes only lengthen it. */
function leastOf(rounds: readonly Taken[]): Taken {
  const [least] = rounds.toSorted((a, b) => a.processorMs - b.processorMs)
  if (least === undefined) throw new TypeError('Nothing was measured.')
  return least
}

async function theirTimes(command: string, examples: readonly string[]): Promise<Times> {
  const start = performance.now()
  // `exec` replaces the shell, so that the usage of the process is that of Java.
  const child = spawn(`exec ${command}`, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  const used = (): number => useOf(child.pid)?.processorMs ?? Number.NaN
  try {
    const ask = questions(child)
    await ask(PATIENT)
    const first = { ms: performance.now() - start, processorMs: used() }
    const rounds: Taken[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const [began, before] = [performance.now(), used()]
      for (const text of examples) await ask(text)
      if (round >= WARM_UPS) rounds.push({ ms: performance.now() - began, processorMs: used() - before })
    }
    return { round: leastOf(rounds), first }
  } finally {
    child.stdin.end()
    child.kill()
  }
}

/** Returns a function that sends a line and waits for the line that answers it. */
function questions(child: ChildProcessByStdio<Writable, Readable, null>): (line: string) => Promise<void> {
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async (line) => {
    child.stdin.write(`${line}\n`)
    const { done } = await answers.next()
    if (done === true) throw new Error('The command of FHIR_OPS_ORACLE has ended without an answer.')
  }
}

async function ownTimes(examples: readonly string[]): Promise<{ readonly round: Taken }> {
  const ctx = createContext({ storage: memoryStorage(), ...r4() })
  const rounds: Taken[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [began, before] = [performance.now(), process.cpuUsage()]
    for (const resource of examples) await validate(ctx, { resource, places: true })
    const { user, system } = process.cpuUsage(before)
    if (round >= WARM_UPS) rounds.push({ ms: performance.now() - began, processorMs: (user + system) / 1_000 })
  }
  return { round: leastOf(rounds) }
}

/** `fhir-ops validate` of one file. */
async function ownFirst(): Promise<Taken> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-first-'))
  try {
    const file = join(folder, 'patient.json')
    await writeFile(file, PATIENT)
    const taken = Array.from({ length: ROUNDS }, () => {
      const start = performance.now()
      const { status, stderr } = spawnSync(process.execPath, ['--import', USE_OF_ITSELF, COMMAND, 'validate', file], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
      return { ms: performance.now() - start, processorMs: Number(/processor ms (\d+)/.exec(stderr)?.[1]) }
    })
    return leastOf(taken)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A module that makes a process print its processor time at exit. */
const USE_OF_ITSELF =
  'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();process.stderr.write(`processor ms ${Math.round((user+system)/1000)}\\n`)})'
