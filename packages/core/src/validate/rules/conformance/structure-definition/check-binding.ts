import { quoted } from '../../../../errors/index.js'
import { PENDING } from '../../../../fhirpath/index.js'
import { isObject } from '../../../../json/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import { resourceOf } from '../../../walk/run.js'
import type { ElementCheck } from './check-elements.js'

/** Checks that an element is bound to a value set to rely on: only experiments, and examples, use experiments. */
export function checkBinding({ run, node }: ElementCheck): void {
  if (isExperiment(resourceOf(node).value)) return
  for (const binding of childrenOf(run, node, 'binding')) {
    const canonical = textOf(binding, 'valueSet')
    if (canonical === undefined || canonical.startsWith('#') || textOf(binding, 'strength') === 'example') continue
    const found = run.facts.definition('ValueSet', canonical)
    if (found === PENDING || !isExperiment(found)) continue
    const text = `The value set ${quoted(canonical)} is an experiment, but the profile is none.`
    run.sink.report('definition-binding', binding, { text, severity: 'warning' })
  }
}

function isExperiment(definition: unknown): boolean {
  return isObject(definition) && definition['experimental'] === true
}
