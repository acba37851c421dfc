import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, stringAt, type JsonObject } from '../../../json/index.js'
import { extensionValue, extensionValues, R5_ELEMENT } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { differencesOf } from '../value/compare-json.js'
import { baseElement } from './base-element.js'
import { DEFINITION_RESTRICTION } from './check-restrictions.js'
import type { DifferentialCheck, ElementCheck } from './element-place.js'
import { statedIn } from './stated-value.js'

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
      text: `The base sets a value of type ${String(other)}, not ${String(type)}.`,
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
