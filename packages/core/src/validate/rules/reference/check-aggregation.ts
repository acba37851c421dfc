import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { entryAround } from './resolve-locally.js'

/**
 * Checks that what a Reference leads to is where the rules want it: contained, in the Bundle, or elsewhere. What must be in a Bundle is asked for
 * only where there is one.
 *
 * @see https://hl7.org/fhir/R4/valueset-resource-aggregation-mode.html
 */
export function checkAggregation(run: Run, node: FhirNode, { rules, reference, resource }: Referred): void {
  const [mode = '', other = mode] = modesOf(reference, resource)
  const code = mode === 'referenced' ? 'required' : 'structure'
  if (code === 'required' && entryAround(node) === undefined) return
  for (const rule of rules) {
    const aggregation = aggregationOf(rule)
    if (aggregation.length === 0 || aggregation.includes(mode) || aggregation.includes(other)) continue
    const wanted = aggregation.map((one) => PLACES.get(one) ?? one).join(' or ')
    const text = `What ${quoted(reference)} leads to is ${PLACES.get(mode)}, but it must be ${wanted}.`
    run.sink.report('reference', node, { text, code, profile: rule.profile })
  }
}

/** A Reference with the resource that it leads to, if that is at hand. */
interface Referred {
  readonly rules: readonly ElementRule[]
  readonly reference: string
  readonly resource: FhirNode | undefined
}

/** What is in the Bundle is also elsewhere. */
function modesOf(reference: string, resource: FhirNode | undefined): readonly string[] {
  if (reference.startsWith('#')) return ['contained']
  return resource === undefined ? ['referenced'] : ['bundled', 'referenced']
}

function aggregationOf({ types }: ElementRule): readonly string[] {
  return types.find(({ code }) => code === 'Reference')?.aggregation ?? []
}

const PLACES: ReadonlyMap<string, string> = new Map([
  ['contained', 'contained'],
  ['bundled', 'in the Bundle'],
  ['referenced', 'elsewhere'],
])
