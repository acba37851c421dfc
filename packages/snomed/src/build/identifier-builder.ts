import type { IdTable } from '../release/id-table.js'
import { textColumn, type TextColumn } from './column.js'
import type { Section } from './section.js'

/** Gathers the rows of identifier files: codes of other schemes that identify concepts. */
export interface IdentifierBuilder {
  /** A row; releases differ in the order of its columns. */
  add(row: readonly string[], columns: readonly string[]): void
  /** Ids of the schemes. */
  readonly schemes: readonly string[]
  sections(): Iterable<Section>
}

/** Makes an empty builder over the concepts. */
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
    *sections() {
      for (const [scheme, rows] of schemes) yield [`identifiers.${scheme}`, rows.all()]
    },
  }
}
