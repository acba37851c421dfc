import { OperationError, quoted } from '../errors/index.js'

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

/**
 * The limits of a context that sets some.
 *
 * @throws {OperationError} `parameter-value` for one that is not a number, 0 or more; `parameter-unsupported` for one that there is not.
 */
export function limitsOf(set: Partial<Limits> = {}): Limits {
  for (const [name, value] of Object.entries<unknown>(set)) {
    const expression = [`limits.${name}`]
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw new OperationError('parameter-unsupported', `There is no limit ${quoted(name)}.`, { expression })
    if (!(typeof value === 'number' && value >= 0))
      throw new OperationError('parameter-value', `limits.${name} must be a number, 0 or more.`, { expression })
  }
  return { ...DEFAULT_LIMITS, ...set }
}

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
