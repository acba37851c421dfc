import type { FhirNode, FhirPathContext } from '../../../fhirpath/index.js'
import { resourceOf, type Run } from '../../walk/run.js'
import { containerOf, resolveLocally } from '../reference/resolve-locally.js'

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
      resolve: (reference, from) => resolveLocally(run, from ?? node, reference),
      conformsTo: () => undefined,
      memberOf: () => undefined,
      htmlChecks: () => true,
    },
  }
  run.contexts.set(resource, context)
  return context
}
