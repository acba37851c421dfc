import { Worker } from 'node:worker_threads'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import {
  mergeMeasureParts,
  type CriteriaLanguage,
  type EvaluateMeasureInput,
  type EvaluateMeasureResult,
  type MeasurePart,
} from 'fhir-ops/evaluate'
import type { SubjectsPart } from 'fhir-ops/internal/evaluate'
import { createPace } from 'fhir-ops/internal/context'
import { ANYTHING, checkOptions, COUNT, having, inputShape, listOf, needed, type InputShape } from 'fhir-ops/internal/input'
import { packageFileProblem, threadArguments } from 'fhir-ops/internal/work'
import type { Texts } from '../translator/kept-translations.js'
import type { CqlTranslator, Translation } from '../translator/translator.js'
import { errorOf, failureOf, type Failure } from './thread-failure.js'

/** Options of `evaluateInThreads`. */
export interface MeasureThreadsOptions {
  /** Number of threads, from 1 to 64. Each evaluates one part of the subjects. */
  readonly threads: number
  /** URL of a module that exports `openThread` (`OpenMeasureThread`), which each thread calls to open the storage for itself. */
  readonly module: string
  /** Plain data that is passed to `openThread`. */
  readonly data?: unknown
  /** Criteria languages of the Measure besides those that come with the engine. */
  readonly languages?: readonly CriteriaLanguage[] | undefined
  /** Translates for all threads. */
  readonly translator?: CqlTranslator | undefined
}

/** The context and languages with which a thread evaluates. */
export interface MeasureThread {
  readonly ctx: OperationContext
  readonly languages?: readonly CriteriaLanguage[]
  /** Closes what `openThread` opened. */
  readonly close?: () => Promise<void>
}

/** Opens a storage in a thread. `data` and `translator` are the options of `evaluateInThreads`. */
export type OpenMeasureThread = (data: unknown, translator: CqlTranslator) => Promise<MeasureThread>

const SHAPE: InputShape = inputShape<MeasureThreadsOptions>({
  threads: needed(COUNT),
  module: needed({ words: 'the URL of a module', is: (value) => typeof value === 'string' && URL.canParse(value) }),
  data: ANYTHING,
  languages: listOf(having('criteria languages', ['names', 'evaluate'])),
  translator: having('a translator', ['translate']),
})

const MAX_THREADS = 64

/** The data with which a thread starts. */
export interface ThreadTask {
  readonly module: string
  readonly data: unknown
  readonly input: EvaluateMeasureInput
  readonly part: SubjectsPart
}

/** A message from a thread. */
export interface ThreadMessage {
  readonly progress?: { readonly done: number; readonly total: number | undefined }
  /** A text to translate, with a number that the answer repeats. */
  readonly asked?: { readonly number: number; readonly text: string; readonly includes: Texts; readonly models: Texts }
  readonly part?: MeasurePart
  readonly failure?: Failure
}

/** The answer to a text that a thread asked to translate. */
export interface TranslatedMessage {
  readonly number: number
  readonly translation?: Translation
  readonly failure?: Failure
}

