import { canonicalOf, highestOf } from '../content/index.js'
import type { MemberKind } from '../input/index.js'
import { isMap, isObject } from '../json/index.js'

/** Rules of a request for the versions of code systems and value sets, each a map from the url without version to the version. Default of each: no rule. */
export interface VersionRules {
  /** `force-system-version`: overrides the version of an include. */
  readonly force?: ReadonlyMap<string, string> | undefined
  /** `check-system-version`: default for includes without version; the version that an include resolves to must match. */
  readonly check?: ReadonlyMap<string, string> | undefined
  /** `system-version`: default for includes without version. */
  readonly fallback?: ReadonlyMap<string, string> | undefined
  /** `default-valueset-version`: default for imports without version. */
  readonly valueSets?: ReadonlyMap<string, string> | undefined
  /** `force-valueset-version`: overrides the version of an import. */
  readonly forcedValueSets?: ReadonlyMap<string, string> | undefined
  /** `check-valueset-version`: default for imports without version; the version that an import resolves to must match. */
  readonly checkedValueSets?: ReadonlyMap<string, string> | undefined
}

/** True if any rule is stated. */
export function hasRules(rules: VersionRules): boolean {
  return RULES.some((name) => (rules[name]?.size ?? 0) > 0)
}

const RULES = ['force', 'check', 'fallback', 'valueSets', 'forcedValueSets', 'checkedValueSets'] as const

/** The rules of a request without rules. */
export const NO_RULES: VersionRules = {}

/** The expected type of the input member `rules`. */
export const VERSION_RULES: MemberKind = {
  words: `an object with Maps from urls to versions: ${RULES.join(', ')}`,
  is: (value) => isObject(value) && Object.entries(value).every(([name, rule]) => isRule(name) && (rule === undefined || isMap(rule))),
}

function isRule(name: string): boolean {
  return RULES.some((rule) => rule === name)
}

/** Creates a map of versions by url from canonicals with version; canonicals without version are ignored. */
export function versionsByUrl(canonicals: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    canonicals.map(canonicalOf).flatMap(({ url, version }): [string, string][] => (version === undefined ? [] : [[url, version]])),
  )
}

/** True if the version is the named one or belongs to the named SNOMED CT edition: `<edition>/version/<date>` belongs to `<edition>`. */
export function isOfVersion(named: string | undefined, version: string | undefined): boolean {
  return named === version || (named !== undefined && version?.startsWith(`${named}/version/`) === true)
}

/**
 * True if the version is the requested one or matches its wildcards: `1.x.x` matches `1.2.0`. A common beginning alone is not a match, and a wildcard
 * does not match a version before a release, such as `1.2.0-beta`, as everywhere in semantic versioning.
 *
 * @param asked A version, a version with segments `x` or `*`, or an edition of SNOMED CT.
 */
export function versionFits(asked: string, version: string | undefined): boolean {
  if (version === undefined) return false
  if (isOfVersion(asked, version)) return true
  const [wanted, given] = [asked.split('.'), (version.split('+', 1)[0] ?? '').split('.')]
  const isWild = (segment: string): boolean => /^[xX*]$/.test(segment)
  return (
    wanted.length === given.length &&
    wanted.some(isWild) &&
    wanted.every((segment, i) => (isWild(segment) ? i === 0 || !BEFORE_RELEASE.test(given[i] ?? '') : segment === given[i]))
  )
}

/** The last number of a version before a release: `0-beta` of `1.2.0-beta`. A version of one segment can be a date. */
const BEFORE_RELEASE = /^\d+-/

/** The version that means the definition without version, where others of the same url have one. */
export const NO_VERSION = ''

/** Returns the item with the requested version: the exact version, otherwise the highest match. */
export function bestVersion<T extends { readonly version?: string }>(items: readonly T[], asked: string): T | undefined {
  if (asked === NO_VERSION) return items.find(({ version }) => version === undefined)
  const fitting = items.filter((item) => versionFits(asked, item.version))
  return fitting.find((item) => item.version === asked) ?? highestOf(fitting)
}

/** What decided the version of an include. */
export type VersionOrigin = 'force' | 'include' | 'fallback' | 'check' | 'value' | 'newest'

/** The version that is wanted for an include, before it is resolved. */
interface VersionWish {
  readonly origin: VersionOrigin
  /** The version as written; absent for the newest. */
  readonly version?: string
}

/** The inputs that decide the version of an include. */
export interface VersionQuestion {
  readonly url: string
  /** Version in the include. */
  readonly include?: string | undefined
  readonly rules: VersionRules
}

/** Returns the wanted version: the forced one, otherwise that of the include, the default, the one that a check requires, or the newest. */
export function wishedVersion({ url, include, rules }: VersionQuestion): VersionWish {
  const candidates = [
    ['force', rules.force?.get(url)],
    ['include', include],
    ['fallback', rules.fallback?.get(url)],
    ['check', rules.check?.get(url)],
  ] as const
  const [origin, version] = candidates.find(([, found]) => found !== undefined) ?? (['newest', undefined] as const)
  return version === undefined ? { origin } : { origin, version }
}
