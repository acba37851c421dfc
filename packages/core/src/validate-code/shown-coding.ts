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

/** What an answer tells when no coding is good: the status of the first one that should no longer be used. */
export function shownWithoutGood(results: readonly CodingResult[]): Partial<Validation> {
  const all = results.flatMap(({ findings }) => (findings === undefined ? [] : [shownStatus(findings.status)]))
  return all.find(({ inactive, status }) => inactive === true || status !== undefined) ?? {}
}

/** A status that says no more than `inactive` is not repeated. */
function shownStatus({ inactive, status }: ConceptStatus): Partial<Validation> {
  if (inactive) return { inactive: true, status: status === 'inactive' ? undefined : status }
  return status === 'deprecated' ? { status } : {}
}
