import { AMOUNT, inputShape, type InputShape } from '../input/index.js'

/** Bounds on the work for one call. Every one can be set in `createContext`. */
export interface Limits {
  /** Most codes of an expansion for which no `count` was asked. */
  readonly maxExpansion: number
  /** Most bytes of an answer. */
  readonly maxAnswerBytes: number
  /** Most value sets on one path of imports. */
  readonly maxImportDepth: number
  /** Most ConceptMaps on one `unmapped` chain. */
  readonly maxMapChain: number
  /** Longest text filter, in characters. */
  readonly maxFilterLength: number
  /** Wall time of one operation in milliseconds; bots have their own. */
  readonly operationTimeoutMs: number
  /** Most issues of one validation. */
  readonly maxIssues: number
}

/** The limits of a context that sets some. What is set was checked with `LIMITS_SHAPE`. */
export function limitsOf(set: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...set }
}

/** What each limit must be. */
export const LIMITS_SHAPE: InputShape = inputShape<Limits>({
  maxExpansion: AMOUNT,
  maxAnswerBytes: AMOUNT,
  maxImportDepth: AMOUNT,
  maxMapChain: AMOUNT,
  maxFilterLength: AMOUNT,
  operationTimeoutMs: AMOUNT,
  maxIssues: AMOUNT,
})

/** The limits of a context that sets none. */
export const DEFAULT_LIMITS: Limits = {
  maxExpansion: 100_000,
  maxAnswerBytes: 32 * 1024 * 1024,
  maxImportDepth: 100,
  maxMapChain: 16,
  maxFilterLength: 4_096,
  operationTimeoutMs: 5_000,
  maxIssues: 100,
}
