import type { Coding } from 'fhir/r4.js'
import { OperationError } from '../errors/index.js'
import type { TranslateInput } from './translation.js'

/** A coding that can be looked up. */
export interface SourceCode {
  readonly system: string
  readonly code: string
  readonly version?: string
}

/**
 * The codes to translate, each once, in their order.
 *
 * @throws {OperationError} `source-ambiguous` for a coding beside a CodeableConcept; `parameter-required` when nothing with system
 *   and code is given.
 */
export function sourceCodes({ coding, codeableConcept }: TranslateInput): readonly SourceCode[] {
  if (coding !== undefined && codeableConcept !== undefined) throw ambiguousSource(['coding', 'codeableConcept'])
  const codes = coding === undefined ? (codeableConcept?.coding ?? []).flatMap(usable) : usable(coding)
  if (codes.length === 0) {
    const name = coding === undefined ? 'codeableConcept' : 'coding'
    throw new OperationError('parameter-required', 'A code to translate is required, together with its system.', { expression: [name] })
  }
  return codes.length === 1 ? codes : onceEach(codes)
}

function onceEach(codes: readonly SourceCode[]): readonly SourceCode[] {
  return [...new Map(codes.map((code) => [JSON.stringify([code.system, code.version, code.code]), code])).values()]
}

/** The error for more than one source of the concept (INTERFACE.md 7). */
export function ambiguousSource(names: readonly string[]): OperationError {
  return new OperationError('source-ambiguous', `The input is ambiguous: multiple source codings were provided (${names.join(', ')}).`, {
    expression: names,
  })
}

function usable({ system, code, version }: Coding): readonly SourceCode[] {
  if (!system || !code) return []
  return [{ system, code, ...(version !== undefined && { version }) }]
}
