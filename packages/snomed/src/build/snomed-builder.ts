import type { SystemToStore } from 'fhir-ops/storage'
import type { SnomedHeader } from '../release/header.js'
import type { Section } from './section.js'
import { CONCEPT_PART, OTHER_PARTS, systemOf, type BuiltPart, type PartBuilder, type Rf2Kind, type TakeRow } from './snomed-parts.js'

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
 * Begins a version.
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
