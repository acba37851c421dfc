import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { isAllowed, namesOf, targetProfilesOf } from './allowed-targets.js'
import { containedOf, referenceOf } from './resolve-locally.js'

/** A search that finds one resource, in the place of a reference. */
const CONDITIONAL = /^[A-Z][A-Za-z]{0,63}\?/
const QUERY = /^[_a-zA-Z][_a-zA-Z0-9]*=[^=&]*$/

/** Checks the form of a Reference, and that one to a contained resource leads to one. */
export function checkReference(run: Run, node: FhirNode): void {
  const reference = referenceOf(node)
  if (reference === undefined) return checkUnresolvable(run, node)
  if (/\s/.test(reference)) {
    run.findings.report('reference', node, { text: `The reference ${quoted(reference)} has white space.`, code: 'invalid' })
    return
  }
  if (
    CONDITIONAL.test(reference) &&
    !reference
      .slice(reference.indexOf('?') + 1)
      .split('&')
      .every((part) => QUERY.test(part))
  )
    run.findings.report('reference', node, { text: `The search in ${quoted(reference)} is none.`, code: 'invalid' })
  if (!reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined) return
  run.findings.report('reference', node, { text: `There is no contained resource ${quoted(reference)}.` })
}

/** What has no reference is for people, unless an identifier tells what is meant. */
function checkUnresolvable(run: Run, node: FhirNode): void {
  const [identifier] = childrenOf(run, node, 'identifier')
  const isIdentified = identifier !== undefined && (textOf(identifier, 'system') ?? textOf(identifier, 'value')) !== undefined
  if (isIdentified || textOf(node, 'display') !== undefined) return
  const text = 'There is neither a reference nor an identifier, so there should be a display.'
  run.findings.report('reference', node, { text, severity: 'warning' })
}

/** A Reference whose text may tell the type of its target. */
interface StatedType {
  readonly rules: readonly ElementRule[]
  /** What the reference leads to, where that is at hand. */
  readonly resource: FhirNode | undefined
}

/** Checks the type that a Reference states: it must be that of the target, and be allowed. An absolute one is that of a logical model. */
export function checkStatedType(run: Run, node: FhirNode, { rules, resource }: StatedType): void {
  const stated = textOf(node, 'type')
  if (stated === undefined || stated.includes(':') || !run.isStructural) return
  const say = (text: string): void => run.findings.report('reference', node, { text })
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
