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

/** What a thread opens and is asked. */
export interface CheckingOptions {
  readonly engine: EngineOptions
  readonly asked: Asked
}

/** Answers a list of resources by their results, in order. */
type CheckingThread = Thread<readonly Source[], readonly ResourceResult[]>

/** How resources are validated. */
export interface Checking {
  /** Does one on the calling thread. */
  readonly alone: (source: Source) => Promise<Checked>
  readonly threads: number
  readonly options: CheckingOptions
  readonly areMany?: boolean
}

/** This many are done before threads are started: each reads the definitions by itself. */
const ALONE = 500
const BATCH = 100
const BATCH_CHARACTERS = 100_000
/** A resource of this length is validated on this thread: those that validate have little memory, and would end with the process. */
const LARGE_CHARACTERS = 2_000_000
/** Lists that a thread may have waiting. */
const AHEAD = 2

/**
 * Validates resources, many of them on other threads, and gives the results in the order of the resources. However many there are, only some are in memory.
 *
 * @param threads How many threads there may be; 0 or 1: none.
 * @param areMany Whether threads do all of it. Default: from a number of resources on.
 * @throws {OperationError} as `validate`, for the first resource of a list that it cannot do.
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
    // It is awaited later, in the order of the resources: until then a failure is not unhandled.
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
 * Each half of the room that a thread has for new objects, from its start. With half of it threads take a tenth more processor time; with twice as much a twentieth
 * less, and 8 MB more each.
 */
const THREAD_SEMI_SPACE_MB = 4

/**
 * What this thread reads and reports is soon of no use; but as it outlives a round of cleaning or two, V8 would give it ten times the room, and keep that. What
 * the loading of modules got, only a cleaning that is asked for gives back; it takes about 30 ms. Flags hold
 * for all threads, so those that validate, whose room may not grow either, start with what they need.
 */
async function keepYoungGenerationSmall(): Promise<void> {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--min-semi-space-size=${THREAD_SEMI_SPACE_MB}`)
  // A Node with restricted permissions, or one without an inspector, cannot be asked.
  if (!process.features.inspector || 'permission' in process) return
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}

/**
 * What is made for one answer is of no use after it, but with more room V8 would keep it for long. The definitions of R4 are known to have enough; what the caller
 * loads may need any.
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

/** What is asked of every resource. */
export type Asked = Omit<ValidateInput, 'resource'>

/** Validates a resource of a file. */
export async function checkSource(source: Source, { ctx }: Engine, asked: Asked): Promise<Checked> {
  const { valid, findings } = await validate(forRequest(ctx, {}), { ...asked, resource: source.text, places: true })
  return {
    source,
    result: {
      valid,
      findings: findings.map((finding) => inFile(withContent(finding, source.text), source)),
      profiles: profilesOf(source.text),
    },
  }
}

/** A resource may begin further down in its file. */
function inFile({ line = 1, ...finding }: Finding, source: Source): Finding {
  return { ...finding, line: line + source.line - 1 }
}

/** What a file has instead of one resource says more than the character at which that is seen. */
function withContent(finding: Finding, text: string): Finding {
  const content = finding.kind === 'json-fatal' ? otherContentIn(text) : undefined
  return content === undefined ? finding : { ...finding, text: `The text is not one resource as JSON: ${content}.` }
}

/** A text that begins so and has no `meta` anywhere need not be read to know what is in it. */
const TYPE_FIRST = /^\s*\{\s*"resourceType"\s*:\s*"([A-Za-z]+)"/

function profilesOf(text: string): readonly string[] {
  const type = text.includes('"meta"') ? undefined : TYPE_FIRST.exec(text)?.[1]
  if (type !== undefined) return [type]
  const resource = parsedJson(text)
  const meta = isObject(resource) ? resource['meta'] : undefined
  const claimed = isObject(meta) && Array.isArray(meta['profile']) ? meta['profile'].filter((one) => typeof one === 'string') : []
  return claimed.length > 0 ? claimed : [(isObject(resource) ? stringAt(resource, 'resourceType') : undefined) ?? 'unreadable']
}
