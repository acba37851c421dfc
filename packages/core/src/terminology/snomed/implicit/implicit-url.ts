import { snomedVersion } from '../edition.js'
import { SNOMED } from '../sctid.js'

/** The url of something that SNOMED CT defines without a resource. */
export interface ImplicitUrl {
  /** Version or edition that the url names. */
  readonly version?: string
  /** What stands behind `=`, decoded; absent without it. */
  readonly value?: string
}

/**
 * Takes the url of an implicit value set (`fhir_vs`) or concept map (`fhir_cm`) apart; `undefined` when it is none.
 *
 * @see https://hl7.org/fhir/R4/snomedct.html#implicit
 */
export function implicitUrl(url: string, parameter: 'fhir_vs' | 'fhir_cm'): ImplicitUrl | undefined {
  const mark = url.indexOf('?')
  const base = url.slice(0, Math.max(mark, 0))
  const query = url.slice(mark + 1)
  if (base !== SNOMED && snomedVersion(base) === undefined) return undefined
  const version = base === SNOMED ? {} : { version: base }
  if (query === parameter) return version
  return query.startsWith(`${parameter}=`) ? { ...version, value: decoded(query.slice(parameter.length + 1)) } : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
