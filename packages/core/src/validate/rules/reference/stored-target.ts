import { quoted } from '../../../errors/index.js'
import { PENDING, rootNode, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt } from '../../../json/index.js'
import { emptyIndexes, type Run } from '../../run/run.js'
import { isAllowed, type Target } from './allowed-targets.js'
import { REFERENCE } from './check-reference.js'

const RELATIVE = /^([A-Z][A-Za-z]{0,63})\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?(?:#.*)?$/

/**
 * Checks that what a relative reference names is stored and, where the caller asks for it, that it conforms to one of the profiles that the element
 * allows. References of what is stored are not followed any further.
 *
 * @param canonicals Of each rule on the element, the profiles of which one must be obeyed.
 */
export function checkStored(
  run: Run,
  node: FhirNode,
  { reference, canonicals }: { reference: string; canonicals: readonly (readonly string[])[] },
): void {
  if (run.policy.validateReferences === 'off' || !run.checksTypes) return
  const [, type = '', id = ''] = RELATIVE.exec(reference) ?? []
  if (run.model.type(type)?.kind !== 'resource') return
  if (isBeside(run, type, id)) return
  const stored = run.definitions.stored(type, id)
  if (stored === PENDING) return
  if (stored === undefined) {
    run.findings.report(REFERENCE, node, { text: `Unable to resolve the reference ${quoted(reference)}: no such resource is stored.` })
    return
  }
  if (run.policy.validateReferences === 'exists' || !isObject(stored.value) || stringAt(stored.value, 'resourceType') !== type) return
  const resource = rootNode(run.model, stored.value)
  const policy = { ...run.policy, validateReferences: 'off' as const }
  const outside: Run = { ...run, root: resource, policy, numberText: stored.numberText, indexes: emptyIndexes() }
  const target: Target = { type: resource.type, resource, address: `${type}/${id}` }
  const unmet = canonicals.find((allowed) => !allowed.some((canonical) => isAllowed(outside, target, canonical)))
  if (unmet === undefined) return
  run.findings.report(REFERENCE, node, {
    text: `The resource that is stored as ${quoted(reference)} does not conform to any profile that is allowed here: ${unmet.join(', ')}.`,
  })
}

/** True for what another parameter of the same Parameters brings. */
function isBeside({ root }: Run, type: string, id: string): boolean {
  if (root.type.name !== 'Parameters' || !isObject(root.value)) return false
  return objectsAt(root.value, 'parameter').some((parameter) => {
    const resource = objectAt(parameter, 'resource')
    return stringAt(resource, 'resourceType') === type && stringAt(resource, 'id') === id
  })
}
