import { canonicalOf } from '../../content/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import type { TerminologyScope } from '../scope.js'
import { namedSystems, type ConceptSetPlan, type ValueSetPlan } from './plan.js'

/**
 * A value set without what it, or a value set that it imports, includes of some code systems. They need not be known.
 *
 * @param excluded Canonicals of the code systems; one without version stands for every version.
 */
export function withoutSystems(scope: TerminologyScope, plan: ValueSetPlan, excluded: readonly string[]): ValueSetPlan {
  if (excluded.length === 0) return plan
  const named = versionsNamed(excluded)
  const made = new Map<ValueSetPlan, ValueSetPlan>()
  const isLeft = ({ family, definition }: ConceptSetPlan): boolean => {
    const versions = family === undefined ? undefined : named.get(family.url)
    if (family === undefined || versions === undefined) return true
    const { provider } = chooseVersion(family, { include: definition.version, rules: scope.rules })
    return !versions.has(undefined) && !versions.has(provider?.header.version)
  }
  const reduced = (one: ValueSetPlan): ValueSetPlan => {
    const known = made.get(one)
    if (known !== undefined) return known
    const includes = one.includes.filter(isLeft).map((part) => ({ ...part, imports: part.imports.map(reduced) }))
    const result = { ...one, includes, systems: namedSystems([...includes, ...one.excludes]) }
    made.set(one, result)
    return result
  }
  return reduced(plan)
}

/** Versions by url; `undefined` is among those of a url that stands alone. */
function versionsNamed(canonicals: readonly string[]): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const groups = Map.groupBy(canonicals.map(canonicalOf), ({ url }) => url)
  return new Map(Array.from(groups, ([url, group]) => [url, new Set(group.map(({ version }) => version))]))
}
