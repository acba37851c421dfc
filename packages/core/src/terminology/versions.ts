import { canonicalOf, compareVersions } from '../content/index.js'
import type { MemberKind } from '../input/index.js'
import { isObject } from '../json/index.js'

/** Which versions of code systems and value sets a request asks for, each by url without version. */
export interface VersionRules {
  /** `force-system-version`: used whatever an include says. */
  readonly force: ReadonlyMap<string, string>
  /** `check-system-version`: what an include resolves to must match. */
  readonly check: ReadonlyMap<string, string>
  /** `system-version`: used where an include says nothing. */
  readonly fallback: ReadonlyMap<string, string>
  /** `default-valueset-version`: used where an import says nothing. */
  readonly valueSets: ReadonlyMap<string, string>
  /** `force-valueset-version`: used whatever an import says. */
  readonly forcedValueSets?: ReadonlyMap<string, string> | undefined
  /** `check-valueset-version`: used where an import says nothing, and what an import resolves to must match. */
  readonly checkedValueSets?: ReadonlyMap<string, string> | undefined
}

/** True when some rule is stated. */
export function hasRules(rules: VersionRules): boolean {
  return RULES.some((name) => (rules[name]?.size ?? 0) > 0)
}

const RULES = ['force', 'check', 'fallback', 'valueSets', 'forcedValueSets', 'checkedValueSets'] as const

/** The rules of a request that has none. */
export const NO_RULES: VersionRules = { force: new Map(), check: new Map(), fallback: new Map(), valueSets: new Map() }

/** What `rules` of an input must be. */
export const VERSION_RULES: MemberKind = {
  words: 'an object with the Maps force, check, fallback and valueSets (versionsByUrl)',
  is: (value) => isObject(value) && RULES.every((name) => value[name] instanceof Map || (value[name] === undefined && !(name in NO_RULES))),
}

/** Versions by url, from canonicals with version; canonicals without one say nothing. */
export function versionsByUrl(canonicals: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    canonicals.map(canonicalOf).flatMap(({ url, version }): [string, string][] => (version === undefined ? [] : [[url, version]])),
  )
}

/** True when the version is the one named, or one of the SNOMED CT edition named: `<edition>/version/<date>` is of `<edition>`. */
export function isOfVersion(named: string | undefined, version: string | undefined): boolean {
  return named === version || (named !== undefined && version?.startsWith(`${named}/version/`) === true)
}

/**
 * True when the version is the one asked for, or fits its wild cards: `1.x.x` fits `1.2.0`. A version that only begins alike does not fit.
 *
 * @param asked A version, one in which segments are `x` or `*`, or an edition of SNOMED CT.
 */
export function versionFits(asked: string, version: string | undefined): boolean {
  if (isOfVersion(asked, version)) return true
  if (version === undefined) return false
  const wanted = asked.split('.')
  const given = version.split('.')
  const wild = (segment: string): boolean => segment === 'x' || segment === 'X' || segment === '*'
  if (!wanted.some(wild)) return false
  return wanted.length === given.length && wanted.every((segment, i) => wild(segment) || segment === given[i])
}

/** The one asked for among items that have versions: the exact version, else the highest that fits. */
export function bestVersion<T extends { readonly version?: string }>(items: readonly T[], asked: string): T | undefined {
  const fitting = items.filter((item) => versionFits(asked, item.version))
  return fitting.find((item) => item.version === asked) ?? fitting.toSorted((a, b) => compareVersions(b.version, a.version))[0]
}

/** Why an include ends at its version. */
export type VersionOrigin = 'force' | 'include' | 'fallback' | 'check' | 'value' | 'newest'

/** The version that an include asks for, before it is looked up. */
export interface VersionWish {
  readonly origin: VersionOrigin
  /** As it was written; absent when the newest will do. */
  readonly version?: string
}

/** What decides the version of an include of a code system. */
export interface VersionQuestion {
  readonly url: string
  /** Version in the include. */
  readonly include?: string | undefined
  readonly rules: VersionRules
}

/** Which version is wanted: a forced one, else the include's, else the default, else what a check demands, else the newest. */
export function wishedVersion({ url, include, rules }: VersionQuestion): VersionWish {
  const candidates = [
    ['force', rules.force.get(url)],
    ['include', include],
    ['fallback', rules.fallback.get(url)],
    ['check', rules.check.get(url)],
  ] as const
  const [origin, version] = candidates.find(([, found]) => found !== undefined) ?? (['newest', undefined] as const)
  return version === undefined ? { origin } : { origin, version }
}
