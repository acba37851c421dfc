import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { extensionAt, isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { containedOf } from '../reference/resolve-locally.js'

const MEASURE_UNKNOWN: FindingDefinition = defineFinding(
  'measure-unknown',
  'warning',
  'required',
  'Load the measure; until then the report is not checked against it.',
)
const MEASURE_SCORING_UNKNOWN: FindingDefinition = defineFinding(
  'measure-scoring-unknown',
  'information',
  'business-rule',
  'Add a scoring to the measure.',
)
const MEASURE_COUNT: FindingDefinition = defineFinding(
  'measure-count',
  'error',
  'business-rule',
  'Make counts and subjects agree with each other and with the type of the report.',
)
const MEASURE_SCORE: FindingDefinition = defineFinding(
  'measure-score',
  'error',
  'business-rule',
  'Give a score that fits the scoring of the measure.',
)

const SCORING = 'http://terminology.hl7.org/CodeSystem/measure-scoring'
const SCORINGS: ReadonlySet<string> = new Set(['proportion', 'ratio', 'continuous-variable', 'cohort'])

/** The data for checking reports. */
interface ReportCheck {
  readonly run: Run
  /** Type of the report: `summary`, `subject-list` and so on. */
  readonly type: string | undefined
  readonly measure: JsonObject
  /** `undefined` when the measure does not state its scoring, or not with a code of FHIR. */
  readonly scoring: string | undefined
}

/** A group, population or stratifier of a MeasureReport that does not match those of its Measure. */
const MEASURE_PART: FindingDefinition = defineFinding(
  'measure-part',
  'error',
  'business-rule',
  'Use the codes of the groups, populations and stratifiers of the measure.',
)

/** MeasureReports. */
export const measureReportRule: ResourceRule = {
  on: ['MeasureReport'],
  finds: [MEASURE_UNKNOWN, MEASURE_SCORING_UNKNOWN, MEASURE_PART, MEASURE_COUNT, MEASURE_SCORE],
  check: checkReport,
}

/** Checks a MeasureReport against its Measure, if that is known. */
async function checkReport(run: Run, node: FhirNode): Promise<void> {
  const canonical = textOf(node, 'measure')
  if (canonical === undefined) return
  const measure = canonical.startsWith('#')
    ? containedMeasure(run, node, canonical.slice(1))
    : run.definitions.definition('Measure', canonical)
  if (measure === PENDING) return
  if (measure === undefined) {
    run.findings.report(MEASURE_UNKNOWN, node, {
      text: `The measure ${quoted(canonical)} could not be found, so the report is not checked against it.`,
    })
    reportOtherVersion(run, node, canonical)
    return
  }
  const check = { run, type: textOf(node, 'type'), measure, scoring: scoringOf(measure) }
  if (check.scoring === undefined)
    run.findings.report(MEASURE_SCORING_UNKNOWN, node, {
      text: 'The measure has no scoring, so scores are not checked.',
      at: 'measure',
    })
  await checkGroups(check, node)
}

function reportOtherVersion(run: Run, node: FhirNode, canonical: string): void {
  const [url = '', version] = canonical.split('|', 2)
  const other = version === undefined ? undefined : run.definitions.definition('Measure', url)
  if (other === undefined || other === PENDING) return
  run.findings.report(MEASURE_UNKNOWN, node, {
    text: `The measure ${quoted(url)} is known in the version ${quoted(stringAt(other, 'version') ?? '')}, not in ${quoted(version ?? '')}.`,
    severity: 'information',
    code: 'informational',
  })
}

function containedMeasure(run: Run, node: FhirNode, id: string): JsonObject | undefined {
  const found = containedOf(run, node, id)
  return found?.type.name === 'Measure' && isObject(found.value) ? found.value : undefined
}

function scoringOf(measure: JsonObject): string | undefined {
  const codings = objectsAt(objectAt(measure, 'scoring'), 'coding')
  const code = stringAt(codings.find((coding) => coding['system'] === SCORING) ?? codings[0], 'code')
  return code !== undefined && SCORINGS.has(code) ? code : undefined
}

async function checkGroups(check: ReportCheck, node: FhirNode): Promise<void> {
  const groups = childrenOf(check.run, node, 'group')
  // Reports for data collection have no groups (mrp-1).
  if (check.type === 'data-collection' && groups.length === 0) return
  const matches = await matchByCode(check.run, node, { nodes: groups, definitions: objectsAt(check.measure, 'group'), what: 'group' })
  for (const { node: group, definition } of matches) {
    await checkPopulations(check, group, definition)
    checkScore(check, group)
    const stratifiers = childrenOf(check.run, group, 'stratifier')
    await matchByCode(check.run, group, { nodes: stratifiers, definitions: objectsAt(definition, 'stratifier'), what: 'stratifier' })
  }
}

async function checkPopulations(check: ReportCheck, group: FhirNode, definition: JsonObject): Promise<void> {
  const populations = childrenOf(check.run, group, 'population')
  const matches = await matchByCode(check.run, group, {
    nodes: populations,
    definitions: objectsAt(definition, 'population'),
    what: 'population',
  })
  for (const { node } of matches) checkCount(check, node)
}

function checkCount({ run, type }: ReportCheck, population: FhirNode): void {
  const subjects = childrenOf(run, population, 'subjectResults')
  const [counted] = childrenOf(run, population, 'count')
  const count = counted?.value
  if (type === 'subject-list') {
    const lengths = subjects.map((result) => subjectsOf(run, result))
    const unknown = lengths.includes(undefined)
    const listed = lengths.reduce((sum: number, length) => sum + (length ?? 0), 0)
    if (typeof count !== 'number' || (!unknown && count === listed)) return
    run.findings.report(MEASURE_COUNT, population, {
      text: unknown
        ? `The count is ${count}, which is not checked: a list of subjectResults is not in the resource.`
        : `The count is ${count}, but there are ${listed} subjectResults.`,
      ...(unknown && { severity: 'information' }),
    })
    return
  }
  if (subjects.length > 0)
    run.findings.report(MEASURE_COUNT, population, { text: 'Only reports of the type subject-list can have subjectResults.' })
  if (counted === undefined) {
    run.findings.report(MEASURE_COUNT, population, {
      text: 'A report that is not a subject-list should have a count.',
      severity: 'warning',
    })
  }
}

/** Types of resources that are single subjects. */
const SUBJECTS: ReadonlySet<string> = new Set([
  'Patient',
  'Practitioner',
  'Person',
  'PractitionerRole',
  'RelatedPerson',
  'Device',
  'Location',
  'Organization',
])

/** The number of subjects that a reference stands for; `undefined` for groups, and for lists that are not in the resource or its Bundle. */
function subjectsOf(run: Run, result: FhirNode): number | undefined {
  const reference = textOf(result, 'reference')
  const target = reference?.startsWith('#') === true ? containedOf(run, result, reference.slice(1)) : undefined
  const type = target?.type.name ?? /^(\w+)\/[^/]+$/.exec(reference ?? '')?.[1] ?? ''
  if (SUBJECTS.has(type)) return 1
  return type === 'List' && isObject(target?.value) ? objectsAt(target.value, 'entry').length : undefined
}

/** Checks that the score of a group fits the scoring of the measure. */
function checkScore(check: ReportCheck, group: FhirNode): void {
  const { run, scoring } = check
  const [score] = childrenOf(run, group, 'measureScore')
  const reason = whyNone(check)
  if (reason !== undefined) {
    if (score !== undefined) run.findings.report(MEASURE_SCORE, score, { text: `${reason} must not have scores.` })
  } else if (score === undefined) {
    if (scoring !== undefined)
      run.findings.report(MEASURE_SCORE, group, {
        text: `A group of a measure with the scoring ${scoring} must have a measureScore.`,
        code: 'required',
      })
  } else if (scoring !== undefined) checkValue(check, score, scoring)
}

function whyNone({ type, scoring }: ReportCheck): string | undefined {
  if (type === 'data-collection') return 'A report that collects data'
  return scoring === 'cohort' ? 'A measure with the scoring cohort' : undefined
}

/** Checks that the score of a proportion is a number from 0 to 1 without a unit, and that other scores have units. */
function checkValue({ run, measure }: ReportCheck, score: FhirNode, scoring: string): void {
  const value = valueOf(run, score)
  const units = ['unit', 'system', 'code'].flatMap((name) => childrenOf(run, score, name))
  const demand = (node: FhirNode, text: string): void => run.findings.report(MEASURE_SCORE, node, { text, code: 'required' })
  if (value === undefined) demand(score, 'A score must have a value.')
  if (scoring === 'ratio' || scoring === 'continuous-variable') checkScoreUnit({ run, measure }, score, scoring)
  if (scoring !== 'proportion') return
  if (typeof value?.value === 'number' && (value.value < 0 || value.value > 1))
    demand(value, 'The score of a proportion must be between 0 and 1.')
  for (const unit of units) run.findings.report(MEASURE_SCORE, unit, { text: 'The score of a proportion must not have a unit.' })
}

/** Extensions of the guide on data exchange for quality measures, old and new, for scores of other types than decimal. */
const ALTERNATIVES = [
  'http://hl7.org/fhir/us/davinci-deqm/StructureDefinition/extension-alternateScoreType',
  'http://hl7.org/fhir/uv/deqm/StructureDefinition/deqm-alternateScoreType',
]

/** The value of a score; without one, that of an extension in its place. */
function valueOf(run: Run, score: FhirNode): FhirNode | undefined {
  const extensions = childrenOf(run, score, 'extension')
  const instead = ALTERNATIVES.flatMap((url) => extensions.filter((one) => textOf(one, 'url') === url))
  return [score, ...instead].flatMap((one) => childrenOf(run, one, 'value'))[0]
}

const UNIT = 'http://hl7.org/fhir/StructureDefinition/questionnaire-unit'

/** Checks the unit of a score against the unit that the measure may fix. The score of a ratio should have a unit. */
function checkScoreUnit({ run, measure }: Pick<ReportCheck, 'run' | 'measure'>, score: FhirNode, scoring: string): void {
  const fixed = objectAt(extensionAt(measure, UNIT), 'valueCoding')
  const [code] = childrenOf(run, score, 'code')
  const say = (node: FhirNode, text: string, rest: { code: 'code-invalid' | 'not-found'; severity?: 'warning' }): void =>
    run.findings.report(MEASURE_SCORE, node, { text, ...rest })
  const unit = stringAt(fixed, 'code') ?? ''
  if (code === undefined) {
    if (fixed !== undefined) say(score, `The score must have the unit ${quoted(unit)}.`, { code: 'not-found' })
    else if (scoring === 'ratio') say(score, 'The score of a ratio should have a unit.', { code: 'not-found', severity: 'warning' })
    return
  }
  if (fixed === undefined) return
  if (code.value !== unit) say(code, `The unit of the score must be ${quoted(unit)}.`, { code: 'code-invalid' })
  if (textOf(score, 'system') !== stringAt(fixed, 'system'))
    say(score, `The unit of the score must be of the system ${quoted(stringAt(fixed, 'system') ?? '')}.`, { code: 'code-invalid' })
}

/** The parts of a report, and the corresponding parts of the measure. */
interface ReportParts {
  readonly nodes: readonly FhirNode[]
  readonly definitions: readonly JsonObject[]
  /** `group`, `population` or `stratifier`. */
  readonly what: string
}

/** A part of a report with its definition. */
interface PartMatch {
  readonly node: FhirNode
  readonly definition: JsonObject
}

/**
 * Finds, for each part of a report, the part of the measure with the same code. A single group on each side always matches, and the codes must agree if both
 * have one. Other parts match without a code if there is one on each side. Reports parts of the report without a match, and, at the parent, parts of the
 * measure that the report lacks.
 */
async function matchByCode(run: Run, parent: FhirNode, { nodes, definitions, what }: ReportParts): Promise<readonly PartMatch[]> {
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
