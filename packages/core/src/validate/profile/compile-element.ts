import type { TypeModel } from '../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { TYPE_URL } from '../../text/index.js'
import { jsonTest, type JsonTestOptions } from '../rules/constraint/json-test.js'
import {
  type BindingRule,
  type ConstraintRule,
  type Discriminator,
  discriminatorSteps,
  type ElementRule,
  INHERITED,
  type SlicingRule,
  type TypeRule,
} from '../run/element-rule.js'
import { corrected, correctedStrength } from './corrections.js'
import { ADDITIONAL_BINDINGS, ALLOWED_UNITS, extensionValue, valueIn, valueRuleOf } from './value-rule.js'

/** The parts of a path such as `Observation.valueQuantity`: the name of the choice element, without `[x]`, and one of its types. */
type ChoicePath = { readonly name: string; readonly type: string }

/** The StructureDefinition being compiled. */
export interface ProfileSource {
  readonly canonical: string
  readonly url: string
  readonly isBase: boolean
  /** True when a snapshot is compiled. */
  readonly isComplete: boolean
  /** True when it marks elements as `mustSupport`. */
  readonly marksSupport: boolean
  /** Canonical of the profile that a differential builds on. */
  readonly base: string | undefined
  readonly model: TypeModel
  /** True when the canonical is that of a type of the release, whose own rules are checked in any case. */
  readonly isTypeUrl: (url: string) => boolean
  /** The choice and type that a path such as `Observation.valueQuantity` names; `undefined` for other paths. */
  readonly choiceAt: (path: string) => ChoicePath | undefined
  /** Names of the rules that have something to check where an ElementDefinition applies. */
  readonly demandsOf: (rule: RuleDraft) => readonly string[]
}

/** A rule while its tree is being built. */
export type RuleDraft = Mutable<Omit<ElementRule, 'children' | 'required' | 'slices'>> & {
  readonly contentReference: string | undefined
  children: Map<string, RuleDraft>
  readonly required: RuleDraft[]
  readonly slices: RuleDraft[]
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] }

/** Compiles one ElementDefinition, without its children. */
export function ruleOf(element: JsonObject, source: ProfileSource): RuleDraft {
  const path = stringAt(element, 'path') ?? ''
  const reference = stringAt(element, 'contentReference')
  const choice = source.choiceAt(path)
  const types = objectsAt(element, 'type').map(typeOf)
  return {
    ...emptyRule(path, source),
    id: stringAt(element, 'id') ?? path,
    name: choice?.name ?? lastOf(path).replace('[x]', ''),
    sliceName: stringAt(element, 'sliceName') ?? (choice && lastOf(path)),
    ...cardinalityOf(element),
    types: types.length === 0 && choice !== undefined ? [typeOf({ code: choice.type })] : types,
    value: valueRuleOf(element),
    isSupported: source.marksSupport ? element['mustSupport'] === true : undefined,
    bindings: [...bindingsOf(objectAt(element, 'binding'), source), ...unitBindings(element)],
    constraints: constraintsOf(element, source),
    slicing: slicingOf(objectAt(element, 'slicing')),
    contentReference: reference === undefined ? undefined : ownElement(reference, source),
  }
}

/**
 * The id that a content reference names; `undefined` when it names an element of another definition. References of types lead to what the type says, and
 * a profile cannot change them; in the snapshot of a profile, one without a url leads to what the snapshot says.
 *
 * @see https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.contentReference
 */
function ownElement(reference: string, { url, isBase, isComplete }: ProfileSource): string | undefined {
  if (!isBase && !isComplete) return undefined
  const end = reference.indexOf('#')
  return end <= 0 || reference.slice(0, end) === url ? reference.slice(end + 1) : undefined
}

