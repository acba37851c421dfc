import { type ElementSlot, type FhirNode, pathOf, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { didYouMean, nearest, otherCase } from '../../../text/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, defineFormFinding, type FindingDefinition, type Help, type Report } from '../../run/finding.js'
import { itemRemoval, listing, nodeRemoval, removal, renaming, unlisting } from '../../run/patch.js'
import { PRIMITIVE_TYPE } from '../../run/primitive-problem.js'
import type { RequiredMember, Run } from '../../run/run.js'

const UNKNOWN_PROPERTY: FindingDefinition = defineFormFinding(
  'unknown-property',
  'error',
  'structure',
  'Correct the name of the property, or remove it; data that FHIR has no element for goes into an extension.',
)
const ARRAY_EXPECTED: FindingDefinition = defineFormFinding('array-expected', 'error', 'invalid', 'Put the value into an array.')
const ARRAY_NOT_ALLOWED: FindingDefinition = defineFormFinding(
  'array-not-allowed',
  'error',
  'invalid',
  'Give the value itself, without an array; the element does not repeat.',
)
/** A value that must be a JSON object and is not. */
export const OBJECT_EXPECTED: FindingDefinition = defineFormFinding(
  'object-expected',
  'error',
  'invalid',
  'Give an object with the members of the type.',
)
const NULL_NOT_ALLOWED: FindingDefinition = defineFormFinding(
  'null-not-allowed',
  'error',
  'invalid',
  'Leave the property out; null is allowed only in an array, for an item that has extensions.',
)
const EMPTY_ARRAY: FindingDefinition = defineFormFinding('empty-array', 'error', 'invalid', 'Leave the property out, or add items.')
const EMPTY_OBJECT: FindingDefinition = defineFormFinding(
  'empty-object',
  'error',
  'invalid',
  'Leave the element out, or give it a value, a child or an extension.',
)
/** Reported by the walk over the members of an object. */
export const SEVERAL_CHOICES: FindingDefinition = defineFormFinding(
  'several-choices',
  'error',
  'structure',
  'Keep one of the types of the choice.',
)

/** The kinds of findings about the JSON form of elements. */
export const SHAPE_FINDINGS: readonly FindingDefinition[] = [
  UNKNOWN_PROPERTY,
  ARRAY_EXPECTED,
  ARRAY_NOT_ALLOWED,
  OBJECT_EXPECTED,
  NULL_NOT_ALLOWED,
  EMPTY_ARRAY,
  EMPTY_OBJECT,
  SEVERAL_CHOICES,
]

/** A member of a node, with the JSON object that has it. */
interface Member {
  readonly slot: ElementSlot
  readonly holder: JsonObject
}

/** Checks that a member is an array if its element repeats and otherwise is not, and that it is not empty. False when its content cannot be checked. */
export function checkShape(run: Run, node: FhirNode, { slot, holder }: Member): boolean {
  const value = own(holder, slot.jsonName)
  const extra = own(holder, slot.siblingName)
  return (
    checkOne(run, node, { slot, value, at: slot.jsonName }) &&
    checkOne(run, node, { slot, value: extra, at: slot.siblingName }) &&
    checkExtra(run, node, { extra, at: slot.siblingName })
  )
}

/** True for an object instead of an array: it is taken for the item of one, and checked. */
export function isItemAlone({ model }: Run, { slot, holder }: Member): boolean {
  const kind = model.type(slot.type)?.kind ?? 'primitive'
  return slot.isCollection && kind !== 'primitive' && isObject(holder[slot.jsonName])
}

/** Checks that the `_name` next to a primitive value is an object or, next to a list of values, a list of objects and nulls. */
function checkExtra(run: Run, node: FhirNode, { extra, at }: { extra: unknown; at: string }): boolean {
  if (extra === undefined || isObject(extra)) return true
  if (Array.isArray(extra) && extra.every((item) => item === null || isObject(item))) return true
  const text = `The property '${at}' can only contain objects with an id or extensions.`
  run.findings.report(OBJECT_EXPECTED, node, { text, at: at.slice(1) })
  return false
}

function own(holder: JsonObject, name: string): unknown {
  const value = holder[name]
  return typeof value !== 'function' || Object.hasOwn(holder, name) ? value : undefined
}

/** The problem with a member as JSON, whatever its content: it is null, wrongly an array or not an array, or empty. */
function memberProblem({ isCollection }: ElementSlot, value: unknown): FindingDefinition | undefined {
  if (value === null) return NULL_NOT_ALLOWED
  if (Array.isArray(value) !== isCollection) return isCollection ? ARRAY_EXPECTED : ARRAY_NOT_ALLOWED
  return isCollection && Array.isArray(value) && value.length === 0 ? EMPTY_ARRAY : undefined
}

function checkOne(run: Run, node: FhirNode, { slot, value, at }: { slot: ElementSlot; value: unknown; at: string }): boolean {
  const problem = typeof value === 'function' ? noValue(run, slot) : value === undefined ? undefined : memberProblem(slot, value)
  if (problem === undefined) return true
  run.findings.report(problem, node, { ...memberReport(node, problem, { value, at }), at: slot.jsonName })
  return false
}

/** A parsed object may have a function where a value belongs, which a program forgot to call. JSON has no functions. */
function noValue({ model }: Run, { isCollection, type }: ElementSlot): FindingDefinition {
  if (isCollection) return ARRAY_EXPECTED
  return model.type(type)?.kind === 'primitive' ? PRIMITIVE_TYPE : OBJECT_EXPECTED
}

function memberReport(node: FhirNode, problem: FindingDefinition, { value, at }: { value: unknown; at: string }): Omit<Report, 'at'> {
  if (problem === ARRAY_EXPECTED) return { text: `The property '${at}' must be an array.`, fix: listing(node, at) }
  if (problem === NULL_NOT_ALLOWED) return { text: `The property '${at}' must not be null.`, fix: removal(node, at) }
  if (problem === EMPTY_ARRAY) return { text: `The property '${at}' must not be an empty array.`, fix: removal(node, at) }
  if (typeof value === 'function') return { text: `The property '${at}' must not be a function.`, fix: undefined }
  return { text: `The property '${at}' must not be an array.`, fix: Array.isArray(value) ? unlisting(node, at, value) : undefined }
}

/** The indexes of null items without extensions next to them. `undefined`, which programs may have in lists, counts as null, as in JSON. */
export function nullItems(run: Run, { slot, holder }: Member): readonly number[] {
  if (!run.checksTypes || !slot.isCollection) return NONE
  const values = listOf(holder, slot.jsonName)
  const extras = listOf(holder, slot.siblingName)
  const [longer, other] = values.length < extras.length ? [extras, values] : [values, extras]
  if (!longer.includes(null) && !longer.includes(undefined)) return NONE
  return [...longer].flatMap((item, index) => ((item ?? other[index] ?? null) === null ? [index] : []))
}

function listOf(holder: JsonObject, name: string): readonly unknown[] {
  const value = own(holder, name)
  return Array.isArray(value) ? value : NONE
}

const NONE: readonly never[] = []

/** Reports an item that is null. For primitive values, it is the two lists together that are wrong. */
export function reportNullItem(run: Run, node: FhirNode, { slot, index }: { slot: ElementSlot; index: number }): void {
  const isPrimitive = run.model.type(slot.type)?.kind === 'primitive'
  run.findings.report(NULL_NOT_ALLOWED, node, {
    text: `Item ${index} of '${slot.jsonName}' is null and has no extensions.`,
    at: isPrimitive ? slot.jsonName : `${slot.jsonName}[${index}]`,
    help: () => ({ fix: itemRemoval(node, [slot.jsonName, slot.siblingName], index) }),
  })
}

/**
 * Checks ele-1: an element has a value or content besides its id, and the object next to a value is not empty. False for a primitive with nothing; an empty
 * object of another type is checked further, because it lacks what its type needs.
 */
export function checkNotEmpty(run: Run, node: FhirNode): boolean {
  const { value, extra } = node
  const holder = isObject(value) ? value : extra
  const isPlain = value !== undefined && !isObject(value)
  if (
    (isPlain && (extra === undefined || Object.keys(extra).length > 0)) ||
    (!isPlain && holder !== undefined && hasContent(holder, node.type.kind))
  )
    return true
  const names = Object.keys(holder ?? {})
  const isOnlyId = names.length === 1 && names[0] === 'id'
  run.findings.report(EMPTY_OBJECT, node, {
    text: 'Object must have some content: a value, a child or an extension.',
    ...(isOnlyId && { code: 'invariant' }),
    fix: names.length === 0 && !isPlain ? nodeRemoval(node) : undefined,
  })
  return isPlain || node.type.kind !== 'primitive'
}

/** Whether an object has content besides an id. The `_name` next to a primitive can have only extensions. */
function hasContent(holder: object, kind: TypeDefinition['kind']): boolean {
  if (kind === 'primitive') return Object.hasOwn(holder, 'extension')
  for (const name in holder) if (name !== 'id' && Object.hasOwn(holder, name)) return true
  return false
}

const MAX_NAME = 100

/** Reports a property that the type of the node does not have; one that differs from a known one only in case can be renamed. */
export function reportUnknownProperty(run: Run, node: FhirNode, name: string): void {
  const at = JSON.stringify(name.slice(0, MAX_NAME).toWellFormed()).slice(1, -1)
  const text = `Invalid additional property "${pathOf(node)}.${at}"`
  run.findings.report(UNKNOWN_PROPERTY, node, { text, at, help: () => meantName(node, name) })
}

function meantName(node: FhirNode, name: string): Help {
  const near = nearest(name, node.type.members.keys())
  const right = otherCase(name, near)
  return { hint: didYouMean(near), fix: right === undefined ? undefined : renaming(node, name, right) }
}

const TOO_FEW: FindingDefinition = defineFinding(
  'too-few',
  'error',
  'structure',
  'Add the element; an element with an extension that gives the reason for its absence counts too.',
)
const TOO_MANY: FindingDefinition = defineFinding('too-many', 'error', 'structure', 'Remove the surplus elements.')

/** The kinds of findings about how often elements occur. */
export const CARDINALITY_FINDINGS: readonly FindingDefinition[] = [TOO_FEW, TOO_MANY]

/** How often an element or slice occurs. */
interface Count {
  readonly rule: ElementRule
  readonly count: number
}

/** The problem with a number of occurrences. The walk reports it, and `passesStructure` uses it too. */
export function countProblem({ min, max }: Pick<ElementRule, 'min' | 'max'>, count: number): FindingDefinition | undefined {
  if (count < min) return TOO_FEW
  return count > max ? TOO_MANY : undefined
}

/** Reports at the parent when an element or slice occurs less or more often than the rule allows. */
export function checkCount(run: Run, parent: FhirNode, { rule, count }: Count): void {
  const problem = countProblem(rule, count)
  if (problem === undefined) return
  const limit = problem === TOO_FEW ? `minimum required = ${rule.min}` : `max allowed = ${rule.max}`
  run.findings.report(problem, parent, {
    text: `${named(rule)}: ${limit}, but ${problem === TOO_FEW ? 'only ' : ''}found ${count}.`,
    ...from(rule),
  })
}

function named(rule: ElementRule): string {
  return rule.sliceName === undefined ? `'${rule.name}'` : `Slice '${rule.sliceName}' of '${rule.name}'`
}

function from(rule: ElementRule): { profile?: string } {
  return rule.isBase ? {} : { profile: rule.profile }
}

/** Reports required elements and slices that are absent. */
export function checkMissing(
  run: Run,
  { node, holder }: { node: FhirNode; holder: JsonObject },
  required: readonly RequiredMember[],
): void {
  for (const { rule, names } of required) {
    if (!hasOneOf(holder, names)) checkCount(run, node, { rule, count: 0 })
  }
}

function hasOneOf(holder: JsonObject, names: readonly string[]): boolean {
  for (const name of names) if (isThere(holder, name)) return true
  return false
}

/** An empty array counts as absent: it is reported itself, and so is the missing element. */
function isThere(holder: JsonObject, name: string): boolean {
  const value = holder[name]
  if (value === undefined || typeof value === 'function') return Object.hasOwn(holder, name)
  return !Array.isArray(value) || value.length > 0
}
