import { quoted } from '../../../errors/index.js'
import { type FhirNode, isSubtype, PENDING } from '../../../fhirpath/index.js'
import { isObject, isString, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { measureOf } from '../../../ucum/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, numberTextOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { charactersIn } from '../primitive/text.js'
import { base64Length } from '../primitive/number-and-bytes.js'
import { referenceOf } from '../reference/resolve-locally.js'
import { isConcrete } from '../structure/resource-type.js'
import { compareValues, decimalPlaces, hasForm } from '../value/check-limits.js'
import { VALUE_SET_UNKNOWN } from '../codes/bound-codes.js'
import { checkOptions, ANSWER_OPTION, ANSWER_OPTIONS_UNKNOWN, ANSWER_CODE } from './answer-options.js'
import type { Answer, FormItem, ResponseCheck, ValuedAnswer } from './form.js'

/** An answer of another type than its question. */
export const ANSWER_TYPE: FindingDefinition = defineFinding('answer-type', 'error', 'invariant', 'Answer with the type of the question.')
const ANSWER_ATTACHMENT: FindingDefinition = defineFinding(
  'answer-attachment',
  'error',
  'required',
  'Attach what the question asks for, in an allowed format and size.',
)
const ANSWER_TARGET: FindingDefinition = defineFinding(
  'answer-target',
  'error',
  'invariant',
  'Refer to a resource of a type that the question allows.',
)

/** An answer outside the limits of its question: value, length, size, lines. */
const ANSWER_LIMIT: FindingDefinition = defineFinding('answer-limit', 'error', 'invariant', 'Answer within the limits of the question.')
/** A quantity in a unit that its question does not allow. */
const ANSWER_UNIT: FindingDefinition = defineFinding('answer-unit', 'error', 'invariant', 'Use a unit that the question allows.')

/** The kinds of findings about answers. */
export const ANSWER_FINDINGS: readonly FindingDefinition[] = [
  ANSWER_TYPE,
  ANSWER_LIMIT,
  ANSWER_UNIT,
  ANSWER_ATTACHMENT,
  ANSWER_TARGET,
  ANSWER_OPTION,
  ANSWER_OPTIONS_UNKNOWN,
  ANSWER_CODE,
]

const CHOICES = ['Coding', 'date', 'time', 'integer', 'string']

/** The types of answers by type of item. Types of items that are not listed are not checked. */
const TYPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['boolean', ['boolean']],
  ['decimal', ['decimal']],
  ['integer', ['integer']],
  ['date', ['date']],
  ['dateTime', ['dateTime']],
  ['time', ['time']],
  ['string', ['string']],
  ['text', ['string']],
  ['url', ['uri']],
  ['choice', CHOICES],
  ['open-choice', CHOICES],
  ['attachment', ['Attachment']],
  ['reference', ['Reference']],
  ['quantity', ['Quantity']],
])

/** Checks the value of one answer. */
export function checkAnswer(check: ResponseCheck, answer: Answer, item: FormItem): void {
  const { value } = answer
  if (value === undefined) return
  const text = typeProblem(value, item)
  if (text !== undefined) check.run.findings.report(ANSWER_TYPE, value, { text, profile: check.form.canonical })
  if (text !== undefined || value.value === undefined) return
  const valued = { answer, value, item }
  for (const rule of RULES) rule(check, valued)
}

/** The types that answers to an item can have; `undefined` when any type is possible. */
export function answerTypes({ type, json }: FormItem): readonly string[] | undefined {
  const types = TYPES.get(type)
  return types === CHOICES && objectsAt(json, 'answerOption').some((option) => option['valueReference'] !== undefined)
    ? [...types, 'Reference']
    : types
}

/** The problem with the type of an answer to an item, or of its initial value. */
export function typeProblem({ type }: FhirNode, item: FormItem): string | undefined {
  const types = answerTypes(item)
  if (types === undefined || types.includes(type.name)) return undefined
  return `The answer must be of type ${types.join(' or ')}, not ${type.name}.`
}

