import { formatCanonical } from '../content/index.js'
import { standInNotes, standIns, statusNotes, withImports, type Members, type ValueSetPlan } from '../terminology/index.js'
import type { ExpandInput } from './expand-input.js'
import type { ExpansionParameter } from './expansion.js'

/** What went into an expansion. */
export interface ReportInput {
  readonly input: ExpandInput
  readonly plan: ValueSetPlan
  readonly members: Members
  /** As it was stated, by whomever. */
  readonly displayLanguage: string | undefined
}

/** The parameters of an expansion: those that were asked for, then what was used. */
export function reportedParameters({ input, plan, members, displayLanguage }: ReportInput): readonly ExpansionParameter[] {
  return [
    ...flag('activeOnly', input.activeOnly),
    ...flag('excludeNotForUI', input.excludeNotForUI),
    ...number('count', input.count),
    ...number('offset', input.offset),
    ...flag('excludeNested', input.excludeNested),
    ...flag('includeDesignations', input.includeDesignations),
    ...flag('includeDefinition', input.includeDefinition),
    ...(input.filter === undefined ? [] : [{ name: 'filter', type: 'String', value: input.filter } as const]),
    ...(displayLanguage === undefined ? [] : [{ name: 'displayLanguage', type: 'Code', value: displayLanguage } as const]),
    ...(input.designations ?? []).map((value) => ({ name: 'designation', type: 'String', value }) as const),
    ...(input.excludeSystems ?? []).map((system) => uri('exclude-system', system)),
    ...Array.from(input.rules?.valueSets ?? [], ([url, version]) => uri('default-valueset-version', formatCanonical(url, version))),
    ...versionRules({ input, members }),
    ...used({ plan, members }),
  ]
}

const RULES = [
  ['force', 'force-system-version'],
  ['check', 'check-system-version'],
  ['fallback', 'system-version'],
] as const

/** The version rules that decided the version of an include. */
function versionRules({ input, members }: Pick<ReportInput, 'input' | 'members'>): readonly ExpansionParameter[] {
  return RULES.flatMap(([origin, name]) => {
    const urls = new Set(members.systems.filter((choice) => choice.origin === origin).map((choice) => choice.family.url))
    return Array.from(urls, (url) => uri(name, formatCanonical(url, input.rules?.[origin].get(url))))
  })
}

function used({ plan, members }: Pick<ReportInput, 'plan' | 'members'>): readonly ExpansionParameter[] {
  const providers = members.systems.flatMap(({ provider }) => provider ?? [])
  const names = (kind: string, canonicals: readonly string[]): readonly ExpansionParameter[] =>
    Array.from(new Set(canonicals), (canonical) => uri(kind, canonical))
  const canonicalOf = ({ header }: (typeof providers)[number]): string => formatCanonical(header.url, header.version)
  const imported = withImports(plan).filter((other) => other !== plan && !other.contained)
  return [
    ...names('used-codesystem', providers.map(canonicalOf)),
    ...names(
      'used-valueset',
      imported.flatMap(({ valueSet }) => valueSet.canonical ?? []),
    ),
    ...names(
      'used-supplement',
      providers.flatMap(({ supplements }) => supplements),
    ),
    ...names('used-fragment', providers.filter(({ header }) => !header.complete).map(canonicalOf)),
    ...[...statusNotes(plan, providers), ...standInNotes(plan.valueSet, standIns(members.segments))].map(({ status, canonical }) =>
      uri(`warning-${status}`, canonical),
    ),
    ...(members.merged ? [{ name: 'versionsMatch', type: 'Boolean', value: true } as const] : []),
  ]
}

function flag(name: string, value: boolean | undefined): readonly ExpansionParameter[] {
  return value === undefined ? [] : [{ name, type: 'Boolean', value }]
}

function number(name: string, value: number | undefined): readonly ExpansionParameter[] {
  return value === undefined ? [] : [{ name, type: 'Integer', value }]
}

function uri(name: string, value: string): ExpansionParameter {
  return { name, type: 'Uri', value }
}
