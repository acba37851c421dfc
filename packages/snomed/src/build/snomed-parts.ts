import type { SystemSections, SystemToStore } from 'fhir-ops/storage'
import { MOST_PLACED } from 'fhir-ops/internal/terminology'
import { TERM_CHUNK } from '../release/descriptions.js'
import { SNOMED_FORMAT, type SnomedHeader } from '../release/header.js'
import { idTable, type IdTable } from '../release/id-table.js'
import { sectionReader } from '../release/section-reader.js'
import { SNOMED } from '../sctid.js'
import { numbering, type Section } from './column.js'
import { conceptBuilder, identifierBuilder, refsetBuilder } from './concept-builder.js'
import { descriptionBuilder } from './description-builder.js'
import { relationshipBuilder } from './relationship-builder.js'

/** Kinds of RF2 files. */
export type Rf2Kind = 'concept' | 'description' | 'language' | 'relationship' | 'refset' | 'identifier'

/** Receives a row. @param columns Column names of its file. */
export type TakeRow = (kind: Rf2Kind, row: readonly string[], columns: readonly string[]) => void

/** A finished part of a version. */
export interface BuiltPart {
  /** Members that the part adds to the header. */
  readonly header: Partial<SnomedHeader>
  /** Sections, made while they are iterated. @throws {OperationError} `definition-invalid` for a hierarchy with a cycle. */
  readonly sections: Iterable<Section>
  /** Number of rows omitted because they name a concept that does not exist. */
  readonly dangling: number
}

/** Builds one part of a version from the rows of its kinds, which must be added in the order of the kinds. */
export interface PartBuilder {
  readonly add: TakeRow
  finish(): BuiltPart
}

/** The finished concepts, on which the other parts are based. */
export interface BuiltConcepts {
  readonly ids: IdTable
  readonly modules: readonly string[]
}

/** A part of a version that can be built independently, after the concepts. */
export interface SnomedPart {
  readonly name: string
  /** Kinds of rows, in the order in which they must be added. */
  readonly kinds: readonly Rf2Kind[]
  begin(concepts: BuiltConcepts): PartBuilder
}

/** The part with the concepts. */
export interface ConceptPart extends SnomedPart {
  begin(): PartBuilder & {
    /** Returns the concepts that were added; no more rows may be added afterwards. */
    built(): BuiltConcepts
  }
}

/** The part with the concepts, which must be built first. */
export const CONCEPT_PART: ConceptPart = { name: 'concepts', kinds: ['concept'], begin: beginConcepts }

/** The other parts, which can be built in any order. */
export const OTHER_PARTS: readonly SnomedPart[] = [
  { name: 'descriptions', kinds: ['description', 'language'], begin: beginDescriptions },
  { name: 'relationships', kinds: ['relationship'], begin: beginRelationships },
  { name: 'refsets', kinds: ['refset'], begin: beginRefsets },
  { name: 'identifiers', kinds: ['identifier'], begin: beginIdentifiers },
]

/** Reads the concepts of a version that is being built. */
export function builtConcepts(header: Partial<SnomedHeader>, sections: SystemSections): BuiltConcepts {
  const reader = sectionReader(sections)
  return { ids: idTable({ high: reader.numbers('concept.high'), low: reader.numbers('concept.low') }), modules: header.modules ?? [] }
}

/** Describes a finished version for the concept store. @param header The merged headers of the parts. */
export function systemOf(version: string, header: Partial<SnomedHeader>, concepts: number): SystemToStore {
  return { url: SNOMED, version, format: SNOMED_FORMAT, concepts, header: JSON.stringify({ version, ...header }) }
}

function beginConcepts(): ReturnType<ConceptPart['begin']> {
  const modules = numbering()
  const builder = conceptBuilder(modules)
  return {
    add: (_, row) => builder.add(row),
    finish: () => ({ header: { modules: modules.texts }, sections: builder.sections(), dangling: 0 }),
    built: () => ({ ids: builder.seal(), modules: modules.texts }),
  }
}

function beginDescriptions({ ids, modules: known }: BuiltConcepts): PartBuilder {
  const modules = numbering(known)
  const builder = descriptionBuilder(ids, modules)
  return {
    add: (kind, row) => (kind === 'language' ? builder.addAcceptability(row) : builder.add(row)),
    finish() {
      const { languages, dialects } = builder
      const header = { modules: modules.texts, languages, dialects, displays: ids.size <= MOST_PLACED, termChunk: TERM_CHUNK }
      return { header, sections: builder.sections(), dangling: 0 }
    },
  }
}

function beginRelationships({ ids }: BuiltConcepts): PartBuilder {
  const values = numbering()
  const builder = relationshipBuilder(ids, values)
  return {
    add: (_, row) => builder.add(row),
    finish: () => ({ header: { values: values.texts }, sections: builder.sections(), dangling: builder.dangling }),
  }
}

/** Number of columns before a reference set's own fields. */
const REFSET_COLUMNS = 6

function beginRefsets({ ids }: BuiltConcepts): PartBuilder {
  const builder = refsetBuilder(ids)
  return {
    add: (_, row, columns) => builder.add(row, columns.slice(REFSET_COLUMNS)),
    finish: () => ({ header: { refsets: builder.refsets, memberIds: true }, sections: builder.sections(), dangling: 0 }),
  }
}

function beginIdentifiers({ ids }: BuiltConcepts): PartBuilder {
  const builder = identifierBuilder(ids)
  return {
    add: (_, row, columns) => builder.add(row, columns),
    finish: () => ({ header: { schemes: builder.schemes }, sections: builder.sections(), dangling: 0 }),
  }
}

/** A version that is ready to be stored. Its sections are made while they are iterated. */
export interface BuiltSnomed {
  readonly system: SystemToStore
  readonly sections: Iterable<Section>
  /** Number of relationships omitted because they name a concept that does not exist. */
  readonly dangling: number
}

/** Builds a version of SNOMED CT from the rows of an RF2 snapshot, in one go. */
export interface SnomedBuilder {
  /** Receives a row: all concepts first, and all descriptions before the first row of a language reference set. */
  readonly add: TakeRow
  /** Finishes the version. @throws {OperationError} `definition-invalid` for a hierarchy with a cycle, when the sections are iterated. */
  finish(): BuiltSnomed
}

/**
 * Creates a builder of a version of SNOMED CT.
 *
 * @param version Version URI.
 */
export function snomedBuilder(version: string): SnomedBuilder {
  const concepts = CONCEPT_PART.begin()
  let rest: readonly PartBuilder[] | undefined
  const others = (): readonly PartBuilder[] => (rest ??= OTHER_PARTS.map((part) => part.begin(concepts.built())))
  return {
    add(kind, row, columns) {
      if (kind === 'concept') concepts.add(kind, row, columns)
      else others()[partOf(kind)]?.add(kind, row, columns)
    },
    finish() {
      const built = [concepts, ...others()].map((part) => part.finish())
      rest = undefined
      const header = Object.assign({}, ...built.map((part): Partial<SnomedHeader> => part.header))
      return {
        system: systemOf(version, header, concepts.built().ids.size),
        dangling: built.reduce((sum, part) => sum + part.dangling, 0),
        sections: chained(built),
      }
    },
  }
}

function partOf(kind: Rf2Kind): number {
  return OTHER_PARTS.findIndex(({ kinds }) => kinds.includes(kind))
}

/** Releases each part when its sections have been made: the largest takes as much memory as all others together. */
function* chained(parts: BuiltPart[]): Iterable<Section> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) yield* part.sections
}