/** A rule without requirements, for an element that has no rule of its own. */
export function emptyRule(path: string, source: ProfileSource): RuleDraft {
  return {
    id: path,
    path,
    profile: source.canonical,
    isBase: source.isBase,
    base: source.base,
    isComplete: source.isComplete,
    name: lastOf(path).replace('[x]', ''),
    isChoice: path.endsWith('[x]'),
    sliceName: undefined,
    min: 0,
    max: Infinity,
    types: [],
    value: {},
    isSupported: source.marksSupport ? false : undefined,
    bindings: [],
    constraints: [],
    children: new Map(),
    required: [],
    demands: [],
    slicing: undefined,
    slices: [],
    contentReference: undefined,
  }
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function cardinalityOf({ min, max }: JsonObject): Pick<RuleDraft, 'min' | 'max'> {
  return { min: typeof min === 'number' ? min : 0, max: typeof max !== 'string' || max === '*' ? Infinity : Number(max) }
}

function typeOf(type: JsonObject): TypeRule {
  const code = stringAt(type, 'code') ?? ''
  return {
    code: code.startsWith(TYPE_URL) ? code.slice(TYPE_URL.length) : code,
    profiles: profilesOf(type),
    targetProfiles: textsAt(type, 'targetProfile'),
    aggregation: textsAt(type, 'aggregation'),
  }
}

/** Canonicals of a type's profiles. If a profile means one element of a StructureDefinition, the element's id is appended as a fragment. */
function profilesOf(type: JsonObject): readonly string[] {
  const siblings = type['_profile']
  return textsAt(type, 'profile').map((canonical, index) => {
    const sibling: unknown = Array.isArray(siblings) ? siblings[index] : undefined
    const element = isObject(sibling) ? extensionValue(sibling, 'elementdefinition-profile-element') : undefined
    return typeof element === 'string' ? `${canonical}#${element}` : canonical
  })
}

function textsAt(object: JsonObject, name: string): readonly string[] {
  const list = object[name]
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : NO_TEXTS
}

const NO_TEXTS: readonly string[] = []

/** The binding to the value set of allowed units, which a profile may state for a Quantity. */
function unitBindings(element: JsonObject): readonly BindingRule[] {
  const valueSet = extensionValue(element, ALLOWED_UNITS)
  return typeof valueSet === 'string' ? [{ strength: 'required', valueSet }] : []
}

function bindingsOf(binding: JsonObject | undefined, { isBase }: ProfileSource): readonly BindingRule[] {
  if (binding === undefined) return []
  const valueSet = stringAt(binding, 'valueSet') ?? (isBase ? undefined : INHERITED)
  const strength = correctedStrength(stringAt(binding, 'strength'), valueSet)
  const maximum = extensionValue(binding, 'elementdefinition-maxValueSet')
  const rules: BindingRule[] = []
  if (valueSet !== undefined && (strength === 'required' || strength === 'extensible' || strength === 'preferred')) {
    rules.push({ strength, valueSet })
  }
  // An example binding requires nothing, but the value set of a profile should be known.
  if (strength === 'example' && !isBase && valueSet !== undefined && valueSet !== INHERITED) rules.push({ strength, valueSet })
  if (typeof maximum === 'string') {
    const takesText = strength !== 'required' && strength !== 'extensible'
    rules.push({ strength: 'required', valueSet: maximum, ...(takesText && { takesText }) })
  }
  return [...rules, ...additionalBindings(binding)]
}

/** The strength of an additional binding by its purpose. Other purposes are for people and user interfaces or, like `minimum`, for what systems support. */
const PURPOSES: ReadonlyMap<unknown, BindingRule['strength']> = new Map([
  ['maximum', 'required'],
  ['required', 'required'],
  ['extensible', 'extensible'],
  ['preferred', 'preferred'],
])

/** Leaves out bindings that apply only to some usage, because the usage is not known here. */
function additionalBindings(binding: JsonObject): readonly BindingRule[] {
  const additional = objectsAt(binding, 'extension').filter(({ url }) => ADDITIONAL_BINDINGS.has(url))
  return additional.flatMap((extension) => {
    const parts = new Map(objectsAt(extension, 'extension').map((part) => [part['url'], valueIn(part)]))
    const strength = PURPOSES.get(parts.get('purpose'))
    const valueSet = parts.get('valueSet')
    return strength === undefined || typeof valueSet !== 'string' || parts.has('usage') ? [] : [{ strength, valueSet, isAdditional: true }]
  })
}

/** Leaves out constraints that are checked for every element of the type anyway; `checkNotEmpty` checks ele-1. */
function constraintsOf(element: JsonObject, source: ProfileSource): readonly ConstraintRule[] {
  const isRoot = !(stringAt(element, 'path') ?? '').includes('.')
  const isInherited = (origin: string | undefined): boolean =>
    origin !== undefined && origin !== source.url && source.isTypeUrl(origin) && !(source.isBase && isRoot)
  return objectsAt(element, 'constraint')
    .filter((constraint) => constraint['key'] !== 'ele-1' && !isInherited(stringAt(constraint, 'source')))
    .flatMap((constraint) => constraintOf(constraint, source, { isOnRoot: isRoot }))
}

function constraintOf(constraint: JsonObject, { model }: ProfileSource, place: JsonTestOptions): readonly ConstraintRule[] {
  const expression = stringAt(constraint, 'expression')
  if (expression === undefined || expression.trim() === '') return []
  const severity = constraint['severity'] === 'warning' ? 'warning' : 'error'
  const [key = '', human = ''] = [stringAt(constraint, 'key'), stringAt(constraint, 'human')]
  const right = corrected(expression)
  return [{ key, severity, human, expression: right, isBestPractice: isBestPractice(constraint), onJson: jsonTest(right, model, place) }]
}

function isBestPractice(constraint: JsonObject): boolean {
  return extensionValue(constraint, 'elementdefinition-bestpractice') === true
}

function slicingOf(slicing: JsonObject | undefined): SlicingRule | undefined {
  if (slicing === undefined) return undefined
  const rules = stringAt(slicing, 'rules')
  return {
    discriminators: objectsAt(slicing, 'discriminator').map(discriminatorOf),
    rules: rules === 'closed' || rules === 'openAtEnd' ? rules : 'open',
    ordered: slicing['ordered'] === true,
  }
}

const DISCRIMINATORS: readonly Discriminator['type'][] = ['value', 'pattern', 'exists', 'type', 'profile', 'position']

function discriminatorOf(discriminator: JsonObject): Discriminator {
  const type = stringAt(discriminator, 'type')
  const path = stringAt(discriminator, 'path') ?? '$this'
  return { type: DISCRIMINATORS.find((known) => known === type) ?? 'value', path, steps: discriminatorSteps(path) }
}
