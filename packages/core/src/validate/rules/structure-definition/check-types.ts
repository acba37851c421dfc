import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode, type TypeModel } from '../../../fhirpath/index.js'
import { isObject, objectsAt, type JsonObject, shownJson } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { type Run, resourceOf } from '../../run/run.js'
import { ADDITIONAL_BINDINGS } from '../../profile/value-rule.js'
import { elementAtPath } from '../../profile/element-at-path.js'
import { otherKindOf } from '../codes/unknown-system.js'
import { ABSTRACT_TYPES, type DifferentialCheck, type ElementCheck, idOf } from './base-element.js'
import { inSnapshot } from './check-slices.js'

/** A statement about an element that its types cannot have: a binding, an order, a length, a fixed value. */
export const DEFINITION_BINDING: FindingDefinition = defineFinding(
  'definition-binding',
  'error',
  'business-rule',
  'State only what the types of the element can have: a binding, an order, a length, a fixed value of the type.',
)
/** A profile of a type in a differential that is unknown, or for another type. */
export const DEFINITION_TYPE_PROFILE: FindingDefinition = defineFinding(
  'definition-type-profile',
  'warning',
  'exception',
  'Use a profile that is loaded and is for the type.',
)

const WHOLE_NUMBERS = ['integer', 'unsignedInt', 'positiveInt']
const TIMES = ['date', 'dateTime', 'instant', 'time']

/** Types that can be bound, as eld-11 lists them. Types that derive from these, such as id and Age, can be bound, too. */
const BINDABLE: ReadonlySet<string> = new Set(['code', 'string', 'uri', 'Coding', 'CodeableConcept', 'Quantity', 'CodeableReference'])

/** Whether any of the types has codes that can be bound; true for an unknown type. */
function canBind(model: TypeModel, types: readonly string[]): boolean {
  return types.length === 0 || types.some((name) => isBindable(model, name))
}

function isBindable(model: TypeModel, name: string): boolean {
  for (let current = model.type(name); current !== undefined; current = current.base === undefined ? undefined : model.type(current.base))
    if (BINDABLE.has(current.name)) return true
  return model.type(name) === undefined
}

/** Types whose values have an order. */
const ORDERED = [...WHOLE_NUMBERS, ...TIMES, 'decimal', 'Quantity', 'Age', 'Count', 'Distance', 'Duration', 'Money']

/** Types whose values are texts. */
const WRITTEN = [...WHOLE_NUMBERS, ...TIMES, 'decimal', 'string', 'markdown', 'code', 'id', 'uri', 'url', 'canonical', 'oid', 'uuid']

/** Types whose values have any number of decimal places. */
const CONTINUOUS = ['decimal', 'dateTime', 'instant', 'time', 'Quantity', 'Age', 'Distance', 'Duration', 'Money']

/** Types whose values have octets. */
const SIZED = ['base64Binary', 'Attachment']

/** Characteristics that only some types can have: the members that state them, their name, and whether a type can have them. */
const CHARACTERISTICS: readonly (readonly [member: RegExp, name: string, isFor: (type: string, model: TypeModel) => boolean])[] = [
  [/^binding$/, 'a binding', (type, model) => isBindable(model, type)],
  [/^(?:min|max)Value[A-Z]/, 'a minimum or maximum value', (type) => ORDERED.includes(type)],
  [/^(?:maxLength|extension:minLength)$/, 'a minimum or maximum length', (type) => WRITTEN.includes(type)],
  [/^extension:maxDecimalPlaces$/, 'a maximum of decimal places', (type) => CONTINUOUS.includes(type)],
  [/^extension:maxSize$/, 'a size', (type) => SIZED.includes(type)],
  [/^targetProfile$/, 'target profiles', (type) => type === 'Reference' || type === 'canonical' || type === 'CodeableReference'],
]
const VALUE = /^(?:fixed|pattern)([A-Z]\w*)$/

/** Checks that the characteristics that an element states fit its types. */
export function checkCharacteristics({ run, node, place }: ElementCheck, definition: FhirNode): void {
  const stated = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
  const types = stated.length > 0 ? stated : typesAt(place)
  if (!isObject(node.value) || types.length === 0 || types.some((type) => run.model.type(type) === undefined)) return
  const members = membersOf(node.value)
  const values = types.filter((type) => run.model.type(type)?.kind !== 'resource')
  for (const text of problemsOf(run.model, members, { types, values })) run.findings.report(DEFINITION_BINDING, node, { text })
  for (const text of strayValues(members, types)) run.findings.report(DEFINITION_BINDING, definition, { text, code: 'conflict' })
}

