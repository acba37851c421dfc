import { forRequest } from 'fhir-ops/context'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { validate, type Finding, type ValidateInput } from 'fhir-ops/validate'
import { setFlagsFromString } from 'node:v8'
import type { ResourceLimits } from 'node:worker_threads'
import type { Engine, EngineOptions } from '../engine.js'
import { otherContentIn, parsedJson } from '../json-fault.js'
import type { Source } from '../load/sources.js'
import { startThread, type Thread } from '../thread.js'
import type { Checked, ResourceResult } from './report.js'

/** What a thread opens, and the options of its validations. */
export interface CheckingOptions {
  readonly engine: EngineOptions
  readonly asked: Asked
}

/** Answers a list of resources with their results, in order. */
type CheckingThread = Thread<readonly Source[], readonly ResourceResult[]>

/** How to validate resources. */
export interface Checking {
  /** Validates a resource in the calling thread. */
  readonly alone: (source: Source) => Promise<Checked>
  readonly threads: number
  readonly options: CheckingOptions
  readonly areMany?: boolean
}

/** Number of resources validated before threads are started, because each thread has to read the definitions. */
const ALONE = 500
const BATCH = 100
const BATCH_CHARACTERS = 100_000
/** Resources of this length are validated in the calling thread: checking threads have little memory, and running out of it would end the process. */
const LARGE_CHARACTERS = 2_000_000
/** Lists that may wait for a thread. */
const AHEAD = 2

/**
 * Validates resources, in other threads if there are many, and yields the results in the order of the resources. Only some of them are in memory at a time.
 *
 * @param threads Maximum number of threads; none for 0 or 1.
 * @param areMany True if threads do all the work. Default: threads start after a number of resources.
 * @throws {OperationError} as `validate`, for the first resource in a list that it cannot validate.
 */
export async function* checkInOrder(
  sources: AsyncIterable<Source>,
  { alone, threads, options, areMany = false }: Checking,
): AsyncGenerator<Checked> {
  const running: CheckingThread[] = []
  const waiting: Promise<readonly Checked[]>[] = []
  let turn = 0
  const send = (batch: readonly Source[]): void => {
    if (running.length < threads) running.push(startThread('validate/checking-thread', options, limitsFor(options)))
    const answer = checkedBy(running, turn++, batch)
    // It is awaited later, in the order of the resources; until then, a failure must not count as unhandled.
    answer.catch(() => {})
    waiting.push(answer)
  }
  try {
    const first = threads < 2 ? Infinity : areMany ? 0 : ALONE
    let count = 0
    for await (const batch of batchesOf(sources, () => (count++ < first ? 1 : BATCH))) {
      const isForThreads = count > first && batch.every(({ text }) => text.length < LARGE_CHARACTERS)
      if (isForThreads && running.length === 0) await keepYoungGenerationSmall()
      if (isForThreads) send(batch)
      else waiting.push(Promise.all(batch.map(alone)))
      if (count <= first || waiting.length >= threads * AHEAD) yield* (await waiting.shift()) ?? []
    }
    for (const answer of waiting) yield* await answer
  } finally {
    await Promise.all(running.map((thread) => thread.end()))
  }
}

/**
 * Initial size, in MB, of each half of a thread's young generation. With half of that, threads take a tenth more processor time; with twice as much, a
 * twentieth less, but 8 MB more memory each.
 */
const THREAD_SEMI_SPACE_MB = 4

/**
 * What this thread reads and reports is soon garbage, but because it survives a collection or two, V8 would enlarge the young generation tenfold and keep
 * it. Memory used for loading modules is returned only by an explicit collection, which takes about 30 ms. Flags apply to all threads, so checking
 * threads, which may not grow either, start with the size that they need.
 */
async function keepYoungGenerationSmall(): Promise<void> {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--min-semi-space-size=${THREAD_SEMI_SPACE_MB}`)
  // The collection cannot be requested if Node has restricted permissions or no inspector.
  if (!process.features.inspector || 'permission' in process) return
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}

/**
 * Limits the memory of threads: what is made for one answer is garbage afterwards, but with more room V8 would keep it for long. The limits are known to
 * be sufficient for the definitions of R4; with other content, any amount may be needed.
 */
function limitsFor({ engine: { storage, load = [] } }: CheckingOptions): ResourceLimits {
  return storage === 'memory' && load.length === 0
    ? { maxYoungGenerationSizeMb: 3 * THREAD_SEMI_SPACE_MB, maxOldGenerationSizeMb: 256 }
    : {}
}

async function checkedBy(running: readonly CheckingThread[], turn: number, batch: readonly Source[]): Promise<readonly Checked[]> {
  const [thread] = running.slice(turn % running.length)
  if (thread === undefined) throw new TypeError('There are no threads.')
  const results = await thread.ask(batch)
  return batch.flatMap((source, index) => {
    const result = results[index]
    return result === undefined ? [] : [{ source, result }]
  })
}

async function* batchesOf(sources: AsyncIterable<Source>, size: () => number): AsyncGenerator<readonly Source[]> {
  let batch: Source[] = []
  let characters = 0
  for await (const source of sources) {
    batch.push(source)
    characters += source.text.length
    if (batch.length < size() && characters < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

/** Options of `validate` for every resource. */
export type Asked = Omit<ValidateInput, 'resource'>

/** Validates a resource of a file. */
export async function checkSource(source: Source, { ctx }: Engine, asked: Asked): Promise<Checked> {
  const { valid, findings } = await validate(forRequest(ctx, {}), { ...asked, resource: source.text, places: true })
  return {
    source,
    result: {
      valid,
      findings: findings.map((finding) => inFile(withContent(finding, source), source)),
      profiles: profilesOf(source.text),
    },
  }
}

/** Converts a line in the resource to a line in its file. */
function inFile({ line = 1, ...finding }: Finding, source: Source): Finding {
  return { ...finding, line: line + source.line - 1 }
}

/** If a text is something other than one resource, or none, saying so is more helpful than the character at which that becomes apparent. */
function withContent(finding: Finding, { text, problem }: Source): Finding {
  if (problem !== undefined) return { ...finding, text: problem }
  const content = finding.kind === 'json-fatal' ? otherContentIn(text) : undefined
  return content === undefined ? finding : { ...finding, text: `The text is not one resource as JSON: ${content}.` }
}

/** If a text begins like this and contains no `meta`, its type is known without parsing it. */
const TYPE_FIRST = /^\s*\{\s*"resourceType"\s*:\s*"([A-Za-z]+)"/

function profilesOf(text: string): readonly string[] {
  const type = text.includes('"meta"') ? undefined : TYPE_FIRST.exec(text)?.[1]
  if (type !== undefined) return [type]
  const resource = parsedJson(text)
  const meta = isObject(resource) ? resource['meta'] : undefined
  const claimed = isObject(meta) && Array.isArray(meta['profile']) ? meta['profile'].filter((one) => typeof one === 'string') : []
  return claimed.length > 0 ? claimed : [(isObject(resource) ? stringAt(resource, 'resourceType') : undefined) ?? 'unreadable']
}
