import type { StrictJsonOptions } from 'fhir-ops/internal/json'
import type { TargetLimits } from './http/target.js'

/** Bounds on a JSON body. */
interface JsonLimits {
  /** Levels of objects and lists within each other. */
  readonly jsonDepth: number
  /** Total number of members in all objects. The same limit applies to the number of lists, and to the number of values that contain no others, in members or in lists. */
  readonly jsonMembers: number
  /** Characters of one string; base64 content is exempt. */
  readonly stringLength: number
}

/** Limits on requests; limits on the work itself are in the operation context. */
export interface HandlerLimits extends JsonLimits, TargetLimits {
  /** Maximum size of a body, in bytes, of requests without a limit of their own. */
  readonly bodyBytes: number
  /** Maximum size of a ConceptMap, CodeSystem or ValueSet that is stored; it may have as many members as this number / 20. */
  readonly terminologyBytes: number
  /** Maximum size of a Binary's content that is sent in its own format. */
  readonly binaryBytes: number
  /**
   * Bytes of all long bodies (above 64 KiB) that are processed at the same time, each from when it has arrived until its answer is ready. A body that is longer than
   * half of this counts as half. Others wait in their order, and fail with `throttled` after `longBodyWaitMs`, or at once if `queue` of them wait.
   */
  readonly longBodyBytes: number
  /** How long a long body waits for room, in milliseconds. */
  readonly longBodyWaitMs: number
  /** Requests served at the same time. */
  readonly concurrency: number
  /** Requests waiting for their turn; further ones fail with `throttled`. */
  readonly queue: number
  /** Resources that one conditional delete may delete (all or none, if the storage supports it); more fail with `multiple-matches`. */
  readonly conditionalDeletes: number
  /** Entries of a batch or transaction; more fail with `too-costly`. */
  readonly bundleEntries: number
  /** How long `close` waits for running work, in milliseconds, before it cancels the work. */
  readonly closeMs: number
  /** Asynchronous requests that run at the same time. */
  readonly asyncRuns: number
  /** Asynchronous requests that wait, run, or have a stored answer; one session may have a fifth of them. Further ones fail with `throttled`. */
  readonly asyncResults: number
  /** Total bytes of the stored answers of asynchronous requests. */
  readonly asyncBytes: number
  /** Wall time of one asynchronous request, in milliseconds. */
  readonly asyncTimeoutMs: number
  /** How long the readiness check may take, in milliseconds, before `GET /readyz` answers 503. */
  readonly readinessMs: number
}

/** The default limits of a handler. */
export const DEFAULT_HANDLER_LIMITS: HandlerLimits = {
  bodyBytes: 4 * 1024 * 1024,
  terminologyBytes: 32 * 1024 * 1024,
  binaryBytes: 16 * 1024 * 1024,
  longBodyBytes: 32 * 1024 * 1024,
  longBodyWaitMs: 10_000,
  urlBytes: 8 * 1024,
  queryParameters: 1_000,
  jsonDepth: 128,
  jsonMembers: 200_000,
  stringLength: 1024 * 1024,
  concurrency: 256,
  queue: 256,
  conditionalDeletes: 1,
  bundleEntries: 5_000,
  closeMs: 8_000,
  readinessMs: 2_000,
  asyncRuns: 2,
  asyncResults: 100,
  asyncBytes: 64 * 1024 * 1024,
  asyncTimeoutMs: 3_600_000,
}

const BYTES_OF_MEMBER = 20

/** Limits of a body of at most `maxBytes`: a larger body may also have more members. */
export function limitsForBody(limits: HandlerLimits, maxBytes: number): HandlerLimits {
  if (maxBytes <= limits.bodyBytes) return limits
  return { ...limits, jsonMembers: Math.max(limits.jsonMembers, Math.floor(maxBytes / BYTES_OF_MEMBER)) }
}

/**
 * The time limit of a request, as a multiple of the operation's limit. Where bodies may be longer than usual, the limit applies once for each half of the
 * usual length, because a large terminology cannot be written in parts.
 *
 * @param maxBytes Maximum length of the body.
 */
export function timeLimitFactor({ bodyBytes }: Pick<HandlerLimits, 'bodyBytes'>, maxBytes: number, bytes: number = 0): number {
  return maxBytes <= bodyBytes ? 1 : Math.max(1, Math.ceil(bytes / (bodyBytes / 2)))
}

/** Options for reading the JSON of a body; errors say where it is wrong. */
export function strictWithin({ jsonDepth, jsonMembers, stringLength }: JsonLimits): StrictJsonOptions {
  return { maxDepth: jsonDepth, maxMembers: jsonMembers, maxString: stringLength, places: true }
}