/** Characteristics that an element of a snapshot states, but that none of its types can have. The root has the type that is defined. */
export function characteristicProblems(run: Run, node: FhirNode): readonly string[] {
  const path = textOf(node, 'path') ?? ''
  const types = path.includes('.') ? childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? []) : [path]
  if (!isObject(node.value) || types.length === 0 || types.some((type) => run.model.type(type) === undefined)) return []
  return problemsOf(run.model, membersOf(node.value), { types, values: types })
}

/** The types of an element by its definition; for the root, the type that is defined. */
function typesAt(place: ElementCheck['place']): readonly string[] {
  const { slots = [], types = [] } = place ?? {}
  return slots.length > 0 ? slots.map(({ type }) => type) : types.map(({ name }) => name)
}

/** Names of members, including those that extensions and types of the element add. */
function membersOf(element: JsonObject): readonly string[] {
  const extensions = objectsAt(element, 'extension').flatMap(({ url }) =>
    typeof url === 'string' ? [`extension:${url.replace(TYPE_URL, '')}`] : [],
  )
  const hasTargets = objectsAt(element, 'type').some((type) => type['targetProfile'] !== undefined)
  return [...Object.keys(element), ...extensions, ...(hasTargets ? ['targetProfile'] : [])]
}

/** @param values The types that have values, which resources do not. */
function problemsOf(
  model: TypeModel,
  members: readonly string[],
  { types, values }: { readonly types: readonly string[]; readonly values: readonly string[] },
): readonly string[] {
  const names = types.join(', ')
  const beyond = CHARACTERISTICS.filter(
    ([member, , isFor]) => !values.some((type) => isFor(type, model)) && members.some((one) => member.test(one)),
  )
  return beyond.map(([, name]) => `The element has ${name}, but its type ${names} cannot have one.`)
}

function strayValues(members: readonly string[], types: readonly string[]): readonly string[] {
  const values = members.flatMap((one) => VALUE.exec(one)?.[1] ?? [])
  const stray = values.filter((type) => !types.some((known) => known.toLowerCase() === type.toLowerCase()))
  return stray.map((type) => `The element has a value of type ${type}, but is of type ${types.join(' or ')}.`)
}

/** Checks that the profiles named by an element's types are known, and that those on a type are for that type. */
export function checkTypeProfiles({ definition, built }: DifferentialCheck, element: ElementCheck): void {
  const { run, node, path } = element
  for (const type of childrenOf(run, node, 'type')) {
    const unknown = childrenOf(run, type, 'profile').find(({ value }) => isUnknownProfile(run, value))
    const index = unknown && built?.elements.findIndex((one) => one['id'] === idOf(element))
    if (unknown !== undefined && index !== undefined && index >= 0)
      run.findings.report(DEFINITION_TYPE_PROFILE, definition, {
        text: `The profile ${quoted(shownJson(unknown.value))} of ${quoted(path)} could not be found, so its type is not checked.`,
        code: 'value',
        expression: inSnapshot(index),
      })
    checkNamedProfiles(run, type)
    for (const { value } of childrenOf(run, type, 'targetProfile').filter(({ value }) => isUnknownProfile(run, value)))
      run.findings.report(DEFINITION_TYPE_PROFILE, node, {
        text: `The target profile ${quoted(shownJson(value))} of ${quoted(path)} could not be found, so it is not compared with those of the base.`,
        code: 'business-rule',
      })
  }
}

/** Checks the profiles and the targets that a type of an element names, each on its own. */
export function checkNamedProfiles(run: Run, type: FhirNode): void {
  const code = textOf(type, 'code')
  const path = (type.parent && textOf(type.parent, 'path')) ?? ''
  for (const profile of childrenOf(run, type, 'profile')) {
    checkProfile(run, profile, code)
    checkModifier(run, profile, path)
  }
  for (const target of childrenOf(run, type, 'targetProfile')) checkTarget(run, target, code)
}

function isUnknownProfile({ definitions }: Run, canonical: unknown): boolean {
  return (
    typeof canonical === 'string' && !canonical.startsWith('#') && definitions.definition('StructureDefinition', canonical) === undefined
  )
}

