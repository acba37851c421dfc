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

/** Takes a row. @param columns Names of the columns of its file. */
export type TakeRow = (kind: Rf2Kind, row: readonly string[], columns: readonly string[]) => void

/** What was made of a part of a release. */
export interface BuiltPart {
  /** What the part adds to the header. */
  readonly header: Partial<SnomedHeader>
  /** Made while they are read. @throws {OperationError} `definition-invalid` for a hierarchy with a cycle. */
  readonly sections: Iterable<Section>
  /** Rows that were left out, as they name a concept which is not there. */
  readonly dangling: number
}

/** Makes one part of a version from the rows of its kinds, which must come in their order. */
export interface PartBuilder {
  readonly add: TakeRow
  finish(): BuiltPart
}

/** What the concepts came to; the other parts are made over it. */
export interface BuiltConcepts {
  readonly ids: IdTable
  readonly modules: readonly string[]
}

/** A part of a version that can be made on its own when the concepts are. */
export interface SnomedPart {
  readonly name: string
  /** In the order in which they must come. */
  readonly kinds: readonly Rf2Kind[]
  begin(concepts: BuiltConcepts): PartBuilder
}

/** The part of the concepts themselves. */
export interface ConceptPart extends SnomedPart {
  begin(): PartBuilder & {
    /** The concepts that were added; no row may be added any more. */
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

/** Reads the concept part of a version that is being built. */
export function builtConcepts(header: Partial<SnomedHeader>, sections: SystemSections): BuiltConcepts {
  const reader = sectionReader(sections)
  return { ids: idTable({ high: reader.numbers('concept.high'), low: reader.numbers('concept.low') }), modules: header.modules ?? [] }
}

/** Describes a version whose parts are all built, for the concept store. @param header The headers of the parts, merged. */
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

/** Columns of every reference set before its own fields. */
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

/** A version that is ready to be stored. Its sections are made while they are read. */
export interface BuiltSnomed {
  readonly system: SystemToStore
  readonly sections: Iterable<Section>
  /** Relationships that were left out, as they name a concept which is not there. */
  readonly dangling: number
}

/** Makes one version of SNOMED CT from the rows of an RF2 snapshot, in one go. */
export interface SnomedBuilder {
  /** Takes a row: first all concepts, and of descriptions all before the first of a language reference set. */
  readonly add: TakeRow
  /** Ends the building. @throws {OperationError} `definition-invalid` for a hierarchy with a cycle, when the sections are read. */
  finish(): BuiltSnomed
}

/**
 * Makes a builder of a version of SNOMED CT.
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

/** Lets go of each part when its sections are made: the largest takes as much memory as all others. */
function* chained(parts: BuiltPart[]): Iterable<Section> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) yield* part.sections
}
