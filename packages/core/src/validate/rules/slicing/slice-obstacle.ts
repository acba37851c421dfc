import { quoted } from '../../../errors/index.js'
import { PENDING, type Pending } from '../../../fhirpath/index.js'
import type { DiscriminatorStep } from '../../profile/discriminator-path.js'
import type { Discriminator, ElementRule } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'
import type { SliceQuestion } from './slice-match.js'

/** Why it cannot be decided which nodes are in a slice, as the end of a sentence; `undefined` when its definition is sound. */
export function sliceObstacle(run: Run, type: string, { slice, same, discriminators }: SliceQuestion): string | undefined {
  for (const discriminator of discriminators) {
    const { path, steps } = discriminator
    const unknown = unknownStep(run, type, steps)
    if (unknown !== undefined)
      return `the path ${quoted(path)} of a discriminator leads to nothing, as there is no element ${quoted(unknown)}`
    if (steps[0]?.kind === 'resolve' && !REFERRING.has(type))
      return `the path ${quoted(path)} of a discriminator resolves ${type}, which is not a type of references`
    const names = childNames(steps)
    if (names === undefined) continue
    const place = placeIn(run, { type, rules: [slice, ...same], names })
    if (place === PENDING) return undefined
    const text = place && obstacleAt({ ...place, discriminator })
    if (text !== undefined) return `the slice '${slice.sliceName}' ${text}`
  }
  return undefined
}

const REFERRING: ReadonlySet<string> = new Set(['Reference', 'canonical', 'uri', 'url', 'Resource'])

/** The names of a path of elements only; `undefined` for other paths. */
function childNames(steps: readonly DiscriminatorStep[]): readonly string[] | undefined {
  const names = steps.flatMap((step) => (step.kind === 'child' ? [step.name] : []))
  return names.length === steps.length ? names : undefined
}

interface Way {
  readonly type: string
  readonly rules: readonly ElementRule[]
  readonly names: readonly string[]
}

/** The rules at the end of a path; `undefined` when an element above states a value, or the path goes through a choice. */
function placeIn(run: Run, { type, rules, names }: Way): Omit<Discriminated, 'discriminator'> | undefined | Pending {
  let [parent, wanted]: [string, readonly ElementRule[]] = [type, rules]
  for (const name of names.slice(0, -1)) {
    wanted = wanted.flatMap(({ children }) => children.get(name) ?? [])
    const slots = run.model.type(parent)?.elements.get(name) ?? []
    if (slots.length !== 1 || wanted.some(saysValue)) return undefined
    parent = slots[0]?.type ?? ''
  }
  const base = run.definitions.baseType(parent)
  if (base === PENDING) return PENDING
  const name = names.at(-1)
  return {
    wanted: name === undefined ? wanted : wanted.flatMap(({ children }) => children.get(name) ?? []),
    general: name === undefined ? undefined : base?.root.children.get(name),
    isBindable: isBindable(run, parent, name),
  }
}

/** Whether a rule restricts a whole value, and thus its content. */
function saysValue({ value, bindings, types, max }: ElementRule): boolean {
  return Object.keys(value).length > 0 || bindings.length > 0 || types.some(({ profiles }) => profiles.length > 0) || max === 0
}

interface Discriminated {
  readonly discriminator: Discriminator
  /** The rules of the slice for the element. */
  readonly wanted: readonly ElementRule[]
  /** The rule of its type. */
  readonly general: ElementRule | undefined
  /** True when a binding of the base may distinguish slices; bindings to examples are not known here. */
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

/** Texts that are bound only in choices, to examples, such as the answers of questionnaires. */
const TEXTS: ReadonlySet<string> = new Set(['string', 'uri', 'url', 'canonical'])

function isBindable({ model }: Run, type: string, child: string | undefined): boolean {
  if (child === undefined) return CODED.has(type) || TEXTS.has(type)
  const slots = model.type(type)?.elements.get(child) ?? []
  return slots.some((slot) => CODED.has(slot.type) || (slot.isChoice && TEXTS.has(slot.type)))
}

/** Whether a rule states anything that distinguishes values. */
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

/** The first step of a path that the types do not have, as far as the path goes through elements of known types. */
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