/** @param code The type that the profile must be for; any type when absent. */
function checkProfile(run: Run, profile: FhirNode, code?: string): void {
  if (typeof profile.value !== 'string' || profile.value.startsWith('#')) return
  const found = run.definitions.definition('StructureDefinition', profile.value)
  if (found === undefined) {
    run.findings.report(DEFINITION_TYPE_PROFILE, profile, { text: `The profile ${quoted(profile.value)} could not be found.` })
  } else if (found !== PENDING && !isFor(run, found['type'], code)) {
    run.findings.report(DEFINITION_TYPE_PROFILE, profile, {
      text: `The profile ${quoted(profile.value)} is not a profile on ${quoted(code ?? '')}, but on ${quoted(shownJson(found['type']))}.`,
      severity: 'error',
    })
  }
}

/** Checks that modifier extensions are in `modifierExtension`, and others are not. */
function checkModifier(run: Run, profile: FhirNode, path: string): void {
  const found = typeof profile.value === 'string' ? run.definitions.profile(profile.value) : undefined
  if (found === undefined || found === PENDING || found.extension === undefined) return
  if (found.extension.isModifier === path.endsWith('.modifierExtension')) return
  run.findings.report(DEFINITION_TYPE_PROFILE, profile, {
    text: `${quoted(found.url)} is ${found.extension.isModifier ? 'a' : 'not a'} modifier extension, so it cannot be used in ${quoted(path)}.`,
    severity: 'error',
  })
}

/** Checks that references lead to resources, and canonicals to definitions. */
function checkTarget(run: Run, target: FhirNode, code: string | undefined): void {
  if (code !== undefined && code !== 'Reference' && code !== 'canonical' && code !== 'CodeableReference') {
    run.findings.report(DEFINITION_TYPE_PROFILE, target, { text: `The type ${quoted(code)} has no target profiles.`, severity: 'error' })
    return
  }
  const found = typeof target.value === 'string' ? run.definitions.definition('StructureDefinition', target.value) : PENDING
  if (found === undefined) checkProfile(run, target)
  else if (found !== PENDING && (found['kind'] !== 'resource' || (code === 'canonical' && !hasCanonical(run, found['type']))))
    run.findings.report(DEFINITION_TYPE_PROFILE, target, {
      text: `The profile ${quoted(shownJson(target.value))} is for ${quoted(shownJson(found['type']))}, which a ${code ?? 'Reference'} cannot refer to.`,
      severity: 'error',
    })
}

function hasCanonical({ model }: Run, type: unknown): boolean {
  const definition = typeof type === 'string' ? model.type(type) : undefined
  return definition === undefined || type === 'Resource' || type === 'DomainResource' || definition.elements.has('url')
}

/** Whether the type of a profile fits that of the element: it is the same, or derives from it if that is abstract. True for unknown types. */
function isFor({ model }: Run, type: unknown, code: string | undefined): boolean {
  if (typeof type !== 'string' || code === undefined || type === code) return true
  if (!ABSTRACT_TYPES.has(code)) return model.type(type) === undefined || model.type(code) === undefined
  const from = model.type(type)
  return from === undefined || isSubtype(model, from, code)
}

/** Value sets of all codes of a code system, with its name. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ['http://loinc.org/vs', 'LOINC'],
  ['http://snomed.info/sct?fhir_vs', 'SNOMED CT'],
  ['http://hl7.org/fhir/ValueSet/cpt-all', 'CPT'],
])
const TYPES_WITH_CODES: ReadonlySet<string> = new Set([
  'code',
  'string',
  'url',
  'uri',
  'Coding',
  'CodeableConcept',
  'Quantity',
  'CodeableReference',
])

/** The purposes of additional bindings, from their code system. */
const PURPOSES: ReadonlySet<unknown> = new Set([
  'maximum',
  'minimum',
  'required',
  'extensible',
  'candidate',
  'current',
  'preferred',
  'ui',
  'starter',
  'component',
])

/** Checks the binding of an element in a differential, which applies to each type of the element that can be bound. */
export function checkBinding(definition: FhirNode, element: ElementCheck): void {
  const { run, node } = element
  const types = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
  if (types.filter((type) => TYPES_WITH_CODES.has(type)).length > 1)
    for (const binding of childrenOf(run, node, 'binding'))
      run.findings.report(DEFINITION_BINDING, binding, {
        text: `The binding is for several types of the element: ${types.join(', ')}.`,
        severity: 'information',
      })
  checkBoundTo(definition, element)
}

/**
 * Checks that the value set of a binding is known and is not just all codes of a code system. Only experimental profiles, and example bindings, may use
 * an experimental one.
 */
