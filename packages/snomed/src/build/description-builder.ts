import { ACCEPTABILITY, FLAG_ACTIVE, KINDS, TERM_CHUNK } from '../release/descriptions.js'
import type { IdTable } from '../release/id-table.js'
import { SCT } from '../sctid.js'
import { column, numbering, textColumn, type Numbering } from './column.js'
import { componentRows, type ComponentRows, type SortedRows } from './component-rows.js'
import { descriptionSections } from './description-sections.js'
import { withDisplays } from './display-sections.js'
import type { Section } from './section.js'

/** Gathers the rows of description and text definition files, then those of language reference sets. */
export interface DescriptionBuilder {
  add(row: readonly string[]): void
  /** A row of a language reference set; no description may be added any more. */
  addAcceptability(row: readonly string[]): void
  readonly languages: readonly string[]
  /** Ids of the language reference sets. */
  readonly dialects: readonly string[]
  sections(): Iterable<Section>
}

const KIND_OF: ReadonlyMap<string, number> = new Map([
  [SCT.fullySpecifiedName, KINDS.fsn],
  [SCT.synonym, KINDS.synonym],
  [SCT.definition, KINDS.definition],
])

const ACCEPTABILITY_OF: ReadonlyMap<string, number> = new Map([
  [SCT.acceptable, ACCEPTABILITY.acceptable],
  [SCT.preferred, ACCEPTABILITY.preferred],
])

/** Makes an empty builder over the concepts. */
export function descriptionBuilder(concepts: IdTable, modules: Numbering): DescriptionBuilder {
  const components = componentRows()
  const [concept, flags, language, module] = [column(), column(), column(), column()]
  const terms = textColumn()
  const languages = numbering()
  const dialects = dialectColumns(components)
  return {
    languages: languages.texts,
    dialects: dialects.ids,
    add(row) {
      const owner = concepts.find(row[4] ?? '')
      const kind = KIND_OF.get(row[6] ?? '')
      if (owner === undefined || kind === undefined) return
      components.push(row)
      concept.push(owner)
      flags.push((row[2] === '1' ? FLAG_ACTIVE : 0) | (kind << 1))
      language.push(languages.numberOf(row[5] ?? ''))
      module.push(modules.numberOf(row[3] ?? ''))
      terms.push(row[7] ?? '')
    },
    addAcceptability: dialects.add,
    sections() {
      const own = descriptionSections({
        ...dialects.sorted(),
        size: concepts.size,
        concept: concept.values(),
        flags: flags.values(),
        language: language.values(),
        module: module.values(),
        time: components.times,
        acceptability: dialects.columns(),
        term: (row) => terms.bytes(row),
      })
      const header = { languages: languages.texts, dialects: dialects.ids, modules: modules.texts, termChunk: TERM_CHUNK }
      return withDisplays(own, header, concepts.size)
    },
  }
}

interface DialectColumns {
  readonly ids: readonly string[]
  readonly add: (row: readonly string[]) => void
  readonly sorted: () => SortedRows
  /** By language reference set: the acceptability of each description as it came. */
  readonly columns: () => readonly Uint8Array[]
}

function dialectColumns(components: ComponentRows): DialectColumns {
  const numbers = numbering()
  const acceptability: Uint8Array[] = []
  let known: SortedRows | undefined
  const sorted = (): SortedRows => (known ??= components.sorted())
  return {
    ids: numbers.texts,
    add(row) {
      const { ids, rows } = sorted()
      const place = ids.find(row[5] ?? '')
      const list = (acceptability[numbers.numberOf(row[4] ?? '')] ??= new Uint8Array(components.length))
      if (place !== undefined && row[2] === '1') list[rows[place] ?? 0] = ACCEPTABILITY_OF.get(row[6] ?? '') ?? ACCEPTABILITY.none
    },
    sorted,
    columns: () => acceptability,
  }
}
