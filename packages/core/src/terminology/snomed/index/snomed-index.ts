import type { SystemSections } from '../../../storage/index.js'
import { bitmapFrom, bitmapOf, newWords, setBit, type Bitmap } from '../../bitmap.js'
import type { AttributeTable } from './attributes.js'
import { descriptionTable, once, type DescriptionTable } from './descriptions.js'
import { readHeader, type SnomedHeader } from './header.js'
import { idAt, idTable, type IdTable } from './id-table.js'
import { holds, listOf, type Lists } from './lists.js'
import { refsetTable, type RefsetTable } from './refset-table.js'
import { sectionReader, type SectionReader } from './section-reader.js'
import { wordTable, type WordTable } from './word-table.js'
import { SCT } from '../sctid.js'

/**
 * One version of SNOMED CT. Concepts are numbers, in ascending order of their ids. Opening reads nothing but the ids; every other column
 * is read when it is first needed.
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
  /** Proper ancestors, ascending. */
  ancestors(concept: number): Uint32Array
  /** True when the concept is the ancestor itself or below it. */
  isWithin(concept: number, ancestor: number): boolean
  /** The concept and everything below it. */
  within(ancestor: number): Bitmap
  readonly all: Bitmap
  readonly inactive: Bitmap
  /** Active concepts in the hierarchy below the root, which is one of them. */
  readonly current: Bitmap
  readonly attributes: AttributeTable
  readonly descriptions: DescriptionTable
  readonly refsets: RefsetTable
  readonly words: WordTable
}

/** Bits of a concept's flags. */
export const CONCEPT_ACTIVE = 1
export const CONCEPT_DEFINED = 2

/** Branches of which the bitmap is kept; they are what filters name again and again. */
const KEPT_BRANCHES = 64

/** Opens a version. */
export function openSnomedIndex(sections: SystemSections, headerText: string): SnomedIndex {
  const reader = sectionReader(sections)
  const header = readHeader(headerText)
  const ids = idTable({ high: reader.numbers('concept.high'), low: reader.numbers('concept.low') })
  const size = ids.size
  const columns = conceptColumns(reader, header)
  const [parents, children, ancestors] = ['parents', 'children', 'ancestors'].map((name) => once(() => lists(reader, name)))
  const noLists = (): Lists => ({ start: new Uint32Array(), items: new Uint32Array() })
  const ancestorsOf = ancestors ?? noLists
  const branches = branchReader(size, children ?? noLists)
  const isActive = (concept: number): boolean => columns.flag(concept, CONCEPT_ACTIVE)
  const all = once(() => bitmapFrom(numbers(size), size))
  const inactive = once(() => bitmapFrom(numbers(size).filter((concept) => !isActive(concept)), size))
  const current = once(() => activeBelow(branches, ids.find(SCT.root), isActive))
  const attributes = once(() => attributeTable(reader))
  return {
    header,
    size,
    ids,
    id: (concept) => idAt(ids, concept),
    isActive,
    isDefined: (concept) => columns.flag(concept, CONCEPT_DEFINED),
    module: columns.module,
    effectiveTime: columns.effectiveTime,
    parents: (concept) => listOf((parents ?? noLists)(), concept),
    children: (concept) => listOf((children ?? noLists)(), concept),
    ancestors: (concept) => listOf(ancestorsOf(), concept),
    isWithin: (concept, ancestor) => concept === ancestor || holds(ancestorsOf(), concept, ancestor),
    within: branches,
    get all() {
      return all()
    },
    get inactive() {
      return inactive()
    },
    get current() {
      return current()
    },
    get attributes() {
      return attributes()
    },
    descriptions: descriptionTable(reader, header),
    refsets: refsetTable(reader, header, size),
    words: wordTable(reader, size),
  }
}

interface ConceptColumns {
  readonly flag: (concept: number, bit: number) => boolean
  readonly module: (concept: number) => string
  readonly effectiveTime: (concept: number) => number
}

function conceptColumns(reader: SectionReader, header: SnomedHeader): ConceptColumns {
  const flags = once(() => reader.bytes('concept.flags'))
  const modules = once(() => reader.shorts('concept.module'))
  const times = once(() => reader.numbers('concept.time'))
  return {
    flag: (concept, bit) => ((flags()[concept] ?? 0) & bit) !== 0,
    module: (concept) => header.modules[modules()[concept] ?? 0] ?? '',
    effectiveTime: (concept) => times()[concept] ?? 0,
  }
}

function lists(reader: SectionReader, name: string): Lists {
  return { start: reader.numbers(`${name}.start`), items: reader.numbers(name) }
}

function attributeTable(reader: SectionReader): AttributeTable {
  return {
    start: reader.numbers('attribute.start'),
    types: reader.numbers('attribute.type'),
    groups: reader.numbers('attribute.group'),
    values: reader.numbers('attribute.value'),
    users: lists(reader, 'attribute.users'),
  }
}

function branchReader(size: number, children: () => Lists): (ancestor: number) => Bitmap {
  const kept = new Map<number, Bitmap>()
  return (ancestor) => {
    const found = kept.get(ancestor) ?? branch(size, children(), ancestor)
    kept.delete(ancestor)
    kept.set(ancestor, found)
    if (kept.size > KEPT_BRANCHES) kept.delete(kept.keys().next().value ?? ancestor)
    return found
  }
}

function branch(size: number, children: Lists, ancestor: number): Bitmap {
  const words = newWords(size)
  const found = bitmapOf(words, size)
  const open = [ancestor]
  setBit(words, ancestor)
  for (let concept = open.pop(); concept !== undefined; concept = open.pop()) {
    for (const child of listOf(children, concept)) {
      if (found.has(child)) continue
      setBit(words, child)
      open.push(child)
    }
  }
  return bitmapOf(words, size)
}

function activeBelow(within: (ancestor: number) => Bitmap, root: number | undefined, isActive: (concept: number) => boolean): Bitmap {
  if (root === undefined) return bitmapFrom([], 0)
  const { words, limit } = within(root)
  const below = bitmapOf(words, limit)
  return bitmapFrom(numbers(limit).filter((concept) => below.has(concept) && isActive(concept)), limit)
}

function numbers(size: number): readonly number[] {
  return Array.from({ length: size }, (_, i) => i)
}
