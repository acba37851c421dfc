import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { compileLibrary, createEvaluation, literalText, type CqlLibrary } from '@fhir-ops/cql'
import { createTranslator, type CqlTranslator } from '@fhir-ops/cql/translator'
import { r4TypeModel } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { beforeAll, describe, expect, test } from 'vitest'
import { alike, DECISIONS, type Answers } from './decisions.js'
import { randomExpression } from './expressions.js'

const FILE = fileURLToPath(new URL('../../cql-oracle/facts.txt.gz', import.meta.url))
/** A command that evaluates a library by the reference engine, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_CQL_ORACLE']
const SEED = 20_240_229
const COUNT = 6_000
const NOW = new Date('2024-02-29T12:00:00Z')

let translator: CqlTranslator
beforeAll(async () => {
  translator = await createTranslator()
})

describe('random expressions, and what the reference engine makes of them', () => {
  test.runIf(ORACLE !== undefined)('are asked anew', async () => {
    const answers = await askedOracle(ORACLE ?? '', sourceOf((await valid()).map((number) => [number, textOf(number)])))
    writeFileSync(FILE, gzipSync(answers, { level: 9 }))
  })

  test('differ only where it has been decided', async () => {
    const facts = [...knownFacts()]
    const library = await compiled(facts.map(([number]) => [number, textOf(number)]))
    const answers = facts.map(([number, reference]): Answers => ({ text: textOf(number), ours: ourAnswer(library, number), reference }))
    const different = answers.filter(({ ours, reference }) => !alike(ours, reference))
    const reasons = Map.groupBy(different, decisionOn)
    process.stdout.write(tableOf(facts.length, reasons))
    expect(reasons.get('undecided') ?? []).toEqual([])
    expect(facts.length).toBeGreaterThan(5_000)
    expect(different.length).toBeLessThan(facts.length / 10)
    await expect(different.map(lineOf).join('')).toMatchFileSnapshot('../../cql-oracle/differences.tsv')
  })
})

const decisionOn = (answers: Answers): string => DECISIONS.find(({ applies }) => applies(answers))?.name ?? 'undecided'

/** Every difference is written down with both answers: one that a decision covers by its pattern, but that nobody has looked at, shows as a change of the file. */
function lineOf(answers: Answers): string {
  return `${[decisionOn(answers), answers.text, answers.ours, answers.reference].join('\t')}\n`
}

const textOf = (number: number): string => randomExpression(SEED, number).text

type NumberedText = readonly [number: number, text: string]

function sourceOf(expressions: readonly NumberedText[]): string {
  return ["library T version '1'", ...expressions.map(([number, expression]) => `define X${number}: ${expression}`)].join('\n')
}

/** The numbers of the expressions that have a type. */
async function valid(): Promise<readonly number[]> {
  let numbers = Array.from({ length: COUNT }, (_, number) => number)
  for (;;) {
    const { problems } = await translator.translate(sourceOf(numbers.map((number) => [number, textOf(number)])))
    const lines = new Set(problems.filter(({ severity }) => severity === 'error').map(({ line = 0 }) => line))
    if (lines.size === 0) return numbers
    numbers = numbers.filter((_, index) => !lines.has(index + 2))
  }
}

async function askedOracle(command: string, source: string): Promise<string> {
  const program = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  program.stdin.end(source)
  return await text(program.stdout)
}

/** What the reference engine said, by the number of the expression. */
function knownFacts(): ReadonlyMap<number, string> {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n')
  return new Map(
    lines.map((line) => {
      const [name = '', answer = ''] = line.split('\t')
      return [Number(name.slice(1)), answer] as const
    }),
  )
}

async function compiled(expressions: readonly NumberedText[]): Promise<CqlLibrary> {
  const { elm, problems } = await translator.translate(sourceOf(expressions))
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return compileLibrary(elm, { model: r4TypeModel(), convert: unitConversion() })
}

function ourAnswer(library: CqlLibrary, number: number): string {
  try {
    return literalText(library.definition(`X${number}`)?.compute(createEvaluation({ now: NOW })) ?? null)
  } catch (error) {
    return `ERROR ${error instanceof Error ? error.message : String(error)}`
  }
}

function tableOf(runs: number, reasons: ReadonlyMap<string, readonly Answers[]>): string {
  const rows = DECISIONS.map(({ name, right, why }) => `| ${name} | ${reasons.get(name)?.length ?? 0} | ${right} | ${why} |\n`)
  return `${runs} expressions\n\n| difference | expressions | right | why |\n|---|---|---|---|\n${rows.join('')}`
}
