import type { SystemSections } from 'fhir-ops/storage'
import { addBit, emptyBits, emptyBitmap, rangeBitmap, bitmapOf } from 'fhir-ops/internal/bits'
import type { Bitmap } from 'fhir-ops/terminology'
import { type DisplayOrder, memoizeRecent, once } from 'fhir-ops/internal/terminology'
import {
  type AttributeTable,
  holds,
  listOf,
  type Lists,
  sectionReader,
  type SectionReader,
  readHeader,
  type SnomedHeader,
} from './section-reader.js'
import { descriptionTable, KINDS, type DescriptionTable, wordTable, type WordTable, displayTable } from './descriptions.js'
import { idAt, idTable, type IdTable, identifierTable, type IdentifierTable } from './id-table.js'
import { refsetTable, type RefsetTable } from './refset-table.js'
import { SCT } from '../sctid.js'

/**
 * One version of SNOMED CT. Concepts are represented by ordinals, in ascending order of their ids. Opening a version reads only the ids; every other column
 * is read when first needed.
 */
export interface SnomedIndex {
  readonly header: SnomedHeader
  readonly size: number
  readonly ids: IdTable
  id(concept: number): string
  isActive(concept: number): boolean
  isDefined(concept: number): boolean
  module(concept: number): string
  /** `YYYYMMDD` as a number. */
  effectiveTime(concept: number): number
  parents(concept: number): Uint32Array
  children(concept: number): Uint32Array
  /** Returns the proper ancestors in ascending order. */
  ancestors(concept: number): Uint32Array
  /** True if the concept is the ancestor itself or below it. */
  isWithin(concept: number, ancestor: number): boolean
  /** Returns the concept and everything below it. */
  within(ancestor: number): Bitmap
  all(): Bitmap
  inactive(): Bitmap
  /** Returns the active concepts in the hierarchy, including the root. */
  current(): Bitmap
  /** Returns the concepts with a text definition, whose words are not in `words`. */
  explained(): Bitmap
  attributes(): AttributeTable
  readonly descriptions: DescriptionTable
  readonly refsets: RefsetTable
  readonly identifiers: IdentifierTable
  readonly words: WordTable
  /** Returns the order of displays, if the version has it. @param display Returns the folded display of a concept. */
  displayOrder(display: (concept: number) => string): DisplayOrder | undefined
}

/** Bits of a concept's flags. */
export const CONCEPT_ACTIVE = 1
export const CONCEPT_DEFINED = 2

/** Number of branches whose bitmap is cached, because filters use the same branches repeatedly. */
const KEPT_BRANCHES = 64

/** Opens a version. */
export function openSnomedIndex(sections: SystemSections, headerText: string): SnomedIndex {
  const reader = sectionReader(sections)
  const header = readHeader(headerText)
  const ids = idTable({ high: reader.numbers('concept.high'), low: reader.numbers('concept.low') })
  const { size } = ids
  const columns = conceptColumns(reader, header)
  const hierarchy = hierarchyReader(reader, size)
  const all = once(() => rangeBitmap(0, size, size))
  const inactive = once(() => concepts(size, (concept) => !columns.isActive(concept)))
  const current = once(() => currentConcepts(size, { root: ids.find(SCT.root), within: hierarchy.within, isActive: columns.isActive }))
  const attributes = once(() => attributeTable(reader))
  const descriptions = descriptionTable(reader, header)
  const explained = once(() => concepts(size, (concept) => hasDefinition(descriptions, concept)))
  return {
    header,
    size,
    ids,
    id: (concept) => idAt(ids, concept),
    ...columns,
    ...hierarchy,
    all,
    inactive,
    current,
    attributes,
    explained,
    descriptions,
    refsets: refsetTable(reader, header, size),
    identifiers: identifierTable(reader, header),
    words: wordTable(reader, size),
    displayOrder: orderReader(reader, header, ids),
  }
}

