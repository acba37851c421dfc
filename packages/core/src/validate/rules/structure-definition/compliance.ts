import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { extensionValues, R5_ELEMENT } from '../../profile/value-rule.js'
import type { Run } from '../../run/run.js'
import { compareValues } from '../value/check-limits.js'
import { contains, equals } from '../value/compare-json.js'
import { elementOfType } from './base-element.js'
import { codesBeside } from './check-changes.js'
import { slicePairs, type Compared, type ComplianceProblem, type SlicePairs } from './slice-pairs.js'
import { statedIn } from './stated-value.js'

/**
 * Problems with a claim that everything which conforms to a profile conforms to another one, too: each element of the other must have a counterpart that
 * requires at least as much.
 *
 * @see https://hl7.org/fhir/extensions/StructureDefinition-structuredefinition-compliesWithProfile.html
 */
export async function complianceProblems(compared: Compared): Promise<readonly ComplianceProblem[]> {
  const { run, own, claimed } = compared
  const pairs = await slicePairs(compared)
  const known = new Map(own.map((element) => [stringAt(element, 'id') ?? '', element]))
  const problems: ComplianceProblem[] = [...pairs.problems]
  for (const element of claimed) {
    await run.scheduler.turn()
    for (const mine of counterparts(run, element, { pairs, known }))
      for (const problem of elementProblems(run, mine, element)) problems.push(problem)
  }
  return problems
}

interface Counterparts {
  readonly pairs: SlicePairs
  readonly known: ReadonlyMap<string, JsonObject>
}

/**
 * The counterparts of an element of the claimed profile: the same element, or else the sliced one, or else that of the type. None when the profile has no
 * such slice, or forbids an element around it.
 */
function counterparts(run: Run, claimed: JsonObject, { pairs, known }: Counterparts): readonly JsonObject[] {
  const [id, path] = [stringAt(claimed, 'id') ?? '', stringAt(claimed, 'path') ?? '']
  return pairs.idsOf(id).flatMap((own) => {
    if (outerIds(own).some((outer) => known.get(outer)?.['max'] === '0')) return []
    const origin = known.get(own) ?? known.get(path) ?? elementOfType(run, { path })
    return origin === undefined || origin === PENDING ? [] : [origin]
  })
}

function outerIds(id: string): readonly string[] {
  const steps = id.split('.')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'))
}

function elementProblems(run: Run, own: JsonObject, claimed: JsonObject): readonly ComplianceProblem[] {
  const name = stringAt(own, 'id') ?? stringAt(own, 'path') ?? ''
  const numbers = numberProblems(own, claimed)
  const isForbidden = own['max'] === '0'
  const values = isForbidden
    ? []
    : [
        ...valueProblems(own, claimed),
        ...typeProblems(run, own, claimed),
        ...limitProblems(own, claimed),
        ...constraintProblems(own, claimed),
      ]
  const certain = [...numbers, ...values].map((text) => ({ text, isCertain: true }))
  const codes = isForbidden ? [] : bindingProblems(run, own, claimed)
  return [...certain, ...codes].map(({ text, isCertain }) => ({ text: `${quoted(name)} ${text}`, isCertain }))
}

function numberProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const [least, most] = [own, claimed].map(({ max }) => (max === '*' || max === undefined ? Number.POSITIVE_INFINITY : Number(max)))
  const [min, theirs] = [own, claimed].map((element) => (typeof element['min'] === 'number' ? element['min'] : 0))
  return [
    ...((min ?? 0) < (theirs ?? 0) ? [`has min = ${min}, not ${theirs}`] : []),
    ...((least ?? 0) > (most ?? 0) ? [`has max = ${String(own['max'])}, not ${String(claimed['max'])}`] : []),
  ]
}

/** Checks that a fixed value is kept, and that a pattern includes everything in the claimed one. */
function valueProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const [fixed, pattern] = [statedIn(claimed, 'fixed'), statedIn(claimed, 'pattern')]
  const mine = statedIn(own, 'fixed')
  if (fixed !== undefined) return mine !== undefined && equals(mine.value, fixed.value) ? [] : ['does not have the fixed value']
  if (pattern === undefined) return []
  return contains((mine ?? statedIn(own, 'pattern'))?.value, pattern.value) ? [] : ['lacks what the pattern has']
}

