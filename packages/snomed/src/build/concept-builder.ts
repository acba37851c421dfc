import { bytesOf } from '../release/section-reader.js'
import { CONCEPT_ACTIVE, CONCEPT_DEFINED } from '../release/snomed-index.js'
import type { RefsetHeader } from '../release/header.js'
import type { IdTable } from '../release/id-table.js'
import { SCT } from '../sctid.js'
import { column, componentRows, textColumn, type Column, type Numbering, type Section, type TextColumn } from './column.js'

/** Collects the rows of concept files. */
interface ConceptBuilder {
  add(row: readonly string[]): void
  /** Returns the ids of all concepts; no more rows may be added afterwards. */
  seal(): IdTable
  sections(): Iterable<Section>
}

/** Creates an empty builder. */
export function conceptBuilder(modules: Numbering): ConceptBuilder {
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
export function identifierBuilder(concepts: IdTable): IdentifierBuilder {
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
export function refsetBuilder(concepts: IdTable): RefsetBuilder {
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