function orderReader(reader: SectionReader, { displays }: SnomedHeader, ids: IdTable): SnomedIndex['displayOrder'] {
  let order: DisplayOrder | undefined
  const withCode = (code: string): readonly number[] => [ids.find(code)].filter((concept) => concept !== undefined)
  return (display) => (displays === true ? (order ??= displayTable(reader, { display, withCode })) : undefined)
}

type HierarchyReader = Pick<SnomedIndex, 'parents' | 'children' | 'ancestors' | 'isWithin' | 'within'>

function hierarchyReader(reader: SectionReader, size: number): HierarchyReader {
  const parents = once(() => lists(reader, 'parents'))
  const children = once(() => lists(reader, 'children'))
  const ancestors = once(() => lists(reader, 'ancestors'))
  return {
    parents: (concept) => listOf(parents(), concept),
    children: (concept) => listOf(children(), concept),
    ancestors: (concept) => listOf(ancestors(), concept),
    isWithin: (concept, ancestor) => concept === ancestor || holds(ancestors(), concept, ancestor),
    within: memoizeRecent(KEPT_BRANCHES, (ancestor) => branch(size, children(), ancestor)),
  }
}

type ConceptColumns = Pick<SnomedIndex, 'isActive' | 'isDefined' | 'module' | 'effectiveTime'>

function conceptColumns(reader: SectionReader, header: SnomedHeader): ConceptColumns {
  const flags = once(() => reader.bytes('concept.flags'))
  const modules = once(() => reader.shorts('concept.module'))
  const times = once(() => reader.numbers('concept.time'))
  const flag = (concept: number, bit: number): boolean => ((flags()[concept] ?? 0) & bit) !== 0
  return {
    isActive: (concept) => flag(concept, CONCEPT_ACTIVE),
    isDefined: (concept) => flag(concept, CONCEPT_DEFINED),
    module: (concept) => header.modules[modules()[concept] ?? 0] ?? '',
    effectiveTime: (concept) => times()[concept] ?? 0,
  }
}

function lists(reader: SectionReader, name: string): Lists {
  return { start: reader.numbers(`${name}.start`), items: reader.numbers(name) }
}

function attributeTable(reader: SectionReader): AttributeTable {
  const users = once(() => lists(reader, 'attribute.users'))
  return {
    start: reader.numbers('attribute.start'),
    types: reader.numbers('attribute.type'),
    groups: reader.numbers('attribute.group'),
    values: reader.numbers('attribute.value'),
    get users() {
      return users()
    },
  }
}

/** Reads the columns directly: creating a list for each of 350,000 concepts would take most of the time (bench `terminology`). */
function branch(size: number, { start, items }: Lists, ancestor: number): Bitmap {
  const words = emptyBits(size)
  const found = bitmapOf(words, size)
  const open = [ancestor]
  addBit(words, ancestor)
  for (let concept = open.pop(); concept !== undefined; concept = open.pop()) {
    for (let i = start[concept] ?? 0; i < (start[concept + 1] ?? 0); i++) {
      const child = items[i] ?? 0
      if (found.has(child)) continue
      addBit(words, child)
      open.push(child)
    }
  }
  return bitmapOf(words, size)
}

interface Branches {
  readonly root: number | undefined
  readonly within: (ancestor: number) => Bitmap
  readonly isActive: (concept: number) => boolean
}

function currentConcepts(size: number, { root, within, isActive }: Branches): Bitmap {
  if (root === undefined) return emptyBitmap(size)
  const below = within(root)
  return concepts(size, (concept) => below.has(concept) && isActive(concept))
}

/** True if a concept has a definition, which is last among its descriptions. */
function hasDefinition(descriptions: DescriptionTable, concept: number): boolean {
  const [from, to] = descriptions.rowsOf(concept)
  return to > from && descriptions.kind(to - 1) === KINDS.definition
}

function concepts(size: number, accept: (concept: number) => boolean): Bitmap {
  const words = emptyBits(size)
  for (let concept = 0; concept < size; concept++) if (accept(concept)) addBit(words, concept)
  return bitmapOf(words, size)
}
