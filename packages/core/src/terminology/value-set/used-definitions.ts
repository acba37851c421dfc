import { formatCanonical } from '../../content/index.js'
import { standInNotes, statusNotes, type StatusNote } from '../status-check.js'
import type { Members } from './members.js'
import { withImports, type ValueSetPlan } from './plan.js'
import { standIns } from './segment.js'

/** The definitions that the codes of a value set come from, as canonicals, each once. */
export interface UsedDefinitions {
  readonly systems: readonly string[]
  /** Value sets that are imported. */
  readonly valueSets: readonly string[]
  readonly supplements: readonly string[]
  /** Code systems of which only a fragment is known. */
  readonly fragments: readonly string[]
  /** Definitions that are drafts, experimental, deprecated, withdrawn or retired. */
  readonly notes: readonly StatusNote[]
}

/** Collects the definitions that the members of a value set come from. */
export function usedDefinitions(plan: ValueSetPlan, { systems, segments }: Members): UsedDefinitions {
  const providers = systems.flatMap(({ provider }) => provider ?? [])
  const imported = withImports(plan).filter((other) => other !== plan && !other.contained)
  const canonicalsOf = (found: typeof providers): readonly string[] => [
    ...new Set(found.map(({ header }) => formatCanonical(header.url, header.version))),
  ]
  return {
    systems: canonicalsOf(providers),
    valueSets: [...new Set(imported.flatMap(({ valueSet }) => valueSet.canonical ?? []))],
    supplements: [...new Set(providers.flatMap(({ supplements }) => supplements))],
    fragments: canonicalsOf(providers.filter(({ header }) => !header.complete)),
    notes: [...statusNotes(plan, providers), ...standInNotes(plan.valueSet, standIns(segments))],
  }
}
