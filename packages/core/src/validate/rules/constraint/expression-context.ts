import { PENDING, isNode, type FhirNode, type FhirPathContext, type Item, type Pending } from '../../../fhirpath/index.js'
import { profileRoots } from '../../walk/profile-roots.js'
import { resourceOf, type Run } from '../../walk/run.js'
import { codesOf } from '../binding/coded-value.js'
import { readNarrative } from '../narrative/narrative-problems.js'
import { conforms } from '../profile/conforms.js'
import { containerOf, resolveLocally } from '../reference/resolve-locally.js'
import { isInNamedSlice } from '../slicing/named-slice.js'
import { elementDefinitionOf } from './element-definition.js'

/** What expressions on a node work with: `%resource` is the nearest resource, `%rootResource` the one that contains it. */
export function expressionContext(run: Run, node: FhirNode): FhirPathContext {
  const resource = resourceOf(node)
  const known = run.contexts.get(resource)
  if (known !== undefined) return known
  const context: FhirPathContext = {
    resource,
    rootResource: containerOf(resource),
    now: () => run.now,
    host: {
      resolve: (reference, from) => (reference === undefined ? undefined : resolveLocally(run, from ?? node, reference)),
      conformsTo: (candidate, profile) => conformsTo(run, candidate, profile),
      memberOf: (coded, valueSet) => memberOf(run, coded, valueSet),
      convertUnit: run.convertUnit,
      elementDefinition: (one) => elementDefinitionOf(run, one),
      slice: (one, slice) => isInNamedSlice(run, one, slice),
      htmlChecks: (xhtml) => readNarrative(xhtml).problems.length === 0,
    },
  }
  run.contexts.set(resource, context)
  return context
}

/** Unknown when there is no such profile. */
function conformsTo(run: Run, node: FhirNode, canonical: string): boolean | undefined | Pending {
  const profile = run.facts.profile(canonical)
  if (profile === undefined || profile === PENDING) return profile
  return profile.type === node.type.name && conforms(run, node, { rules: profileRoots(run, canonical), key: canonical })
}

/** For good pending when the value set is not known, or needs content that is not here: what depends on that cannot be told to fail. */
function memberOf(run: Run, coded: Item, canonical: string): boolean | Pending {
  const list = run.facts.valueSet(canonical)
  if (list === undefined || list === PENDING) return PENDING
  const codes = typeof coded === 'string' ? [{ code: coded }] : isNode(coded) ? codesOf(coded) : []
  const verdicts = codes.map((code) => list.has(code))
  if (verdicts.includes('in')) return true
  return verdicts.includes('unknown') ? PENDING : false
}
