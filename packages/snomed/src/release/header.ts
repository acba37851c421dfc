import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** A reference set of which members are concepts. */
export interface RefsetHeader {
  readonly id: string
  /** Names of the fields after `referencedComponentId`. */
  readonly fields: readonly string[]
}

/** What is small enough to be read as one piece. */
export interface SnomedHeader {
  /** `http://snomed.info/sct/<module>/version/<date>`. */
  readonly version: string
  /** Ids of modules, by their numbers in columns. */
  readonly modules: readonly string[]
  /** Language codes, likewise. */
  readonly languages: readonly string[]
  /** Ids of language reference sets, by the number of their column. */
  readonly dialects: readonly string[]
  readonly refsets: readonly RefsetHeader[]
  /** True when the ids of their rows are kept; imports that predate this field have none. */
  readonly memberIds?: boolean
  /** Concrete values of attributes without their `#`, strings with theirs in quotes, by number. */
  readonly values: readonly string[]
  /** Ids of the schemes that have codes for concepts; imports that predate this field have none. */
  readonly schemes?: readonly string[]
  /** True when the order of displays is kept; imports that predate this field have none. */
  readonly displays?: boolean
  /** Bytes in a piece of the terms; imports that predate this field have larger pieces. */
  readonly termChunk?: number
}

/** The format of the sections that this code writes and reads. */
export const SNOMED_FORMAT = 'snomed-1'

/** @throws {TypeError} when the text is not a header of this format. */
export function readHeader(text: string): SnomedHeader {
  const value: unknown = JSON.parse(text)
  if (!isObject(value) || !isHeader(value)) throw new TypeError('The header of a SNOMED CT version cannot be read.')
  return value
}

function isHeader(value: JsonObject): value is JsonObject & SnomedHeader {
  return (
    typeof value['version'] === 'string' &&
    ['modules', 'languages', 'dialects', 'refsets', 'values'].every((name) => Array.isArray(value[name]))
  )
}
