import { isNode, PENDING, rootNode, type FhirNode, type FhirPathContext, type Item, type Pending } from '../../../fhirpath/index.js'
import { TYPE_URL } from '../../run/element-rule.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { conforms, profileRoots } from '../profile/conforms.js'
import { resourceOf, type Run } from '../../run/run.js'
import { codesOf } from '../codes/bound-codes.js'
import { readNarrative } from '../narrative/read-narrative.js'
import { containerOf, resolveLocally } from '../reference/resolve-locally.js'
import { isInNamedSlice } from '../slicing/slice-match.js'

/** The evaluation context for expressions on a node: `%resource` is the nearest resource, `%rootResource` the one that contains it. */
export function expressionContext(run: Run, node: FhirNode): FhirPathContext {
  const resource = resourceOf(node)
  const known = run.indexes.contexts.get(resource)
  if (known !== undefined) return known
  const context: FhirPathContext = {
    resource,
    rootResource: containerOf(resource),
    now: () => run.now,
    spent: run.scheduler.evaluated,
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
  run.indexes.contexts.set(resource, context)
  return context
}

/** Whether a node conforms to a profile; `undefined` when the profile is not known. */
function conformsTo(run: Run, node: FhirNode, canonical: string): boolean | undefined | Pending {
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return profile
  return profile.type === node.type.name && conforms(run, node, { rules: profileRoots(run, canonical), key: canonical })
}

/**
 * Whether a code is in a value set. Remains `PENDING` when the value set is not known or needs content that is not available, so that constraints which
 * depend on it do not fail.
 */
function memberOf(run: Run, coded: Item, canonical: string): boolean | Pending {
  const list = run.definitions.valueSet(canonical)
  if (list === undefined || list === PENDING) return PENDING
  const codes = typeof coded === 'string' ? [{ code: coded }] : isNode(coded) ? codesOf(coded) : []
  const verdicts = codes.map((code) => list.has(code))
  if (verdicts.includes('in')) return true
  return verdicts.includes('unknown') ? PENDING : false
}

/** The ElementDefinition of a node in FHIR's own types; for a resource that is not in another, the one of its type. */
function elementDefinitionOf(run: Run, { parent, slot, type }: FhirNode): FhirNode | undefined | Pending {
  const owner = parent?.type.name ?? type.name
  const definition = run.definitions.definition('StructureDefinition', TYPE_URL + (owner.split('.', 1)[0] ?? ''))
  if (definition === undefined || definition === PENDING) return definition
  const path = slot === undefined ? owner : `${owner}.${slot.name}${slot.isChoice ? '[x]' : ''}`
  const elements = childrenOf(run, rootNode(run.model, definition), 'snapshot').flatMap((snapshot) => childrenOf(run, snapshot, 'element'))
  return elements.find((element) => textOf(element, 'path') === path)
}
