import type { CodeSystemProvider, StandInValueSet, SystemHeader } from '../../code-system/index.js'
import { formatCanonical } from '../../content/index.js'
import { stringAt, type JsonObject } from '../../json/index.js'
import { standardsStatusOf } from '../code-system/concept-index.js'
import type { Members } from './members.js'
import { withImports, type ValueSetPlan } from './plan.js'
import { standIns } from './segment.js'
import { nameOf, type ValueSetDefinition } from './value-set.js'

/** The definitions that the codes of a value set come from, as canonicals, each once. */
export interface UsedDefinitions {
  readonly systems: readonly string[]
  /** Imported value sets. */
  readonly valueSets: readonly string[]
  readonly supplements: readonly string[]
  /** Code systems that are only known as fragments. */
  readonly fragments: readonly string[]
  /** Notes on definitions that are drafts, experimental, deprecated, withdrawn or retired. */
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

/** A note on a code system or value set whose use should be reconsidered. */
export interface StatusNote {
  readonly type: 'CodeSystem' | 'ValueSet'
  /** `url|version`. */
  readonly canonical: string
  readonly status: 'draft' | 'experimental' | 'deprecated' | 'withdrawn' | 'retired'
}

/** The status of a definition. */
interface Stated {
  readonly status: string
  readonly experimental: boolean
  readonly standardsStatus?: string | undefined
}

/**
 * Returns the notes on a value set and on the code systems and value sets that it uses, each once. A draft may use drafts, and an experimental
 * definition other experimental ones.
 *
 * @param counts Whether the status of an imported value set is to be noted.
 */
export function statusNotes(
  plan: ValueSetPlan,
  providers: readonly CodeSystemProvider[],
  counts: (other: ValueSetPlan, status: StatusNote['status']) => boolean = () => true,
): readonly StatusNote[] {
  const notes = withImports(plan).flatMap(({ valueSet, includes, excludes, imported }) => {
    const urls = new Set([...includes, ...excludes].flatMap(({ family }) => family?.url ?? []))
    const systems = providers.filter(({ header }) => urls.has(header.url))
    return [
      ...systems.flatMap(({ header }) => systemNote(header, valueSet)),
      ...[...imported].flatMap((other) => valueSetNote(other.valueSet, valueSet).filter(({ status }) => counts(other, status))),
    ]
  })
  const all = [...valueSetNote(plan.valueSet, plan.valueSet), ...notes]
  return [...new Map(all.map((one) => [`${one.status} ${one.type} ${one.canonical}`, one])).values()]
}

/** Returns the notes on value sets that represent systems whose codes cannot be listed. */
export function standInNotes(user: ValueSetDefinition, standIns: readonly StandInValueSet[]): readonly StatusNote[] {
  return standIns.flatMap((standIn) => valueSetNote(standIn, user))
}

/** Returns the notes on a code system. @param user Status of the definition that uses it. */
export function systemNotes(provider: CodeSystemProvider, user: Stated): readonly StatusNote[] {
  return noteOf(provider.header, user).map((status) => systemStatusNote(provider.header, status))
}

function systemNote(header: SystemHeader, user: ValueSetDefinition): readonly StatusNote[] {
  return noteOf(header, statedBy(user.resource)).map((status) => systemStatusNote(header, status))
}

function systemStatusNote(header: SystemHeader, status: StatusNote['status']): StatusNote {
  return { type: 'CodeSystem', canonical: formatCanonical(header.url, header.version), status }
}

function valueSetNote(valueSet: StandInValueSet, user: ValueSetDefinition): readonly StatusNote[] {
  return noteOf(statedBy(valueSet.resource), statedBy(user.resource)).map((status) => ({
    type: 'ValueSet',
    canonical: nameOf(valueSet),
    status,
  }))
}

function noteOf(used: Stated, user: Stated): readonly StatusNote['status'][] {
  if (used.standardsStatus === 'deprecated' || used.standardsStatus === 'withdrawn') return [used.standardsStatus]
  if (used.status === 'retired') return ['retired']
  if (used.experimental && !user.experimental) return ['experimental']
  return isDraft(used) && !isDraft(user) ? ['draft'] : []
}

function isDraft({ status, standardsStatus }: Stated): boolean {
  return status === 'draft' || standardsStatus === 'draft'
}

function statedBy(resource: JsonObject): Stated {
  return {
    status: stringAt(resource, 'status') ?? 'unknown',
    experimental: resource['experimental'] === true,
    standardsStatus: standardsStatusOf(resource),
  }
}
