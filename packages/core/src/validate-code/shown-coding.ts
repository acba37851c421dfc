import type { ConceptStatus } from '../terminology/index.js'
import type { CodingResult } from './check-coding.js'
import type { Validation } from './validation.js'

/** What an answer tells about the coding that it is about. */
export function shownCoding({ coding, provider, findings }: CodingResult): Partial<Validation> {
  return {
    code: coding.code,
    system: coding.system,
    version: provider?.header.version,
    display: findings?.display,
    normalizedCode: findings?.normalizedCode,
    ...(findings !== undefined && shownStatus(findings.status)),
  }
}

/** A status that says no more than `inactive` is not repeated. */
function shownStatus({ inactive, status }: ConceptStatus): Partial<Validation> {
  if (inactive) return { inactive: true, status: status === 'inactive' ? undefined : status }
  return status === 'deprecated' ? { status } : {}
}