/**
 * Evaluates a Measure as `evaluateMeasure` does, with the subjects divided among threads. Each thread opens the storage for itself, so a storage in memory
 * cannot be used. If one thread fails, the others are terminated and there is no result.
 *
 * @param ctx Used to merge the parts; over the same storage as that of the threads. Its signal ends all threads; `onProgress` receives the sum of all.
 * @throws {OperationError} as `evaluateMeasurePart`, with the part in the message; `aborted` if a thread ended early, `too-costly` if it ran out of memory.
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export async function evaluateInThreads(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  options: MeasureThreadsOptions,
): Promise<EvaluateMeasureResult> {
  checkOptions('evaluateInThreads', SHAPE, options)
  const { threads, languages } = options
  if (threads < 1 || threads > MAX_THREADS) throw new TypeError(`evaluateInThreads: threads must be 1 to ${MAX_THREADS}.`)
  const parts = Array.from({ length: threads }, (_, index) => ({ part: index + 1, of: threads }))
  const evaluated = await evaluatedParts(ctx, { input, parts, options })
  return await mergeMeasureParts(ctx, input, evaluated, languages === undefined ? {} : { languages })
}

interface Evaluating {
  readonly input: EvaluateMeasureInput
  readonly parts: readonly SubjectsPart[]
  readonly options: MeasureThreadsOptions
}

async function evaluatedParts(ctx: OperationContext, { input, parts, options }: Evaluating): Promise<readonly MeasurePart[]> {
  const { module, data, translator } = options
  const pace = createPace(ctx)
  pace.check()
  const show = progressOfAll(ctx, parts.length)
  const workers = parts.map((part, index) => {
    const task: ThreadTask = { module, data, input, part }
    return startPart(task, { translator, onProgress: (progress) => show(index, progress) })
  })
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(new OperationError('aborted', 'The evaluation was aborted.'))
  ctx.signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([Promise.all(workers.map(({ done }) => done)), aborted.promise])
  } finally {
    ctx.signal?.removeEventListener('abort', abort)
    await Promise.all(workers.map(({ end }) => end()))
  }
}

type PartProgress = NonNullable<ThreadMessage['progress']>

/** Adds up the progress of the parts. The total is known when all parts have reported theirs. */
function progressOfAll({ onProgress }: OperationContext, parts: number): (index: number, progress: PartProgress) => void {
  const known = new Map<number, PartProgress>()
  return (index, progress) => {
    known.set(index, progress)
    const all = [...known.values()]
    const total = all.length < parts ? undefined : all.reduce<number | undefined>((sum, one) => plus(sum, one.total), 0)
    onProgress?.({ done: all.reduce((sum, { done }) => sum + done, 0), total, of: 'subjects' })
  }
}

function plus(sum: number | undefined, more: number | undefined): number | undefined {
  return sum === undefined || more === undefined ? undefined : sum + more
}

interface PartThread {
  readonly done: Promise<MeasurePart>
  readonly end: () => Promise<unknown>
}

interface PartOptions {
  readonly translator: CqlTranslator | undefined
  readonly onProgress: (progress: PartProgress) => void
}

function startPart(task: ThreadTask, { translator, onProgress }: PartOptions): PartThread {
  const worker = new Worker(threadFile(), { workerData: task, execArgv: threadArguments(process, import.meta.url) })
  const name = `Part ${task.part.part} of ${task.part.of}`
  const { promise: done, resolve, reject } = Promise.withResolvers<MeasurePart>()
  // Promise.all reports the error.
  done.catch(() => undefined)
  worker.on('message', ({ progress, asked, part, failure }: ThreadMessage) => {
    if (progress !== undefined) onProgress(progress)
    if (asked !== undefined) void answer(worker, translator, asked)
    if (part !== undefined) resolve(part)
    if (failure !== undefined) reject(errorOf(failure, name))
  })
  worker.on('error', (cause) => reject(endedBy(cause, name)))
  worker.on('exit', () => reject(new OperationError('aborted', `${name} ended before it was done.`)))
  return { done, end: () => worker.terminate() }
}

function endedBy(cause: Error, name: string): OperationError {
  const isMemory = 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory
    ? new OperationError('too-costly', `${name} needs too much memory.`, { cause })
    : new OperationError('aborted', packageFileProblem(cause, '@fhir-ops/cql') ?? `${name} ended before it was done: ${cause.message}`, {
        cause,
      })
}

async function answer(worker: Worker, translator: CqlTranslator | undefined, asked: NonNullable<ThreadMessage['asked']>): Promise<void> {
  const { number, text, includes, models } = asked
  const send = (message: TranslatedMessage): void => worker.postMessage(message)
  try {
    if (translator === undefined) throw new OperationError('not-supported', 'CQL cannot be translated here: there is no translator.')
    send({ number, translation: await translator.translate(text, includes, models) })
  } catch (error) {
    send({ number, failure: failureOf(error) })
  }
}

/** The file lies beside the built modules; tests run the sources, which use the built file. */
function threadFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/node/measure-thread.js' : './measure-thread.js', import.meta.url)
}
