import { EclError, parseEcl, type Constraint } from './ecl/index.js'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { SystemSections } from 'fhir-ops/storage'
import type { Bitmap } from 'fhir-ops/terminology'
import { memoizeRecent, escaped, refusal } from 'fhir-ops/internal/terminology'
import type { Work } from 'fhir-ops/internal/work'
import { admits, eclScope } from './evaluate/evaluate.js'
import type { NormalForm } from './expression/expression.js'
import { conceptElement } from './provider/concept-element.js'
import { displayDialect } from './provider/texts.js'
import { openSnomedIndex, type SnomedIndex } from './release/snomed-index.js'

/** An ECL expression, evaluated over one version. */
interface EclQuery {
  /** Returns the concepts that it selects; cached. @throws {OperationError} `definition-invalid` for an unknown concept, or too many parts. */
  all(): Work<Bitmap>
  /** True if it selects a postcoordinated expression. */
  admits(form: NormalForm): Work<boolean>
}

/** An opened version, with caches that are shared by requests. */
export interface SnomedSystem {
  readonly index: SnomedIndex
  /** Parses an expression constraint. @throws {OperationError} `definition-invalid` if the text is not ECL. */
  ecl(text: string): EclQuery
  /** Returns a concept in the form of `CodeSystem.concept`. */
  element(concept: number): JsonObject
}

/** Maximum number of cached results. */
const KEPT_QUERIES = 100
/** Number of concepts whose displays are cached, at about 500 bytes each: reading displays is most of the cost of a page (bench `terminology`). */
const KEPT_ELEMENTS = 4_096

const MAX_ECL_LENGTH = 10_000

/** Opens a version. */
export function openSnomed(sections: SystemSections, header: string): SnomedSystem {
  const index = openSnomedIndex(sections, header)
  const dialect = displayDialect(index)
  return {
    index,
    ecl: memoizeRecent(KEPT_QUERIES, (text) => eclQuery(index, text)),
    element: memoizeRecent(KEPT_ELEMENTS, (concept) => conceptElement(index, concept, dialect)),
  }
}

function eclQuery(index: SnomedIndex, text: string): EclQuery {
  const constraint = explained(text, () => parsed(text))
  let found: Bitmap | undefined
  return {
    // Not shared work: the intermediate state of an unfinished request is much larger than the result, and would be cached for every expression.
    *all() {
      return (found ??= yield* explainedWork(text, eclScope(index).evaluate(constraint)))
    },
    admits: (form) => explainedWork(text, admits(eclScope(index), constraint, form)),
  }
}

/** Says why a text is not ECL, and where; `undefined` if it is. */
export function eclProblem(text: string): string | undefined {
  try {
    parsed(text)
    return undefined
  } catch (error) {
    if (error instanceof EclError) return reasonOf(error)
    throw error
  }
}

function parsed(text: string): Constraint {
  if (text.length > MAX_ECL_LENGTH) throw new EclError(`The expression is longer than ${MAX_ECL_LENGTH} characters`, 0)
  return parseEcl(text)
}

function explained<T>(text: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw inWords(text, error)
  }
}

function* explainedWork<T>(text: string, work: Work<T>): Work<T> {
  try {
    return yield* work
  } catch (error) {
    throw inWords(text, error)
  }
}

function inWords(text: string, error: unknown): Error {
  if (!(error instanceof EclError)) throw error
  return refusal('INVALID_ECL', { ecl: text, reason: reasonOf(error) })
}

function reasonOf({ message, at }: EclError): string {
  return `${escaped(message)} (at character ${at + 1})`
}
