import type { SystemSections, SystemToStore } from 'fhir-ops/storage'
import { MOST_PLACED } from 'fhir-ops/internal/terminology'
import { TERM_CHUNK } from '../release/descriptions.js'
import { SNOMED_FORMAT, type SnomedHeader, type RefsetHeader, sectionReader, bytesOf } from '../release/section-reader.js'
import { idTable, type IdTable } from '../release/id-table.js'
import { SNOMED, SCT } from '../sctid.js'
import { numbering, type Section, column, componentRows, textColumn, type Column, type Numbering, type TextColumn } from './column.js'
import { descriptionBuilder } from './description-builder.js'
import { relationshipBuilder } from './relationship-builder.js'
import { CONCEPT_ACTIVE, CONCEPT_DEFINED } from '../release/snomed-index.js'

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

/** Collects the rows of concept files. */
interface ConceptBuilder {
  add(row: readonly string[]): void
  /** Returns the ids of all concepts; no more rows may be added afterwards. */
  seal(): IdTable
  sections(): Iterable<Section>
}

/** Creates an empty builder. */
function conceptBuilder(modules: Numbering): ConceptBuilder {
  const components = componentRows()
  const [flags, moduleNumbers] = [column(), column()]
  let sealed: ReturnType<typeof components.sorted> | undefined
  const seal = (): ReturnType<typeof components.sorted> => (sealed ??= components.sorted())
  return {
    add(row) {
      const [, , active, moduleId = '', status] = row
      components.push(row)
      flags.push((active === '1' ? CONCEPT_ACTIVE : 0) | (status === SCT.defined ? CONCEPT_DEFINED : 0))
      moduleNumbers.push(modules.numberOf(moduleId))
    },
    seal: () => seal().ids,
    sections() {
      const { ids, rows } = seal()
      const taken = (values: Uint32Array): Uint32Array => rows.map((row) => values[row] ?? 0)
      return [
        ['concept.high', bytesOf(ids.high)],
        ['concept.low', bytesOf(ids.low)],
        ['concept.flags', bytesOf(Uint8Array.from(taken(flags.values())))],
        ['concept.module', bytesOf(Uint16Array.from(taken(moduleNumbers.values())))],
        ['concept.time', bytesOf(taken(components.times))],
      ]
    },
  }
}

/** Collects the rows of identifier files: codes of other schemes that identify concepts. */
interface IdentifierBuilder {
  /** Adds a row; the order of its columns differs between releases. */
  add(row: readonly string[], columns: readonly string[]): void
  /** Ids of the identifier schemes. */
  readonly schemes: readonly string[]
  sections(): Iterable<Section>
}

/** Creates an empty builder for these concepts. */
function identifierBuilder(concepts: IdTable): IdentifierBuilder {
  const schemes = new Map<string, TextColumn>()
  return {
    get schemes() {
      return [...schemes.keys()]
    },
    add(row, columns) {
      const value = (name: string): string => row[columns.indexOf(name)] ?? ''
      const concept = value('referencedComponentId')
      if (value('active') !== '1' || concepts.find(concept) === undefined) return
      const scheme = value('identifierSchemeId')
      const rows = schemes.get(scheme) ?? textColumn()
      schemes.set(scheme, rows)
      rows.push(`${value('alternateIdentifier')}\t${concept}\n`)
    },
    sections: () => Array.from(schemes, ([scheme, rows]): Section => [`identifiers.${scheme}`, rows.all()]),
  }
}

/** Collects the rows of reference sets whose members are concepts. */
interface RefsetBuilder {
  /** @param fields Names of the columns after `referencedComponentId`. */
  add(row: readonly string[], fields: readonly string[]): void
  readonly refsets: readonly RefsetHeader[]
  sections(): Iterable<Section>
}

interface Refset {
  readonly header: RefsetHeader
  readonly members: Column
  readonly rows: TextColumn
  readonly ids: TextColumn
}

/** Creates an empty builder for these concepts. */
function refsetBuilder(concepts: IdTable): RefsetBuilder {
  const refsets = new Map<string, Refset>()
  const refsetOf = (id: string, fields: readonly string[]): Refset => {
    const found = refsets.get(id) ?? { header: { id, fields }, members: column(), rows: textColumn(), ids: textColumn() }
    refsets.set(id, found)
    return found
  }
  return {
    get refsets() {
      return Array.from(refsets.values(), ({ header }) => header)
    },
    add([id = '', effectiveTime, active, moduleId, refsetId = '', componentId = '', ...values], fields) {
      const refset = refsetOf(refsetId, fields)
      const member = concepts.find(componentId)
      if (active === '1' && member !== undefined) refset.members.push(member)
      refset.rows.push(`${[active, effectiveTime, moduleId, componentId, ...values].join('\t')}\n`)
      refset.ids.push(`${id}\n`)
    },
    sections: () =>
      Array.from(refsets.values()).flatMap(({ header, members, rows, ids }): readonly Section[] => [
        [`refset.${header.id}`, bytesOf(Uint32Array.from(new Set(members.values())).sort())],
        [`refset.${header.id}.rows`, rows.all()],
        [`refset.${header.id}.ids`, ids.all()],
      ]),
  }
}
