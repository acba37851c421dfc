import { canonicalOf, type Brought } from '../../content/index.js'
import { PENDING, type Pending } from '../../fhirpath/index.js'
import type { CodeList } from './codes.js'
import type { Facts } from './facts.js'

/**
 * Facts of a request that brings definitions. What rests on none of them is answered by the facts of the content below, which know it from
 * earlier validations; the other answers are the request's own and end with it.
 */
export function broughtFacts(own: Facts, brought: Brought, below: Facts): Facts {
  const by = (type: string, canonical: string): Facts => (brought.get(type)?.has(canonicalOf(canonical).url) === true ? own : below)
  const lists = new Map<CodeList, boolean>()
  const isBelow = (list: CodeList): boolean => {
    const known = lists.get(list) ?? !list.restsOn(brought)
    lists.set(list, known)
    return known
  }
  const either = (list: CodeList | undefined | Pending, ask: () => CodeList | undefined | Pending): CodeList | undefined | Pending =>
    list === PENDING || (list !== undefined && isBelow(list)) ? list : ask()
  return {
    ...own,
    profile: (canonical) => by('StructureDefinition', canonical).profile(canonical),
    definition: (type, canonical) => by(type, canonical).definition(type, canonical),
    globalProfiles: (type) => (brought.has('ImplementationGuide') ? own : below).globalProfiles(type),
    codeSystem: (canonical) => by('CodeSystem', canonical).codeSystem(canonical),
    valueSet: (canonical) => either(below.valueSet(canonical), () => own.valueSet(canonical)),
    baseValueSet: (canonical) => either(below.baseValueSet(canonical), () => own.baseValueSet(canonical)),
  }
}