const RULES: readonly ((check: ResponseCheck, valued: ValuedAnswer) => void)[] = [
  checkAnswerLimits,
  checkQuantity,
  checkAttachmentLimits,
  checkTarget,
  checkOptions,
]

/** Checks the length, form, size and precision that an item requires of its answers. */
function checkAnswerLimits(check: ResponseCheck, { value, item }: ValuedAnswer): void {
  const limit = (name: string): unknown => extensionValues(item.json, TYPE_URL + name)[0]
  const say = (text: string | undefined): void => {
    if (text !== undefined) check.run.findings.report(ANSWER_LIMIT, value, { text, profile: check.form.canonical })
  }
  if (typeof value.value === 'string') {
    say(lengthProblem(value.value, { min: limit('minLength'), max: item.json['maxLength'] }))
    say(formProblem(check, value.value, limit('regex')))
  }
  if (item.type === 'string' && typeof value.value === 'string' && /[\r\n]/.test(value.value))
    check.run.findings.report(ANSWER_LIMIT, value, {
      text: 'The answer should be a single line.',
      severity: 'warning',
      profile: check.form.canonical,
    })
  say(placesProblem(check, value, limit('maxDecimalPlaces')))
  if (isObject(value.value)) return
  say(rangeProblem(value.value, { min: limit('minValue'), max: limit('maxValue') }))
}

interface Range {
  readonly min: unknown
  readonly max: unknown
}

function lengthProblem(text: string, { min, max }: Range): string | undefined {
  const length = charactersIn(text)
  if (typeof max === 'number' && length > max) return `The answer has ${length} characters, but the maximum length is ${max}.`
  if (typeof min === 'number' && length < min) return `The answer has ${length} characters, but the minimum length is ${min}.`
  return undefined
}

function formProblem({ run }: ResponseCheck, text: string, pattern: unknown): string | undefined {
  return typeof pattern !== 'string' || hasForm(run, text, pattern)
    ? undefined
    : `The answer does not match the regular expression ${quoted(pattern)}.`
}

function placesProblem({ run }: ResponseCheck, value: ValuedAnswer['value'], max: unknown): string | undefined {
  if (typeof max !== 'number') return undefined
  const node = value.type.name === 'Quantity' ? childrenOf(run, value, 'value')[0] : value
  if (node === undefined || typeof node.value !== 'number') return undefined
  const text = numberTextOf(run, node, node.value)
  return decimalPlaces(text) > max ? `The number ${text} has more than ${max} decimal places.` : undefined
}

