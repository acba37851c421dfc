import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import { textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { isAllowed, namesOf, targetProfilesOf } from './allowed-targets.js'
import { referenceOf } from './resolve-locally.js'

/** A Reference whose text may tell the type of its target. */
export interface StatedType {
  readonly rules: readonly ElementRule[]
  /** What the reference leads to, where that is at hand. */
  readonly resource: FhirNode | undefined
}

/** Checks the type that a Reference states: it must be that of the target, and be allowed. An absolute one is that of a logical model. */
export function checkStatedType(run: Run, node: FhirNode, { rules, resource }: StatedType): void {
  const stated = textOf(node, 'type')
  if (stated === undefined || stated.includes(':') || !run.isStructural) return
  const say = (text: string): void => run.sink.report('reference', node, { text })
  const type = resource?.type.name ?? typeIn(run, referenceOf(node) ?? '')
  if (type !== undefined && stated !== type)
    say(`The reference leads to a resource of the type ${type}, but its type is stated as ${quoted(stated)}.`)
  const forbidding = rules.map(targetProfilesOf).find((canonicals) => canonicals.length > 0 && !allows(run, canonicals, stated))
  if (forbidding !== undefined) say(`The type is stated as ${quoted(stated)}, but must be one of ${namesOf(forbidding)}.`)
}

function allows(run: Run, canonicals: readonly string[], stated: string): boolean {
  const type = run.model.type(stated)
  return type !== undefined && canonicals.some((canonical) => isAllowed(run, { type }, canonical))
}

const ADDRESS = /(?:^|\/)([A-Z][A-Za-z]{0,63})\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/

/** The type of resource that the address ends with. */
function typeIn(run: Run, reference: string): string | undefined {
  const name = ADDRESS.exec(reference)?.[1] ?? ''
  return run.model.type(name)?.kind === 'resource' ? name : undefined
}
