import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { formatCanonical } from '../../../content/index.js'
import { extensionValue, extensionValues, R5_ELEMENT } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { textOf, childrenOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { corrected } from '../../profile/corrections.js'
import { rootsOf } from '../profile/conforms.js'
import { differencesOf } from '../value/check-value.js'
import { baseElement, type DifferentialCheck, type ElementCheck, type ElementName } from './base-element.js'

/** A fixed value or pattern that contradicts that of the base. */
export const DEFINITION_VALUE: FindingDefinition = defineFinding(
  'definition-value',
  'error',
  'value',
  'Keep the fixed value of the base, and everything that its pattern has.',
)

/** Checks that a profile does not change the decisions of its base: fixed values and patterns, required bindings, mustSupport. */
export async function checkChanges({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): Promise<void> {
  const base = textOf(definition, 'baseDefinition')
  if (base === undefined) return
  for (const { node, path } of elements) {
    await run.scheduler.turn()
    const found = baseElement(run, base, { id: textOf(node, 'id'), path })
    if (found === undefined || found === PENDING || !isObject(node.value)) continue
    checkValue(run, node, { path, own: node.value, base: found })
    checkFlags(run, definition, { path, own: node.value, base: found })
    checkBinding(run, definition, { path, own: node.value, base: found })
  }
}

interface Change {
  readonly path: string
  readonly own: JsonObject
  readonly base: JsonObject
}

function checkValue(run: Run, node: FhirNode, { path, own, base }: Change): void {
  const [fixed, pattern] = [statedIn(own, 'fixed'), statedIn(own, 'pattern')]
  const [theirs, theirPattern] = [statedIn(base, 'fixed'), statedIn(base, 'pattern')]
  const mine = fixed ?? (theirPattern === undefined ? undefined : pattern)
  const given = theirs ?? theirPattern
  if (mine === undefined || given === undefined) return
  const [type, other] = [mine, given].map(({ name }) => name.replace(/^(?:fixed|pattern)/, ''))
  if (type !== other) {
    run.findings.report(DEFINITION_VALUE, node, {
      text: `The base sets a value of type ${shownJson(other)}, not ${shownJson(type)}.`,
      at: mine.name,
      code: 'invalid',
    })
    return
  }
  const differences = differencesOf(mine.value, given.value, { at: '', isPattern: theirs === undefined })
  if (fixed === undefined && differences.length > 0)
    run.findings.report(DEFINITION_VALUE, node, {
      text: `The pattern must include everything in the pattern of the base: ${differences[0]?.text() ?? ''}`,
      at: mine.name,
      code: 'invalid',
    })
  else
    for (const { at, text } of differences)
      run.findings.report(DEFINITION_VALUE, node, {
        text: `The base already sets this value. ${text()}`,
        expression: path + (at === '' ? '' : `.${at}`),
      })
}

function checkFlags(run: Run, definition: FhirNode, { path, own, base }: Change): void {
  const say = (text: string): void => run.findings.report(DEFINITION_RESTRICTION, definition, { text })
  if (own['mustSupport'] === false && base['mustSupport'] === true)
    say(`${quoted(path)} is mustSupport in the base, which a profile cannot remove.`)
  const needed = (element: JsonObject): unknown => extensionValues(element, `${R5_ELEMENT}mustHaveValue`)[0]
  if (needed(own) === false && needed(base) === true) say(`${quoted(path)} must have a value in the base, which a profile cannot relax.`)
}

/** Checks that a required binding stays required, to the same value set or a part of it. */
function checkBinding(run: Run, definition: FhirNode, { path, own, base }: Change): void {
  const [mine, theirs] = [objectAt(own, 'binding'), objectAt(base, 'binding')]
  if (mine === undefined || theirs?.['strength'] !== 'required') return
  const say = (text: string, severity?: 'warning'): void =>
    run.findings.report(DEFINITION_RESTRICTION, definition, { text, ...(severity !== undefined && { severity }) })
  const strength = stringAt(mine, 'strength')
  if (strength !== undefined && strength !== 'required')
    return say(`${quoted(path)} has a required binding in the base, which cannot become ${quoted(strength)}.`)
  const [set, other] = [stringAt(mine, 'valueSet'), stringAt(theirs, 'valueSet')]
  if (set === undefined || other === undefined) return
  const strays = codesBeside(run, set, other)
  if (strays === undefined)
    return say(
      `The value set of ${quoted(path)} or that of the base could not be found, so its binding is not compared with that of the base.`,
      'warning',
    )
  if (strays.length > 0)
    say(`The value set ${quoted(set)} has codes that the required binding of the base does not allow: ${strays.slice(0, 5).join(', ')}.`)
}

/** The codes of a value set that another one lacks, as far as they are listed; `undefined` when one of the two could not be found. */
export function codesBeside({ definitions }: Run, set: string, other: string): readonly string[] | undefined {
  if (set.split('|', 1)[0] === other.split('|', 1)[0]) return []
  const list = definitions.valueSet(set)
  const whole = definitions.valueSet(other)
  if (list === PENDING || whole === PENDING) return []
  if (list === undefined || whole === undefined) return undefined
  return list.members().flatMap((code) => (whole.has(code) === 'out' ? [code.code] : []))
}

/** True when an extension of FHIR on an ElementDefinition or type has the value true. */
export function isMarked(element: JsonObject, name: string): boolean {
  return extensionValue(element, name) === true
}

/** A profile that allows what its base forbids: cardinality, types, flags. */
export const DEFINITION_RESTRICTION: FindingDefinition = defineFinding(
  'definition-restriction',
  'error',
  'business-rule',
  'Require at least what the base requires; a profile cannot relax it.',
)
/** A constraint whose expression is not FHIRPath, or whose key or source is wrong. */
export const DEFINITION_EXPRESSION: FindingDefinition = defineFinding(
  'definition-expression',
  'error',
  'invalid',
  'Correct the FHIRPath expression of the constraint.',
)

/** Checks that a profile stays within the cardinality of an element of its base. The minimum of a slice may be lower. */
export function checkRestrictions({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const base = textOf(definition, 'baseDefinition')
  if (base === undefined) return
  for (const { node, path } of elements) {
    const { value } = node
    if (!isObject(value)) continue
    const name = { id: textOf(node, 'id'), path }
    const problem = leastProblem(value, statedBy(run, base, name, 'min')) ?? mostProblem(value, statedBy(run, base, name, 'max'))
    if (problem !== undefined) run.findings.report(DEFINITION_RESTRICTION, definition, { text: `${quoted(path)} ${problem}` })
  }
}

function statedBy(run: Run, base: string, name: ElementName, member: 'min' | 'max'): unknown {
  const found = baseElement(run, base, name, member)
  return found === undefined || found === PENDING ? undefined : found[member]
}

function leastProblem({ min, sliceName }: JsonObject, least: unknown): string | undefined {
  const isLess = typeof min === 'number' && typeof least === 'number' && min < least && sliceName === undefined
  return isLess ? `has min = ${least} in the base, so min = ${min} is not allowed.` : undefined
}

function mostProblem({ min, max }: JsonObject, most: unknown): string | undefined {
  if (typeof most !== 'string' || most === '*') return undefined
  const isMore = typeof max === 'string' && (max === '*' || Number(max) > Number(most))
  if (isMore) return `has max = ${most} in the base, so max = ${max} is not allowed.`
  const isTooMuch = max === undefined && typeof min === 'number' && min > Number(most)
  return isTooMuch ? `has max = ${most} in the base, so min = ${min} cannot be met.` : undefined
}

/** Checks that a differential states only constraints of its own, and that a key always identifies the same constraint. */
export function checkConstraintKeys({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const url = textOf(definition, 'url') ?? ''
  const own = new Set<string | undefined>([undefined, url, formatCanonical(url, textOf(definition, 'version'))])
  const known = inheritedKeys(run, definition)
  for (const constraint of elements.flatMap(({ node }) => childrenOf(run, node, 'constraint'))) {
    const [key, expression, source] = ['key', 'expression', 'source'].map((name) => textOf(constraint, name))
    const say = (text: string): void => run.findings.report(DEFINITION_EXPRESSION, constraint, { text })
    if (expression === undefined) continue
    if (!own.has(source)) say(`The source of the constraint is ${quoted(source ?? '')}, so it does not belong in this differential.`)
    if (key === undefined) continue
    if ((known.get(key) ?? expression) !== expression && known.get(key) !== corrected(expression))
      say(`The key ${quoted(key)} is already used for another constraint.`)
    else known.set(key, expression)
  }
}

/** Constraints of every element, and of every extension, in definitions of all types. They are checked as the shape of JSON, not as invariants. */
const OF_ALL = [
  ['ele-1', 'hasValue() or (children().count() > id.count())'],
  ['ext-1', 'extension.exists() != value.exists()'],
] as const

/** Inherited expressions by key. */
function inheritedKeys(run: Run, definition: FhirNode): Map<string, string> {
  const base = textOf(definition, 'baseDefinition')
  const profile = base === undefined ? undefined : run.definitions.profile(base)
  const roots = profile === undefined || profile === PENDING ? [] : rootsOf(run, profile)
  const keys = new Map<string, string>(OF_ALL)
  for (const { profile: canonical } of roots) {
    const found = run.definitions.profile(canonical)
    if (found === undefined || found === PENDING) continue
    for (const { constraints } of found.elements.values()) for (const { key, expression } of constraints) keys.set(key, expression)
  }
  return keys
}

/** A fixed value or a pattern, with the name of its member: `fixedCode`. */
interface StatedValue {
  readonly name: string
  readonly value: unknown
}

/** The fixed value, or the pattern, of an ElementDefinition. */
export function statedIn(element: JsonObject, stem: 'fixed' | 'pattern'): StatedValue | undefined {
  for (const name of Object.keys(element))
    if (name.startsWith(stem) && isCapital(name.charCodeAt(stem.length))) return { name, value: element[name] }
  return undefined
}

/** `A-Z` */
function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}
