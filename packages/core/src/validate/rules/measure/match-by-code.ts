import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'

/** A group, population or stratifier of a MeasureReport that does not match those of its Measure. */
export const MEASURE_PART: FindingDefinition = defineFinding(
  'measure-part',
  'error',
  'business-rule',
  'Use the codes of the groups, populations and stratifiers of the measure.',
)

/** The parts of a report, and the corresponding parts of the measure. */
export interface ReportParts {
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
 * Finds, for each part of a report, the part of the measure with the same code. A single group on each side always matches, and the codes must agree if both
 * have one. Other parts match without a code if there is one on each side. Reports parts of the report without a match, and, at the parent, parts of the
 * measure that the report lacks.
 */
export async function matchByCode(run: Run, parent: FhirNode, { nodes, definitions, what }: ReportParts): Promise<readonly PartMatch[]> {
  const say = (at: FhirNode, text: string): void => run.findings.report(MEASURE_PART, at, { text })
  const pair = onlyPair({ nodes, definitions, what })
  if (pair !== undefined) {
    const problem = pairProblem(pair)
    if (problem !== undefined) say(pair.node, problem)
    return [pair]
  }
  const matches = new Map<JsonObject, PartMatch>()
  const places = placesByCode(definitions)
  for (const one of nodes) {
    await run.scheduler.turn()
    const match = definitions[placeOf(one, places)]
    const text = matchProblem(one, what, { match, isTaken: match !== undefined && matches.has(match) })
    if (text !== undefined) say(one, text)
    else if (match !== undefined) matches.set(match, { node: one, definition: match })
  }
  for (const missing of definitions)
    if (!matches.has(missing) && !isObservation(missing))
      say(parent, `The report has no ${what} for the ${what} ${quoted(nameOf(missing))} of the measure.`)
  return [...matches.values()]
}

function onlyPair({ nodes, definitions, what }: ReportParts): PartMatch | undefined {
  const [node, ...others] = nodes
  const [definition, ...more] = definitions
  if (node === undefined || definition === undefined || others.length > 0 || more.length > 0) return undefined
  return what === 'group' || (definition['code'] === undefined && codesOf(node).length === 0) ? { node, definition } : undefined
}

/** The problem with the code of the only group of a report. */
function pairProblem({ node, definition }: PartMatch): string | undefined {
  const codes = codesOf(node)
  const code = objectAt(definition, 'code')
  if (codes.length === 0 || code === undefined || placeOf(node, placesByCode([definition])) === 0) return undefined
  const isUsable = codes.some((one) =>
    objectsAt(one, 'coding').some((coding) => coding['system'] !== undefined && coding['code'] !== undefined),
  )
  return isUsable
    ? `The code of the group is not that of the group in the measure, ${quoted(nameOf(definition))}.`
    : 'None of the codes of the group can be compared with that in the measure: a coding with system and code is needed.'
}

/** Index of the first definition with one of the part's codes; -1 when there is none. */
function placeOf(part: FhirNode, places: ReadonlyMap<string, number>): number {
  const found = codesOf(part).flatMap((code) => [...codingKeys(code), ...textKeys(code)].flatMap((key) => places.get(key) ?? []))
  return found.length === 0 ? -1 : Math.min(...found)
}

interface Found {
  readonly match: JsonObject | undefined
  /** True if an earlier part has this match. */
  readonly isTaken: boolean
}

function matchProblem(part: FhirNode, what: string, { match, isTaken }: Found): string | undefined {
  if (codesOf(part).length === 0) return `The ${what} must have the code of a ${what} in the measure.`
  if (match === undefined) return `The measure has no ${what} with this code.`
  return isTaken ? `There is already a ${what} with this code.` : undefined
}

/** True for an observation of the members of a population, which is not a population to report. */
function isObservation(definition: JsonObject): boolean {
  return objectsAt(objectAt(definition, 'code'), 'coding').some(
    (one) => one['system'] === POPULATIONS && one['code'] === 'measure-observation',
  )
}

const POPULATIONS = 'http://terminology.hl7.org/CodeSystem/measure-population'

/** The codes of a part: a stratifier of a report has a list of codes, other parts have one. */
function codesOf({ value }: FhirNode): readonly JsonObject[] {
  const one = isObject(value) ? objectAt(value, 'code') : undefined
  return one === undefined ? (isObject(value) ? objectsAt(value, 'code') : []) : [one]
}

/** The index of the first definition with each coding, or with each text if it has no coding. */
function placesByCode(definitions: readonly JsonObject[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (const [place, definition] of definitions.entries()) {
    const code = objectAt(definition, 'code')
    const keys = objectsAt(code, 'coding').length > 0 ? codingKeys(code) : textKeys(code)
    for (const key of keys) if (!places.has(key)) places.set(key, place)
  }
  return places
}

function codingKeys(code: JsonObject | undefined): readonly string[] {
  return objectsAt(code, 'coding').map((coding) => JSON.stringify([coding['system'], coding['code']]))
}

function textKeys(code: JsonObject | undefined): readonly string[] {
  const text = stringAt(code, 'text')
  return text === undefined ? [] : [JSON.stringify(text)]
}

function nameOf(definition: JsonObject): string {
  const code = objectAt(definition, 'code')
  return stringAt(objectsAt(code, 'coding')[0], 'code') ?? stringAt(code, 'text') ?? ''
}
