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
  const names = excluded.map(canonicalOf)
  const made = new Map<ValueSetPlan, ValueSetPlan>()
  const isLeft = ({ family, definition }: ConceptSetPlan): boolean => {
    const versions = names.flatMap(({ url, version }) => (url === family?.url ? [version] : []))
    if (family === undefined || versions.length === 0) return true
    const { provider } = chooseVersion(family, { include: definition.version, rules: scope.rules })
    return !versions.some((version) => version === undefined || version === provider?.header.version)
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
