import { once } from 'fhir-ops/terminology'
import type { SnomedHeader } from './header.js'
import type { SectionReader } from './section-reader.js'

/** Codes of other schemes that identify concepts. */
export interface IdentifierTable {
  /** Ids of the schemes. */
  readonly schemes: readonly string[]
  /** The id of the concept that a code of a scheme identifies. */
  find(scheme: string, code: string): string | undefined
}

/** Opens the table; the codes of a scheme are read when one is first asked for. */
export function identifierTable(reader: SectionReader, { schemes = [] }: Pick<SnomedHeader, 'schemes'>): IdentifierTable {
  const codes = new Map(schemes.map((scheme) => [scheme, once(() => readCodes(reader.bytes(`identifiers.${scheme}`)))]))
  return { schemes, find: (scheme, code) => codes.get(scheme)?.().get(code) }
}

function readCodes(bytes: Uint8Array): ReadonlyMap<string, string> {
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]))
}
