import type { RefsetHeader } from '../release/header.js'
import type { IdTable } from '../release/id-table.js'
import { bytesOf } from '../release/section-reader.js'
import { column, textColumn, type Column, type TextColumn, type Section } from './column.js'

/** Gathers the rows of reference sets of which members are concepts. */
export interface RefsetBuilder {
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

/** Makes an empty builder over the concepts. */
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
    *sections() {
      for (const { header, members, rows, ids } of refsets.values()) {
        yield [`refset.${header.id}`, bytesOf(Uint32Array.from(new Set(members.values())).sort())]
        yield [`refset.${header.id}.rows`, rows.all()]
        yield [`refset.${header.id}.ids`, ids.all()]
      }
    },
  }
}
