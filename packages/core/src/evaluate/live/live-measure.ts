import type { OperationContext } from '../../context/index.js'
import { AMOUNT, checkInput, checkOptions, inputShape, type InputShape } from '../../input/index.js'
import { EVALUATE_INPUT, evaluateOver, type EvaluateMeasureInput, type EvaluateMeasureOptions } from '../evaluate-measure.js'
import { LANGUAGES, type KeptResults } from '../languages/index.js'
import type { EvaluateMeasureResult } from '../result.js'
import { createChangeReader } from './change-reader.js'

/** Options of `createLiveMeasure`. */
export interface LiveMeasureOptions extends EvaluateMeasureOptions {
  /**
   * Maximum memory for results of subjects, in bytes; a Measure that needs more is evaluated completely each time. Default 256 MB, for about two million
   * patients.
   */
  readonly maxKeptBytes?: number
  /**
   * Maximum time in milliseconds from a write's own time until it is visible: the longest transaction, plus the difference between the clocks of
   * processes. Changes within this time before the last evaluation are read again; if there are more than 50,000, all subjects are evaluated. Default 30,000.
   */
  readonly settlingMs?: number
}

/** A Measure for which the results of each subject are kept. */
export interface LiveMeasure {
  /**
   * Counts the populations, like `evaluateMeasure`, over what is stored now. After the first time, only subjects are evaluated for whom a resource was
   * put, deleted or moved to another subject; all subjects after a change of the Measure, a Library, a value set or a code system. Evaluations run one
   * after the other.
   *
   * @throws {OperationError} as `evaluateMeasure`.
   */
  evaluate(): Promise<EvaluateMeasureResult>
}

const SHAPE: InputShape = inputShape<LiveMeasureOptions>({ languages: LANGUAGES, maxKeptBytes: AMOUNT, settlingMs: AMOUNT })

/** Types of which a change may affect all subjects. */
const DEFINITIONS = ['Measure', 'Library', 'ValueSet', 'CodeSystem', 'NamingSystem', 'StructureDefinition', 'Group']

const MAX_KEPT_BYTES = 256 * 1024 * 1024
const SETTLING_MS = 30_000

/**
 * Keeps the report of a Measure up to date, at a cost that depends on how much has changed. Results of criteria in CQL are kept for each subject; the
 * storage counts searches again. Changes are read from `storage.history`; without it, all subjects are evaluated each time. The value sets of packages and
 * imported code systems must not change meanwhile.
 *
 * @param ctx The context of the evaluations; its time limit applies to each of them.
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function createLiveMeasure(ctx: OperationContext, input: EvaluateMeasureInput, options: LiveMeasureOptions = {}): LiveMeasure {
  checkOptions('createLiveMeasure', SHAPE, options)
  checkInput(ctx, input, EVALUATE_INPUT)
  const { maxKeptBytes = MAX_KEPT_BYTES, settlingMs = SETTLING_MS, ...evaluating } = options
  const keptByIndex = new Map<number, KeptResults>()
  const keptResults = (index: number): KeptResults => {
    const kept = keptByIndex.get(index) ?? { changes: createChangeReader(ctx, settlingMs), maxBytes: maxKeptBytes }
    keptByIndex.set(index, kept)
    return kept
  }
  const definitions = createChangeReader(ctx, settlingMs)
  // Changes are read before any definition is: later ones are found the next time.
  const evaluated = async (): Promise<EvaluateMeasureResult> => {
    const { subjects, done } = await definitions.touched({ subjectType: 'Measure', types: [], common: DEFINITIONS })
    if (subjects === 'all') keptByIndex.clear()
    done()
    return await evaluateOver(ctx, input, { ...evaluating, keptResults })
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    evaluate() {
      const next = last.then(evaluated)
      last = next.catch(() => undefined)
      return next
    },
  }
}

/** Options of `watchMeasure`. */
export interface WatchMeasureOptions extends LiveMeasureOptions {
  /** Milliseconds between evaluations. Default 1,000. */
  readonly everyMs?: number
}

/**
 * Yields the report of a Measure, and a new report whenever its counts change. Ends when the consumer ends it, or when `ctx.signal` is aborted.
 *
 * @yields Results as of `evaluateMeasure`; the first immediately.
 * @throws {OperationError} as `evaluateMeasure`; then it ends.
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function watchMeasure(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  options: WatchMeasureOptions = {},
): AsyncGenerator<EvaluateMeasureResult, void, undefined> {
  const { everyMs = 1_000, ...others } = options
  if (!Number.isFinite(everyMs) || everyMs < 1) throw new TypeError('watchMeasure: everyMs must be a number of milliseconds.')
  return reports(createLiveMeasure(ctx, input, others), everyMs, ctx.signal)
}

async function* reports(
  live: LiveMeasure,
  everyMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<EvaluateMeasureResult, void, undefined> {
  let known: string | undefined
  while (signal?.aborted !== true) {
    const result = await live.evaluate()
    const counted = JSON.stringify({ ...result, id: '', date: '' })
    if (counted !== known) yield result
    known = counted
    await wait(everyMs, signal)
  }
}

/** Resolves after a time, or when the signal is aborted. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
