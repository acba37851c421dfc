import type { CodeSystemProvider } from '../../terminology/index.js'

/** Of a larger code system no codes are suggested. */
const MAX_CODES = 1_000

/** All codes of a code system of at most a thousand; none of a larger one. */
export function codesOfSystem(provider: CodeSystemProvider | undefined): readonly string[] {
  const size = provider?.index?.size ?? 0
  if (provider === undefined || size > MAX_CODES) return []
  return Array.from({ length: size }, (_, concept) => provider.code(concept))
}