export function checkBoundTo(definition: FhirNode, { run, node, place }: ElementCheck): void {
  const types = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
  const bound = types.length > 0 ? types : (place?.slots.map(({ type }) => type) ?? [])
  for (const binding of childrenOf(run, node, 'binding')) {
    const canonical = textOf(binding, 'valueSet')
    const whole = WHOLE.get(canonical ?? '')
    if (whole !== undefined)
      run.findings.report(DEFINITION_BINDING, binding, {
        text: `The binding allows all codes of ${whole}, including those that make no sense as values.`,
        severity: 'warning',
      })
    if (canonical !== undefined && !canonical.startsWith('#') && whole === undefined && canBind(run.model, bound))
      checkValueSet(run, binding, canonical)
    for (const extension of childrenOf(run, binding, 'extension'))
      if (ADDITIONAL_BINDINGS.has(textOf(extension, 'url'))) checkAdditional(run, definition, extension)
  }
}

/** Checks that an additional binding has a known value set and one purpose, and that its usage names elements of the profile. */
function checkAdditional(run: Run, definition: FhirNode, extension: FhirNode): void {
  const parts = childrenOf(run, extension, 'extension')
  if (parts.filter((part) => textOf(part, 'url') === 'purpose').length > 1)
    run.findings.report(DEFINITION_BINDING, extension, { text: 'An additional binding has one purpose.' })
  for (const part of parts) {
    const [value] = childrenOf(run, part, 'value')
    if (textOf(part, 'url') === 'purpose' && value !== undefined) checkPurpose(run, value)
    if (textOf(part, 'url') === 'valueSet' && typeof value?.value === 'string') checkValueSet(run, extension, value.value)
    if (textOf(part, 'url') === 'usage' && value !== undefined) checkUsage(run, definition, value)
  }
}

function checkPurpose(run: Run, purpose: FhirNode): void {
  if (typeof purpose.value !== 'string' || PURPOSES.has(purpose.value)) return
  const text = `${quoted(purpose.value)} is not a purpose of an additional binding: ${[...PURPOSES].join(', ')}.`
  run.findings.report(DEFINITION_BINDING, purpose, { text })
}

function checkUsage(run: Run, definition: FhirNode, usage: FhirNode): void {
  const [code] = childrenOf(run, usage, 'code')
  if (code === undefined) return
  const [system, path = ''] = [textOf(code, 'system'), textOf(code, 'code')]
  const say = (text: string, severity?: 'information'): void =>
    run.findings.report(DEFINITION_BINDING, usage, { text, ...(severity !== undefined && { severity }) })
  if (system === undefined || system !== textOf(definition, 'url')) {
    say(`The context ${quoted(`${system ?? ''}#${path}`)} of the binding is not known, so it is not checked.`, 'information')
    return
  }
  const [value] = childrenOf(run, usage, 'value')
  if (path.split('.', 1)[0] !== textOf(definition, 'type') || elementAtPath(run.model, path) === undefined)
    say(`The context of the binding is the element ${quoted(path)}, which the profile does not have.`)
  else if (value !== undefined && value.type.name !== 'CodeableConcept')
    say(`The value of the context of the binding is a ${value.type.name}; it must be a CodeableConcept.`)
}

function checkValueSet(run: Run, binding: FhirNode, canonical: string): void {
  const found = run.definitions.definition('ValueSet', canonical)
  const say = (text: string, severity: 'error' | 'warning'): void => run.findings.report(DEFINITION_BINDING, binding, { text, severity })
  if (found === undefined && run.definitions.valueSet(canonical) === undefined) {
    const kind = otherKindOf(run, canonical, 'ValueSet')
    if (kind === undefined) say(`The value set ${quoted(canonical)} could not be found.`, 'warning')
    else if (kind !== PENDING) say(`${quoted(canonical)} is a ${kind}, not a value set.`, 'error')
  }
  if (
    !isExperiment(found) ||
    found['url'] === LANGUAGES ||
    isExperiment(resourceOf(binding).value) ||
    textOf(binding, 'strength') === 'example'
  )
    return
  say(`The value set ${quoted(canonical)} is experimental, but the profile is not.`, 'warning')
}

/** R4 marks it as experimental, although the language of every resource is bound to it. */
const LANGUAGES = 'http://hl7.org/fhir/ValueSet/languages'

function isExperiment(definition: unknown): definition is JsonObject {
  return isObject(definition) && definition['experimental'] === true
}
