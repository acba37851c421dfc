import { OperationError, quoted, type ErrorCode } from '../errors/index.js'

/** The pairs as they are. @throws {OperationError} `code` when a name comes twice. */
export function uniquePairs(pairs: readonly (readonly [string, string])[], code: ErrorCode): readonly (readonly [string, string])[] {
  const names = new Set<string>()
  for (const [name] of pairs) {
    if (names.has(name)) throw new OperationError(code, `${quoted(name)} is given more than once.`)
    names.add(name)
  }
  return pairs
}
