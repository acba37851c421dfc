import { quoted } from '../../../errors/index.js'
import { PENDING } from '../../../fhirpath/index.js'
import type { DiscriminatorStep } from '../../profile/discriminator-path.js'
import type { Discriminator, ElementRule } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'
import type { SliceQuestion } from './slice-match.js'

/** Why it cannot be decided what is in a slice, as the end of a sentence; `undefined` where its definition is sound. */
export function sliceObstacle(run: Run, type: string, { slice, same, discriminators }: SliceQuestion): string | undefined {
  for (const discriminator of discriminators) {
    const { path, steps } = discriminator
    const unknown = unknownStep(run, type, steps)
    if (unknown !== undefined)
      return `the path ${quoted(path)} of a discriminator leads to nothing, as there is no element ${quoted(unknown)}`
    const [step] = steps
    if (steps.length > 1 || (step !== undefined && step.kind !== 'child')) continue
    const base = run.definitions.baseType(type)
    if (base === PENDING) return undefined
    const own = [slice, ...same]
    const wanted = step?.name === undefined ? own : own.flatMap(({ children }) => children.get(step.name) ?? [])
    const general = step?.name === undefined ? undefined : base?.root.children.get(step.name)
    const text = obstacleAt({ discriminator, wanted, general, isBindable: isBindable(run, type, step?.name) })
    if (text !== undefined) return `the slice '${slice.sliceName}' ${text}`
  }
  return undefined
}

interface Discriminated {
  readonly discriminator: Discriminator
  /** What the slice says of the element. */
  readonly wanted: readonly ElementRule[]
  /** What its type says. */
  readonly general: ElementRule | undefined
  /** True where a binding of the base may distinguish slices: those of examples are not known here. */
  readonly isBindable: boolean
}

function obstacleAt({ discriminator: { type, path }, wanted, general, isBindable: mayBeBound }: Discriminated): string | undefined {
  const all = general === undefined ? wanted : [...wanted, general]
  if (type === 'exists')
    return path === '$this' || all.some(isDecisive)
      ? undefined
      : `neither demands nor forbids ${quoted(path)}, which its discriminator asks for`
  if (mayBeBound || (type !== 'value' && type !== 'pattern')) return undefined
  return wanted.some(tellsValue) || (general !== undefined && general.bindings.length > 0)
    ? undefined
    : `has no fixed value, pattern, binding or cardinality at ${quoted(path)}, which its discriminator asks for`
}

const CODED: ReadonlySet<string> = new Set(['CodeableConcept', 'Coding', 'code', 'Quantity', 'Extension'])

/** Texts that only the examples of choices are bound in, as in the answers of questionnaires. */
const TEXTS: ReadonlySet<string> = new Set(['string', 'uri', 'url', 'canonical'])

function isBindable({ model }: Run, type: string, child: string | undefined): boolean {
  if (child === undefined) return CODED.has(type) || TEXTS.has(type)
  const slots = model.type(type)?.elements.get(child) ?? []
  return slots.some((slot) => CODED.has(slot.type) || (slot.isChoice && TEXTS.has(slot.type)))
}

/** Whether a rule says anything by which values can be distinguished. */
function tellsValue(rule: ElementRule): boolean {
  const { value, bindings, children, slices, types, constraints } = rule
  return (
    Object.keys(value).length > 0 ||
    bindings.length > 0 ||
    children.size > 0 ||
    slices.length > 0 ||
    constraints.length > 0 ||
    types.some(({ profiles, targetProfiles }) => profiles.length > 0 || targetProfiles.length > 0) ||
    rule.max === 0
  )
}

function isDecisive(rule: ElementRule | undefined): boolean {
  return rule !== undefined && (rule.min > 0 || rule.max === 0)
}

/** The first step of a path that the types do not have, as far as the path goes through elements of known types only. */
function unknownStep({ model }: Run, from: string, steps: readonly DiscriminatorStep[]): string | undefined {
  let type = model.type(from)
  for (const step of steps) {
    if (step.kind !== 'child' || type === undefined) return undefined
    const slots = type.elements.get(step.name)
    if (slots === undefined) return type.elements.size === 0 || type.kind === 'primitive' ? undefined : step.name
    type = slots.length === 1 ? model.type(slots[0]?.type ?? '') : undefined
    if (type?.kind === 'resource') return undefined
  }
  return undefined
}
