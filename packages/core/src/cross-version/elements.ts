import type { JsonObject } from '../json/index.js'

/** The format that `releaseElements` writes and `otherRelease` reads. */
export const FORMAT = 'fhir-ops-release-elements 1'

/** The elements of a FHIR release, as JSON: what extensions for them are made of. */
export interface ReleaseElements extends JsonObject {
  readonly format: typeof FORMAT
  /** The number in the urls of extensions: `5.0`. */
  readonly release: string
  /** What they were made from: `hl7.fhir.r5.core#5.0.0`. */
  readonly source: string
  /** By path, without `[x]`, those inside an element after it. */
  readonly elements: Readonly<Record<string, OtherElement>>
  /** The codes of value sets that elements of type `code` are bound to, by url without version. */
  readonly valueSets: Readonly<Record<string, readonly string[]>>
}

/** An element of another release, as far as an extension for it follows from it. */
export interface OtherElement extends JsonObject {
  /** Default 0. */
  readonly min?: number
  /** Default `1`. */
  readonly max?: string
  /** `['code']`, `['Reference(Patient|Group)', 'string']`; absent for what has elements of its own. */
  readonly types?: readonly string[]
  /** The path of the element whose elements it has too. */
  readonly ref?: string
  readonly modifier?: boolean
  /** A key of `valueSets`. */
  readonly codes?: string
}

/** What is known of a release other than R4. */
export interface ElementsOfRelease {
  /** The number in the urls of extensions: `5.0`. */
  readonly release: string
  /** What they were made from: `hl7.fhir.r5.core#5.0.0`. */
  readonly source: () => string
  /** By path, with or without `[x]`; `undefined` where the release has no such element. */
  readonly element: (path: string) => OtherElement | undefined
  /** The names of the elements inside another one or of a type, in their order. */
  readonly within: (path: string) => readonly string[]
  /** The codes of a value set; `undefined` where they are not known. */
  readonly codes: (valueSet: string) => readonly string[] | undefined
}
