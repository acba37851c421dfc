import type { StrictJsonOptions } from 'fhir-ops/internal/json'
import type { TargetLimits } from './http/target.js'

/** Bounds on a JSON body. */
interface JsonLimits {
  readonly jsonDepth: number
  /** Members of all objects together; as many lists, and values in lists. */
  readonly jsonMembers: number
  /** Characters of one string; base64 content is exempt. */
  readonly stringLength: number
}

/** Bounds on requests; those on the work itself are in the operation context. */
export interface HandlerLimits extends JsonLimits, TargetLimits {
  readonly bodyBytes: number
  /** A ConceptMap, CodeSystem or ValueSet that is stored may be this large, and have as many members as bytes / 20. */
  readonly terminologyBytes: number
  /** Content of a Binary that is sent as it is. */
  readonly binaryBytes: number
  /** Requests that are served at the same time. */
  readonly concurrency: number
  /** Requests that wait for their turn; beyond that `throttled`. */
  readonly queue: number
  /** Resources that one conditional delete may delete, all or none, where the storage can; more is `multiple-matches`. */
  readonly conditionalDeletes: number
  /** Entries of a batch or transaction; more is `too-costly`. */
  readonly bundleEntries: number
  /** How long `close` waits for the work under way before it cancels it. */
  readonly closeMs: number
  /** Asynchronous requests that are carried out at the same time. */
  readonly asyncRuns: number
  /** Asynchronous requests that wait, run, or whose answers are kept; one session may have a fifth of them. Beyond that `throttled`. */
  readonly asyncResults: number
  /** Bytes of their answers together. */
  readonly asyncBytes: number
  /** Wall time of one of them in milliseconds. */
  readonly asyncTimeoutMs: number
  /** How long the readiness check may take before `GET /readyz` answers 503. */
  readonly readinessMs: number
}

/** The default limits of a handler. */
export const DEFAULT_HANDLER_LIMITS: HandlerLimits = {
  bodyBytes: 4 * 1024 * 1024,
  terminologyBytes: 32 * 1024 * 1024,
  binaryBytes: 16 * 1024 * 1024,
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

/** The limits of a body of at most this many bytes: a larger one may have more members, too. */
export function limitsForBody(limits: HandlerLimits, maxBytes: number): HandlerLimits {
  if (maxBytes <= limits.bodyBytes) return limits
  return { ...limits, jsonMembers: Math.max(limits.jsonMembers, Math.floor(maxBytes / BYTES_OF_MEMBER)) }
}

/**
 * How many times the time limit of an operation a request has: where a body may be longer than others, once for each half of that length, since a large
 * terminology cannot be written in parts.
 *
 * @param maxBytes Most that the body may have.
 */
export function timeLimitFactor({ bodyBytes }: Pick<HandlerLimits, 'bodyBytes'>, maxBytes: number, bytes: number = 0): number {
  return maxBytes <= bodyBytes ? 1 : Math.max(1, Math.ceil(bytes / (bodyBytes / 2)))
}

/** How the JSON of a body is read; errors say where it is wrong. */
export function strictWithin({ jsonDepth, jsonMembers, stringLength }: JsonLimits): StrictJsonOptions {
  return { maxDepth: jsonDepth, maxMembers: jsonMembers, maxString: stringLength, places: true }
}