function rangeProblem(value: unknown, { min, max }: Range): string | undefined {
  if (isScalar(min) && (compareValues(value, min) ?? 0) < 0) return `The answer ${shownJson(value)} is less than the minimum ${min}.`
  if (isScalar(max) && (compareValues(value, max) ?? 0) > 0) return `The answer ${shownJson(value)} is more than the maximum ${max}.`
  return undefined
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

const MIME_TYPE = 'http://hl7.org/fhir/StructureDefinition/mimeType'
const MAX_SIZE = 'http://hl7.org/fhir/StructureDefinition/maxSize'

/** Checks the content type and the size of an attachment. */
function checkAttachmentLimits(check: ResponseCheck, { answer, value, item }: ValuedAnswer): void {
  if (value.type.name !== 'Attachment' || !isObject(value.value)) return
  for (const text of [contentTypeProblem(value.value, item.json), sizeProblem(value.value, item.json)]) {
    if (text !== undefined) check.run.findings.report(ANSWER_ATTACHMENT, answer.node, { text, profile: check.form.canonical })
  }
}

function contentTypeProblem(attachment: JsonObject, item: JsonObject): string | undefined {
  const allowed = extensionValues(item, MIME_TYPE).filter(isString)
  const contentType = stringAt(attachment, 'contentType')
  if (allowed.length === 0 || allowed.some((type) => contentType?.startsWith(type) === true)) return undefined
  const fault = contentType === undefined ? 'The attachment has no content type' : `The content type ${quoted(contentType)} is not allowed`
  return `${fault}; allowed: ${allowed.join(', ')}.`
}

function sizeProblem(attachment: JsonObject, item: JsonObject): string | undefined {
  const max = extensionValues(item, MAX_SIZE)[0]
  const data = stringAt(attachment, 'data')
  const size = data === undefined ? attachment['size'] : base64Length(data)
  if (typeof max !== 'number' || typeof size !== 'number' || size <= max) return undefined
  return `The attachment has ${size} bytes, but the maximum size is ${max}.`
}

const RESOURCE_TYPE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-referenceResource'
const TYPED = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/

/** Checks that a reference leads to a type of resource, and to one that the item allows, if the reference contains the type. */
function checkTarget({ run, form }: ResponseCheck, { value, item }: ValuedAnswer): void {
  if (value.type.name !== 'Reference') return
  const allowed = extensionValues(item.json, RESOURCE_TYPE)
  const type = TYPED.exec(referenceOf(value) ?? '')?.[1]
  if (type === undefined) return
  const text = isConcrete(run.model, type)
    ? notAllowed(run, type, allowed)
    : `The answer refers to ${quoted(type)}, which is not a type of resource.`
  if (text !== undefined) run.findings.report(ANSWER_TARGET, value, { text, profile: form.canonical })
}

function notAllowed({ model }: Run, type: string, allowed: readonly unknown[]): string | undefined {
  const own = model.type(type)
  if (allowed.length === 0 || allowed.some((one) => own !== undefined && isSubtype(model, own, shownJson(one)))) return undefined
  return `The answer refers to ${quoted(type)}; allowed: ${allowed.map(shownJson).join(', ')}.`
}

const MIN = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-minQuantity'
const MAX = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-maxQuantity'
const UNIT_OPTION = 'http://hl7.org/fhir/StructureDefinition/questionnaire-unitOption'
const UNIT_VALUE_SET = 'http://hl7.org/fhir/StructureDefinition/questionnaire-unitValueSet'

/** Checks the unit of a quantity, and its minimum and maximum. */
function checkQuantity(check: ResponseCheck, { value, item }: ValuedAnswer): void {
  const quantity = value.value
  if (value.type.name !== 'Quantity' || !isObject(quantity)) return
  const say = (finding: FindingDefinition, text: string): void =>
    check.run.findings.report(finding, value, { text, profile: check.form.canonical })
  for (const text of [unitProblem(quantity, item.json), unitSetProblem(check, quantity, item.json)])
    if (text !== undefined) say(ANSWER_UNIT, text)
  const unknown = unknownUnitSet(check, item.json)
  if (unknown !== undefined) {
    const text = `The value set ${quoted(unknown)} of the units could not be found.`
    check.run.findings.report(VALUE_SET_UNKNOWN, value, { text, code: 'invariant', profile: check.form.canonical })
  }
  for (const bound of BOUNDS) {
    const text = boundProblem(quantity, extensionValues(item.json, bound.url)[0], bound)
    if (text !== undefined) say(ANSWER_LIMIT, text)
  }
}

interface Bound {
  readonly url: string
  readonly words: string
  readonly isBroken: (order: number) => boolean
}

const BOUNDS: readonly Bound[] = [
  { url: MIN, words: 'less than the least that is allowed', isBroken: (order) => order < 0 },
  { url: MAX, words: 'more than the most that is allowed', isBroken: (order) => order > 0 },
]

function boundProblem(quantity: JsonObject, limit: unknown, { words, isBroken }: Bound): string | undefined {
  if (!isObject(limit)) return undefined
  const result = compareQuantity(quantity, limit)
  if (result === 'no-units') return `${shown(quantity)} cannot be compared with ${shown(limit)}: both need a system and code of the unit.`
  if (result === 'other-system') return `${shown(quantity)} cannot be compared with ${shown(limit)}: only units of UCUM are converted.`
  if (result === 'other-kind') return `${shown(quantity)} cannot be compared with ${shown(limit)}: the units measure different things.`
  return result !== undefined && isBroken(result) ? `${shown(quantity)} is ${words}, ${shown(limit)}.` : undefined
}

function unitProblem(quantity: JsonObject, item: JsonObject): string | undefined {
  const options = extensionValues(item, UNIT_OPTION).filter(isObject)
  if (options.length === 0 || options.some((option) => isUnit(quantity, option))) return undefined
  const names = options.map((option) => quoted(stringAt(option, 'display') ?? stringAt(option, 'code') ?? ''))
  return `The unit of ${shown(quantity)} is not allowed; allowed: ${names.join(', ')}.`
}

function isUnit(quantity: JsonObject, option: JsonObject): boolean {
  const code = stringAt(option, 'code')
  if (code === undefined) return stringAt(quantity, 'unit') === stringAt(option, 'display')
  return stringAt(quantity, 'code') === code && stringAt(quantity, 'system') === stringAt(option, 'system')
}

function unknownUnitSet({ run }: ResponseCheck, item: JsonObject): string | undefined {
  const canonical = extensionValues(item, UNIT_VALUE_SET)[0]
  return typeof canonical === 'string' && run.definitions.valueSet(canonical) === undefined ? canonical : undefined
}

/** The problem with a unit that is not in the value set of units; a unit without code is in none. */
function unitSetProblem({ run }: ResponseCheck, quantity: JsonObject, item: JsonObject): string | undefined {
  const canonical = extensionValues(item, UNIT_VALUE_SET)[0]
  if (typeof canonical !== 'string') return undefined
  const list = run.definitions.valueSet(canonical)
  if (list === undefined || list === PENDING) return undefined
  const code = stringAt(quantity, 'code')
  const isOut = code === undefined || list.has({ system: stringAt(quantity, 'system') ?? '', code }) === 'out'
  return isOut ? `The unit of ${shown(quantity)} is not in the value set ${quoted(canonical)}.` : undefined
}

function shown(quantity: JsonObject): string {
  const unit = stringAt(quantity, 'code') ?? stringAt(quantity, 'unit')
  return quoted(`${shownJson(quantity['value'])}${unit === undefined ? '' : ` ${unit}`}`)
}

const UCUM = 'http://unitsofmeasure.org'

/**
 * The order of a Quantity and another, or why they cannot be compared: `no-units` when one has a unit without code, `other-system` when the units differ and
 * not both are of UCUM, `other-kind` when they measure different things.
 */
type QuantityOrder = number | 'no-units' | 'other-system' | 'other-kind'

/** Compares two Quantities: negative, zero or positive. `undefined` when one has no value, or a unit that is not understood. */
function compareQuantity(a: JsonObject, b: JsonObject): QuantityOrder | undefined {
  const [left, right] = [a['value'], b['value']]
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  if (!hasUnit(a) && !hasUnit(b)) return left - right
  const [unit, other] = [unitOf(a), unitOf(b)]
  if (unit === undefined || other === undefined) return 'no-units'
  if (unit.system === other.system && unit.code === other.code) return left - right
  if (unit.system !== UCUM || other.system !== UCUM) return 'other-system'
  return compareMeasures({ value: left, code: unit.code }, { value: right, code: other.code })
}

interface Amount {
  readonly value: number
  readonly code: string
}

function compareMeasures(a: Amount, b: Amount): QuantityOrder | undefined {
  const [left, right] = [measureOf(a.code), measureOf(b.code)]
  if (left === undefined || right === undefined) return undefined
  return left.kind === right.kind ? a.value * left.factor - b.value * right.factor : 'other-kind'
}

function unitOf(quantity: JsonObject): { system: string; code: string } | undefined {
  const [system, code] = [stringAt(quantity, 'system'), stringAt(quantity, 'code')]
  return system === undefined || code === undefined ? undefined : { system, code }
}

function hasUnit(quantity: JsonObject): boolean {
  return quantity['unit'] !== undefined || quantity['code'] !== undefined
}
