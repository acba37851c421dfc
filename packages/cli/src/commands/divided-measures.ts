import { evaluateInThreads } from '@fhir-ops/cql/node'
import { InvalidArgumentError, Option } from 'commander'
import { forRequest, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import {
  evaluateMeasurePart,
  mergeMeasureParts,
  type CriteriaLanguage,
  type EvaluateMeasureInput,
  type EvaluateMeasureResult,
  type MeasurePart,
} from 'fhir-ops/evaluate'
import type { SubjectsPart } from 'fhir-ops/internal/evaluate'
import { isObject } from 'fhir-ops/internal/json'
import { openEngine } from '../engine.js'
import type { Io } from '../io.js'
import { checkJson } from '../json-fault.js'
import type { MeasureThreadData } from '../measure-thread.js'
import { progressOn } from '../progress.js'
import { fileText } from '../files.js'
import { withLanguages } from './measure-command.js'
import { PATIENCE_MS } from './run-operation.js'

/** How `fhir-ops evaluate` divides the subjects; all members are absent for a single run. */
export interface DivisionOptions {
  readonly threads?: number
  readonly part?: SubjectsPart
  readonly merge?: readonly string[]
}

const OTHERS = ['explain', 'coverage', 'watch']

/** `--threads`, `--part` and `--merge`. */
export function divisionOptions(): readonly Option[] {
  return [
    new Option('--threads <count>', 'divide the patients among this many threads; over sqlite:FILE or postgres:URL')
      .argParser(threadsIn)
      .conflicts([...OTHERS, 'part', 'merge']),
    new Option('--part <part>', 'evaluate one part of the patients (2/4: the second of four), and print it for --merge')
      .argParser(partIn)
      .conflicts([...OTHERS, 'threads', 'merge', 'json']),
    new Option('--merge <file...>', 'report on all parts, from files with what --part printed').conflicts([...OTHERS, 'threads', 'part']),
  ]
}

const MAX_THREADS = 64

function threadsIn(text: string): number {
  const count = Number(text)
  if (/^\d{1,2}$/.test(text) && count >= 1 && count <= MAX_THREADS) return count
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_THREADS}.`)
}

function partIn(text: string): SubjectsPart {
  const [, part, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []
  if (part === undefined || of === undefined) throw new InvalidArgumentError('It must be two numbers, such as 2/4.')
  return { part: Number(part), of: Number(of) }
}

/** The evaluation, and its storage. */
export interface DividedCall {
  readonly input: EvaluateMeasureInput
  readonly storage: string
  readonly load: readonly string[]
}

/**
 * Evaluates in threads, evaluates one part, or merges parts. A part is printed.
 *
 * @returns The result of all parts; `undefined` for a single part.
 * @throws {OperationError} `parameter-value` for threads over a storage in memory.
 */
export async function evaluateDivided(call: DividedCall, division: DivisionOptions, io: Io): Promise<EvaluateMeasureResult | undefined> {
  const { storage, load } = call
  if (division.threads !== undefined && storage === 'memory')
    throw new OperationError(
      'parameter-value',
      '--threads needs a storage that each thread can open, such as sqlite:FILE or postgres:URL: one in memory belongs to one thread.',
    )
  const engine = await openEngine({ storage, load, limits: { operationTimeoutMs: PATIENCE_MS } }, io)
  const progress = progressOn(io)
  const ctx = forRequest(engine.ctx, {
    onProgress: ({ done, total }) => {
      progress.show({ doing: 'evaluating', done, thing: 'patient', share: total === undefined || total === 0 ? undefined : done / total })
    },
  })
  try {
    return await withLanguages(async (languages, translator) => {
      if (division.threads === undefined) return await partOrWhole(ctx, { input: call.input, division, languages }, io)
      const data: MeasureThreadData = { storage, operationTimeoutMs: PATIENCE_MS }
      return await evaluateInThreads(ctx, call.input, { threads: division.threads, module: threadModule(), data, languages, translator })
    })
  } finally {
    progress.end()
    await engine.close()
  }
}

interface Asked {
  readonly input: EvaluateMeasureInput
  readonly division: DivisionOptions
  readonly languages: readonly CriteriaLanguage[]
}

async function partOrWhole(
  ctx: OperationContext,
  { input, division, languages }: Asked,
  io: Io,
): Promise<EvaluateMeasureResult | undefined> {
  const { part, merge = [] } = division
  if (part !== undefined) {
    io.out(JSON.stringify(await evaluateMeasurePart(ctx, input, part, { languages })))
    return undefined
  }
  const parts: MeasurePart[] = []
  for (const file of merge) parts.push(await partAt(file))
  return await mergeMeasureParts(ctx, input, parts, { languages }).catch((error: unknown) => {
    throw ofOption(error)
  })
}

/** Reports an error in the parts as an error of `--merge`. */
function ofOption(error: unknown): unknown {
  if (!(error instanceof OperationError) || error.expression[0] !== 'parts') return error
  return new OperationError(error.code, error.message, { ...error.detail, expression: ['merge'], cause: error })
}

/** Reads a part. Which measure it belongs to is checked when it is merged. */
async function partAt(file: string): Promise<MeasurePart> {
  const text = await fileText(file)
  checkJson(text, file, ', as `fhir-ops evaluate --part` prints it')
  const part: MeasurePart = JSON.parse(text)
  if (isObject(part) && part.format === 'measure-part') return part
  throw new OperationError('body-invalid', `${file} is not what \`fhir-ops evaluate --part\` prints.`)
}

/** The thread's file next to the program; tests run the sources but use the built thread. */
function threadModule(): string {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/measure-thread.js' : './measure-thread.js', import.meta.url).href
}
