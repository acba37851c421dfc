import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { containedOf } from '../reference/resolve-locally.js'
import { matchByCode, MEASURE_PART } from './match-by-code.js'

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

/** What the rules of reports work with. */
interface ReportCheck {
  readonly run: Run
  /** `summary`, `subject-list` ... of the report. */
  readonly type: string | undefined
  readonly measure: JsonObject
  /** Undefined when the measure does not say how it is scored, or says it in other words than FHIR's. */
  readonly scoring: string | undefined
}

/** MeasureReports. */
export const measureReportRule: ResourceRule = {
  on: ['MeasureReport'],
  finds: [MEASURE_UNKNOWN, MEASURE_SCORING_UNKNOWN, MEASURE_PART, MEASURE_COUNT, MEASURE_SCORE],
  check: checkReport,
}

/** Checks a MeasureReport against its Measure, where that is known. */
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
  const count = childrenOf(run, population, 'count')[0]?.value
  if (type === 'subject-list') {
    const listed = subjects.reduce((sum, result) => sum + (listLength(run, result) ?? 1), 0)
    if (typeof count === 'number' && count !== listed)
      run.findings.report(MEASURE_COUNT, population, { text: `The count is ${count}, but there are ${listed} subjectResults.` })
    return
  }
  if (subjects.length > 0)
    run.findings.report(MEASURE_COUNT, population, { text: 'Only reports of the type subject-list can have subjectResults.' })
  if (count === undefined) {
    run.findings.report(MEASURE_COUNT, population, {
      text: 'A report that is not a subject-list should have a count.',
      severity: 'warning',
    })
  }
}

/** How many subjects a contained List has; other lists are not looked up. */
function listLength(run: Run, result: FhirNode): number | undefined {
  const reference = textOf(result, 'reference')
  const list = reference?.startsWith('#') === true ? containedOf(run, result, reference.slice(1)) : undefined
  return list?.type.name === 'List' && isObject(list.value) ? objectsAt(list.value, 'entry').length : undefined
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

/** The score of a proportion is a bare number from 0 to 1, the others have units. */
function checkValue({ run }: ReportCheck, score: FhirNode, scoring: string): void {
  const [value] = childrenOf(run, score, 'value')
  const units = ['unit', 'system', 'code'].flatMap((name) => childrenOf(run, score, name))
  const demand = (node: FhirNode, text: string): void => run.findings.report(MEASURE_SCORE, node, { text, code: 'required' })
  if (value === undefined) demand(score, 'A score must have a value.')
  if (scoring === 'ratio' && units.length === 0)
    run.findings.report(MEASURE_SCORE, score, {
      text: 'The score of a ratio should have a unit.',
      severity: 'warning',
      code: 'not-found',
    })
  if (scoring !== 'proportion') return
  if (typeof value?.value === 'number' && (value.value < 0 || value.value > 1))
    demand(value, 'The score of a proportion must be between 0 and 1.')
  for (const unit of units) run.findings.report(MEASURE_SCORE, unit, { text: 'The score of a proportion must not have a unit.' })
}
