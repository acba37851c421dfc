import { SNOMED_FORMAT, type SnomedHeader } from '../index/header.js'
import type { SystemToStore } from '../../../storage/index.js'
import { MOST_CONCEPTS } from '../../code-system/display-order.js'
import { SNOMED } from '../sctid.js'
import type { IdTable } from '../index/id-table.js'
import { numbering, type Numbering } from './column.js'
import { conceptBuilder } from './concept-builder.js'
import { descriptionBuilder, type DescriptionBuilder } from './description-builder.js'
import { identifierBuilder, type IdentifierBuilder } from './identifier-builder.js'
import { refsetBuilder, type RefsetBuilder } from './refset-builder.js'
import { relationshipBuilder, type RelationshipBuilder } from './relationship-builder.js'
import type { Section } from './section.js'

/** Kinds of RF2 files, in the order in which they must come. */
export const RF2_KINDS = ['concept', 'description', 'relationship', 'language', 'refset', 'identifier'] as const

/** A kind of RF2 file. */
export type Rf2Kind = (typeof RF2_KINDS)[number]

/** A version that is ready to be stored. Its sections are made while they are read. */
export interface BuiltSnomed {
  readonly system: SystemToStore
  readonly sections: Iterable<Section>
  /** Relationships that were left out, as they name a concept which is not there. */
  readonly dangling: number
}

/** Makes one version of SNOMED CT from the rows of an RF2 snapshot. */
export interface SnomedBuilder {
  /**
   * Takes a row. Kinds must come in the order of `RF2_KINDS`.
   *
   * @param columns Names of the columns of its file.
   */
  add(kind: Rf2Kind, row: readonly string[], columns: readonly string[]): void
  /** Ends the building. @throws {OperationError} `definition-invalid` for a hierarchy with a cycle, when the sections are read. */
  finish(): BuiltSnomed
}

/** Columns of every reference set before its own fields. */
const REFSET_COLUMNS = 6

/**
 * Begins a version.
 *
 * @param version Version URI.
 */
export function snomedBuilder(version: string): SnomedBuilder {
  const modules = numbering()
  const values = numbering()
  const concepts = conceptBuilder(modules)
  let rest: Rest | undefined
  const others = (): Rest => (rest ??= restOver(concepts.seal(), modules, values))
  const takers: Record<Rf2Kind, SnomedBuilder['add']> = {
    concept: (_, row) => concepts.add(row),
    description: (_, row) => others().descriptions.add(row),
    relationship: (_, row) => others().relationships.add(row),
    language: (_, row) => others().descriptions.addAcceptability(row),
    refset: (_, row, columns) => others().refsets.add(row, columns.slice(REFSET_COLUMNS)),
    identifier: (_, row, columns) => others().identifiers.add(row, columns),
  }
  return {
    add: (kind, row, columns) => takers[kind](kind, row, columns),
    finish() {
      const { descriptions, relationships, refsets, identifiers, size } = others()
      rest = undefined
      const header: SnomedHeader = {
        version,
        modules: modules.texts,
        languages: descriptions.languages,
        dialects: descriptions.dialects,
        refsets: refsets.refsets,
        values: values.texts,
        schemes: identifiers.schemes,
        displays: size <= MOST_CONCEPTS,
      }
      return {
        system: { url: SNOMED, version, format: SNOMED_FORMAT, concepts: size, header: JSON.stringify(header) },
        sections: chained([concepts, descriptions, relationships, refsets, identifiers]),
        dangling: relationships.dangling,
      }
    },
  }
}

interface Rest {
  readonly size: number
  readonly descriptions: DescriptionBuilder
  readonly relationships: RelationshipBuilder
  readonly refsets: RefsetBuilder
  readonly identifiers: IdentifierBuilder
}

function restOver(ids: IdTable, modules: Numbering, values: Numbering): Rest {
  return {
    size: ids.size,
    descriptions: descriptionBuilder(ids, modules),
    relationships: relationshipBuilder(ids, values),
    refsets: refsetBuilder(ids),
    identifiers: identifierBuilder(ids),
  }
}

/** Lets go of each builder when its sections are made: the largest takes as much memory as all others. */
function* chained(builders: { sections(): Iterable<Section> }[]): Iterable<Section> {
  for (let builder = builders.shift(); builder !== undefined; builder = builders.shift()) yield* builder.sections()
}
