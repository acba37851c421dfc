import { PENDING, type Pending } from '../../../fhirpath/index.js'
import { objectsAt } from '../../../json/index.js'
import type { CodeList } from '../../facts/codes.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** The value set to which a rule binds: a profile may contain it, and then names it by `#` and its id. `undefined` when it is not known. */
export function boundList(run: Run, { isBase, profile }: ElementRule, valueSet: string): CodeList | undefined | Pending {
  if (isBase) return run.facts.baseValueSet(valueSet)
  if (!valueSet.startsWith('#')) return run.facts.valueSet(valueSet)
  const definition = run.facts.definition('StructureDefinition', profile)
  if (definition === undefined || definition === PENDING) return definition
  const contained = objectsAt(definition, 'contained').find((one) => one['resourceType'] === 'ValueSet' && one['id'] === valueSet.slice(1))
  return contained === undefined ? undefined : run.facts.givenValueSet(contained)
}

/** The value sets to which rules bind, as far as they are known. */
export function boundLists(run: Run, rules: readonly ElementRule[]): readonly CodeList[] {
  return rules.flatMap((rule) =>
    rule.bindings.flatMap(({ valueSet }) => {
      const list = boundList(run, rule, valueSet)
      return list === undefined || list === PENDING ? [] : [list]
    }),
  )
}
