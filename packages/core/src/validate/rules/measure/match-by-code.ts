import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'

/** The parts of a report, and the parts of the measure that they are about. */
export interface Parts {
  readonly nodes: readonly FhirNode[]
  readonly definitions: readonly JsonObject[]
  /** `group`, `population` or `stratifier`. */
  readonly what: string
}

/** A part of a report with its definition. */
export interface PartMatch {
  readonly node: FhirNode
  readonly definition: JsonObject
}

/**
 * Finds for each part of a report the part of the measure with the same code. Where there is only one on each side a code may be absent.
 * Reports at the part what has no match, and at the parent what has no part.
 */
export function matchByCode(run: Run, parent: FhirNode, { nodes, definitions, what }: Parts): readonly PartMatch[] {
  const [node, definition] = [nodes[0], definitions[0]]
  if (nodes.length === 1 && definitions.length === 1 && node !== undefined && definition !== undefined && !areCoded(node, definition))
    return [{ node, definition }]
  const say = (at: FhirNode, text: string): void => run.sink.report('measure-part', at, { text })
  const done = new Set<JsonObject>()
  const isMatch = (codes: readonly JsonObject[], candidate: JsonObject): boolean => {
    run.step()
    return sameCode(codes, candidate)
  }
  const matches = nodes.flatMap((one) => {
    const match = codesOf(one).length === 0 ? undefined : definitions.find((candidate) => isMatch(codesOf(one), candidate))
    if (match === undefined)
      say(
        one,
        codesOf(one).length === 0
          ? `The ${what} needs the code of a ${what} in the measure.`
          : `The measure has no ${what} with this code.`,
      )
    else if (done.has(match)) say(one, `There is already a ${what} with this code.`)
    if (match === undefined || done.has(match)) return []
    done.add(match)
    return [{ node: one, definition: match }]
  })
  for (const missing of definitions)
    if (!done.has(missing) && !isObservation(missing))
      say(parent, `The report has no ${what} for the one ${quoted(nameOf(missing))} of the measure.`)
  return matches
}

/** What is observed of the members of a population is not a population to report. */
function isObservation(definition: JsonObject): boolean {
  return objectsAt(objectAt(definition, 'code'), 'coding').some(
    (one) => one['system'] === POPULATIONS && one['code'] === 'measure-observation',
  )
}

const POPULATIONS = 'http://terminology.hl7.org/CodeSystem/measure-population'

function areCoded({ value }: FhirNode, definition: JsonObject): boolean {
  return isObject(value) && value['code'] !== undefined && definition['code'] !== undefined
}

/** A stratifier of a report has a list of codes, the others one. */
function codesOf({ value }: FhirNode): readonly JsonObject[] {
  const one = isObject(value) ? objectAt(value, 'code') : undefined
  return one === undefined ? (isObject(value) ? objectsAt(value, 'code') : []) : [one]
}

function sameCode(codes: readonly JsonObject[], definition: JsonObject): boolean {
  const expected = objectAt(definition, 'code')
  return expected !== undefined && codes.some((code) => sameConcept(code, expected))
}

function sameConcept(a: JsonObject, b: JsonObject): boolean {
  const codings = objectsAt(b, 'coding')
  if (codings.length === 0) return stringAt(a, 'text') !== undefined && stringAt(a, 'text') === stringAt(b, 'text')
  return objectsAt(a, 'coding').some((one) => codings.some((other) => one['system'] === other['system'] && one['code'] === other['code']))
}

function nameOf(definition: JsonObject): string {
  const code = objectAt(definition, 'code')
  return stringAt(objectsAt(code, 'coding')[0], 'code') ?? stringAt(code, 'text') ?? ''
}
