import { PENDING, type Pending } from '../../../fhirpath/index.js'
import type { DiscriminatorStep } from '../../profile/discriminator-path.js'
import type { ElementRule } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'

/** An element of a type, a nested one such as `Patient.contact` too. */
export interface TypeElement {
  readonly type: string
  readonly name: string
}

/**
 * The rule of FHIR's own types for the element at the end of a discriminator's path; `undefined` when the path goes through a choice, or has other steps than
 * elements.
 */
export function generalRule(run: Run, from: TypeElement, steps: readonly DiscriminatorStep[]): ElementRule | undefined | Pending {
  let at = from
  for (const step of steps) {
    const [only, second] = run.model.type(at.type)?.elements.get(at.name) ?? []
    if (step.kind !== 'child' || only === undefined || second !== undefined) return undefined
    at = { type: only.type, name: step.name }
  }
  return elementRule(run, at)
}

function elementRule(run: Run, { type, name }: TypeElement): ElementRule | undefined | Pending {
  const [whole = ''] = type.split('.', 1)
  const definition = run.definitions.baseType(whole)
  if (definition === undefined || definition === PENDING) return definition
  const { children } = whole === type ? definition.root : (definition.elements.get(type) ?? definition.root)
  return children.get(name)
}
