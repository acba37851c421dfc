import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'

/** Checks that the search parameters of a CapabilityStatement have the types that their definitions give them. */
export function* checkCapabilities(run: Run, node: FhirNode): Work<void> {
  for (const rest of childrenOf(run, node, 'rest')) {
    for (const resource of childrenOf(run, rest, 'resource')) yield* checkParameters(run, resource)
    yield* checkParameters(run, rest)
  }
}

function* checkParameters(run: Run, holder: FhirNode): Work<void> {
  for (const parameter of childrenOf(run, holder, 'searchParam')) {
    checkCapability(run, parameter)
    yield
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
