import { chooseVersion, type CodeSystemProvider, type ConceptSetPlan, type Filter, type VersionRules } from '../terminology/index.js'

/** What a value set takes of one code system. */
export interface SystemPart {
  /** True when it takes all codes; filters and codes are empty then. */
  readonly isWhole: boolean
  /** The filters of each include that has some, by a text that is equal for equal filters in any order. */
  readonly filters: ReadonlyMap<string, readonly Filter[]>
  /** Codes that are listed. */
  readonly codes: ReadonlySet<string>
  /** The versions that the includes come to, as text; empty for a system without version. */
  readonly versions: ReadonlySet<string>
  /** Absent when the system is not known. */
  readonly provider?: CodeSystemProvider | undefined
}

/** Gathers the includes of one code system. */
export function systemPart(includes: readonly ConceptSetPlan[], rules: VersionRules): SystemPart {
  const choices = includes.flatMap(({ family, definition }) =>
    family === undefined ? [] : [chooseVersion(family, { include: definition.version, rules })],
  )
  const isWhole = includes.some(({ definition, filters }) => definition.concepts === undefined && filters.length === 0)
  const filtered = isWhole ? [] : includes.filter(({ filters }) => filters.length > 0)
  const listed = isWhole ? [] : includes.filter(({ filters }) => filters.length === 0)
  return {
    isWhole,
    filters: new Map(filtered.map(({ filters }) => [textOf(filters), filters])),
    codes: new Set(listed.flatMap(({ definition }) => (definition.concepts ?? []).map(({ code }) => code))),
    versions: new Set(choices.map(({ provider, wished }) => provider?.header.version ?? wished ?? '')),
    provider: choices[0]?.provider,
  }
}

function textOf(filters: readonly Filter[]): string {
  return JSON.stringify(filters.map(({ property, op, value }) => JSON.stringify([property, op, value])).toSorted())
}
