import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** A reference set whose members are concepts. */
export interface RefsetHeader {
  readonly id: string
  /** Names of the fields after `referencedComponentId`. */
  readonly fields: readonly string[]
}

/** The part of a version that is small enough to be read as a whole. */
export interface SnomedHeader {
  /** `http://snomed.info/sct/<module>/version/<date>`. */
  readonly version: string
  /** Ids of modules, by their numbers in columns. */
  readonly modules: readonly string[]
  /** Language codes, by their numbers in columns. */
  readonly languages: readonly string[]
  /** Ids of language reference sets, by the number of their column. */
  readonly dialects: readonly string[]
  readonly refsets: readonly RefsetHeader[]
  /** True if the ids of reference set rows are stored; imports that predate this field do not have them. */
  readonly memberIds?: boolean
  /** Concrete values of attributes, by number: numbers without `#`, strings in quotes. */
  readonly values: readonly string[]
  /** Ids of identifier schemes with codes for concepts; imports that predate this field have none. */
  readonly schemes?: readonly string[]
  /** True if the order of displays is stored; imports that predate this field do not have it. */
  readonly displays?: boolean
  /** Bytes per piece of the terms; imports that predate this field have larger pieces. */
  readonly termChunk?: number
}

/** The format of the sections that this code writes and reads. */
export const SNOMED_FORMAT = 'snomed-1'

/** Parses a header. @throws {TypeError} if the text is not a header of this format. */
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
