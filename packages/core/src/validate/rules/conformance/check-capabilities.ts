import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

/** Checks that the search parameters of a CapabilityStatement have the types that their definitions give them. */
export function checkCapabilities(run: Run, node: FhirNode): void {
  for (const rest of childrenOf(run, node, 'rest')) {
    const ofResources = childrenOf(run, rest, 'resource').flatMap((resource) => childrenOf(run, resource, 'searchParam'))
    for (const parameter of [...ofResources, ...childrenOf(run, rest, 'searchParam')]) checkCapability(run, parameter)
  }
}

function checkCapability(run: Run, parameter: FhirNode): void {
  const canonical = textOf(parameter, 'definition')
  const type = textOf(parameter, 'type')
  const definition = canonical === undefined ? undefined : run.facts.definition('SearchParameter', canonical)
  if (!isObject(definition) || type === undefined || definition['type'] === type) return
  run.sink.report('capability-search', parameter, {
    text: `The type is ${quoted(type)}, but the parameter is defined with ${quoted(String(definition['type']))}.`,
  })
}