function typeProblems(run: Run, own: JsonObject, claimed: JsonObject): readonly string[] {
  const allowed = objectsAt(claimed, 'type')
  if (allowed.length === 0) return []
  return objectsAt(own, 'type').flatMap((type) => {
    const code = stringAt(type, 'code') ?? ''
    const match = allowed.filter((one) => isOfType(run, code, stringAt(one, 'code') ?? ''))
    if (match.length === 0) return [`may be of type ${quoted(code)}`]
    return ['profile', 'targetProfile'].flatMap((member) => {
      const wanted = match.flatMap((one) => textsAt(one, member))
      const isOpen = match.some((one) => textsAt(one, member).length === 0)
      const mine = textsAt(type, member)
      if (isOpen) return []
      const stray = mine.find((one) => !wanted.some((canonical) => buildsOn(run, one, canonical)))
      if (mine.length > 0 && stray === undefined) return []
      return [
        `${member === 'profile' ? 'may have' : 'may lead to'} ${stray === undefined ? 'anything' : quoted(stray)}, not only ${wanted.join(', ')}`,
      ]
    })
  })
}

/** Whether a type of FHIR is another one, or derives from it. */
function isOfType({ model }: Run, code: string, allowed: string): boolean {
  const type = model.type(code)
  return code === allowed || (type !== undefined && isSubtype(model, type, allowed))
}

function textsAt(object: JsonObject, name: string): readonly string[] {
  const list = object[name]
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}

/** Whether a profile is another one, or builds on it; true when that is not known. */
function buildsOn(run: Run, canonical: string, wanted: string): boolean {
  const target = wanted.split('|', 1)[0]
  const seen = new Set<string>()
  for (let next: string | undefined = canonical; next !== undefined && !seen.has(next);) {
    seen.add(next)
    if (next.split('|', 1)[0] === target) return true
    const found = run.definitions.definition('StructureDefinition', next)
    if (found === PENDING || found === undefined) return true
    next = stringAt(found, 'baseDefinition')
  }
  return false
}

function limitProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const longest = claimed['maxLength']
  const needed = (element: JsonObject): unknown => extensionValues(element, `${R5_ELEMENT}mustHaveValue`)[0]
  return [
    ...boundProblems(own, claimed, { stem: 'minValue', sign: -1 }),
    ...boundProblems(own, claimed, { stem: 'maxValue', sign: 1 }),
    ...(typeof longest === 'number' && !(Number(own['maxLength']) <= longest) ? [`may be longer than ${longest}`] : []),
    ...(needed(claimed) === true && needed(own) !== true ? ['may have no value'] : []),
  ]
}

interface Bound {
  readonly stem: 'minValue' | 'maxValue'
  /** The sign of a difference that is not allowed. */
  readonly sign: number
}

function boundProblems(own: JsonObject, claimed: JsonObject, { stem, sign }: Bound): readonly string[] {
  const name = Object.keys(claimed).find((key) => key.startsWith(stem))
  if (name === undefined) return []
  const order = own[name] === undefined ? sign : compareValues(own[name], claimed[name])
  return order !== undefined && order * sign > 0 ? [`has no such ${stem}: ${JSON.stringify(claimed[name])}`] : []
}

/** Compares constraints by their expressions; warnings need not be kept. */
function constraintProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const mine = new Set(objectsAt(own, 'constraint').map(({ expression }) => expression))
  const lost = objectsAt(claimed, 'constraint').filter(
    ({ severity, expression, key }) => severity === 'error' && typeof expression === 'string' && key !== 'ele-1' && !mine.has(expression),
  )
  return lost.map(({ key }) => `lacks the constraint ${quoted(String(key))}`)
}

const STRENGTHS = ['example', 'preferred', 'extensible', 'required']

/** Checks that bindings which require codes are kept, to the same codes or fewer. */
function bindingProblems(run: Run, own: JsonObject, claimed: JsonObject): readonly ComplianceProblem[] {
  const [mine, theirs] = [objectAt(own, 'binding'), objectAt(claimed, 'binding')]
  const [set, other] = [stringAt(mine, 'valueSet'), stringAt(theirs, 'valueSet')]
  const needed = strengthOf(theirs)
  if (other === undefined || needed < STRENGTHS.indexOf('extensible')) return []
  if (set === undefined || strengthOf(mine) < needed)
    return [{ text: `is not bound to ${quoted(other)} with the strength ${STRENGTHS[needed]}`, isCertain: true }]
  const strays = codesBeside(run, set, other)
  if (strays === undefined)
    return [{ text: `is bound to ${quoted(set)}, which cannot be compared with ${quoted(other)}`, isCertain: false }]
  if (strays.length === 0) return []
  const text = `is bound to codes that ${quoted(other)} lacks: ${strays.slice(0, 5).join(', ')}`
  return [{ text, isCertain: strengthOf(mine) === STRENGTHS.indexOf('required') }]
}

function strengthOf(binding: JsonObject | undefined): number {
  return STRENGTHS.indexOf(stringAt(binding, 'strength') ?? '')
}
