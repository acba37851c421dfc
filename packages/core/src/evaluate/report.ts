import type {
  Extension,
  List,
  MeasureReport,
  MeasureReportGroup,
  MeasureReportGroupPopulation,
  MeasureReportGroupStratifier,
  MeasureReportGroupStratifierStratum,
  Observation,
  OperationOutcome,
  Quantity,
  Reference,
  Resource,
} from 'fhir/r4.js'
import { checkResult } from '../errors/index.js'
import { coverageExtension, criteriaItems, explanationExtension } from '../explain/index.js'
import { ownCopy } from '../json/index.js'
import type { SubjectFailure } from './languages/index.js'
import type {
  EvaluatedGroup,
  EvaluatedPopulations,
  EvaluatedStratum,
  EvaluateMeasureResult,
  EvaluatedEvidence,
  EvaluatedSupplement,
} from './result.js'
import { conceptOf, isQuantity } from './concept.js'
import type { StratumValue } from './totals/sums.js'
import type { Subject } from './subject.js'

/**
 * Creates the MeasureReport that `$evaluate-measure` returns. The members of a `subject-list` are in contained Lists; an explanation is an extension.
 *
 * @see https://hl7.org/fhir/R4/measurereport.html
 */
export function toMeasureReport(result: EvaluateMeasureResult): MeasureReport {
  checkResult('evaluateMeasure', result, 'groups')
  const { id, date, type, measure, subject, period, improvementNotation, groups, explanation, failures = [] } = result
  const contained: (List | Observation | OperationOutcome)[] = failures.length === 0 ? [] : [outcomeOfFailures(failures, result.failed)]
  const group = groups.map((one) => groupOf(one, contained))
  const supplements = (result.supplements ?? []).map((one, index) => supplementOf(one, { index, result }))
  contained.push(...supplements.flatMap(({ observations }) => observations))
  const about = reportSubject(subject)
  const extension = [
    ...about.extension,
    ...explanationExtension(explanation, criteriaItems(explanation)),
    ...coverageExtension(result.coverage),
    ...supplements.flatMap(({ extensions }) => extensions),
  ]
  const evaluatedResource = evaluatedResources(result)
  return {
    resourceType: 'MeasureReport',
    id,
    meta: { versionId: '1', lastUpdated: date },
    ...(contained.length > 0 && { contained }),
    ...(extension.length > 0 && { extension }),
    status: failures.length > 0 && result.failed === undefined ? 'error' : 'complete',
    type,
    measure,
    ...(about.subject !== undefined && { subject: about.subject }),
    date,
    period: { ...period },
    ...(improvementNotation !== undefined && { improvementNotation: ownCopy(improvementNotation) }),
    ...(group.length > 0 && { group }),
    ...(evaluatedResource.length > 0 && { evaluatedResource }),
  }
}

/** Names the subjects that could not be evaluated: because of them nothing was counted, or, if they were left out, their number. */
function outcomeOfFailures(failures: readonly SubjectFailure[], failed: number | undefined): OperationOutcome {
  const severity = failed === undefined ? 'error' : 'warning'
  const texts = failures.map(({ subject, message }) => `${subject} could not be evaluated: ${message}`)
  const all =
    failed === undefined ? [] : [`${failed} ${failed === 1 ? 'subject' : 'subjects'} could not be evaluated, which no count contains.`]
  return {
    resourceType: 'OperationOutcome',
    id: 'failures',
    issue: [...all, ...texts].map((text) => ({ severity, code: 'processing', details: { text } })),
  }
}

/** Of the Data Exchange For Quality Measures guide, because in R4 only the whole report has a notation. */
const GROUP_NOTATION = 'http://hl7.org/fhir/us/davinci-deqm/StructureDefinition/extension-groupImprovementNotation'

function groupExtensions({ component, improvementNotation }: EvaluatedGroup): readonly Extension[] {
  return [
    ...(component === undefined ? [] : [measureInfo(component)]),
    ...(improvementNotation === undefined ? [] : [{ url: GROUP_NOTATION, valueCodeableConcept: ownCopy(improvementNotation) }]),
  ]
}

function groupOf(one: EvaluatedGroup, contained: Resource[]): MeasureReportGroup {
  const { id, code, populations, score, scoreUnit, stratifiers } = one
  const extension = groupExtensions(one)
  const own = populationsOf(
    { populations, ...(score !== undefined && { score }), ...(scoreUnit !== undefined && { scoreUnit }) },
    contained,
  )
  const stratifier = stratifiers.map(({ id, code, strata }): MeasureReportGroupStratifier => {
    const stratum = strata.map((one) => ({ ...valuesOf(one), ...populationsOf(one, contained) }))
    return { ...(id !== undefined && { id }), ...(code !== undefined && { code: [ownCopy(code)] }), ...(stratum.length > 0 && { stratum }) }
  })
  const head = {
    ...(id !== undefined && { id }),
    ...(extension.length > 0 && { extension: [...extension] }),
    ...(code !== undefined && { code: ownCopy(code) }),
  }
  return { ...head, ...own, ...(stratifier.length > 0 && { stratifier }) }
}

interface Counts {
  population?: MeasureReportGroupPopulation[]
  measureScore?: Quantity
}

function populationsOf({ populations, score, scoreUnit }: EvaluatedPopulations, contained: Resource[]): Counts {
  const population = populations.map(({ members, evidence = [], ...one }) => ({
    ...ownCopy(one),
    ...(evidence.length > 0 && { extension: evidence.map(evidenceExtension) }),
    ...(members !== undefined && listed(members, contained)),
  }))
  return { ...(population.length > 0 && { population }), ...(score !== undefined && { measureScore: scoreQuantity(score, scoreUnit) }) }
}

function scoreQuantity(value: number, unit: string | undefined): Quantity {
  return { value, ...(unit !== undefined && { unit, system: 'http://unitsofmeasure.org', code: unit }) }
}

/** Adds a contained List of the members of a population, and refers to it. */
function listed(members: readonly string[], contained: Resource[]): Pick<MeasureReportGroupPopulation, 'subjectResults'> {
  const id = `members-${contained.length + 1}`
  const entry = members.map((member) => ({ item: itemOf(member) }))
  const list: List = { resourceType: 'List', id, status: 'current', mode: 'snapshot', ...(entry.length > 0 && { entry }) }
  contained.push(list)
  return { subjectResults: { reference: `#${id}` } }
}

/** A member that is not a resource is shown with the subject that it belongs to. */
function itemOf(member: string): Reference {
  const [reference, ...display] = member.split('#')
  return display.length === 0 ? { reference: member } : { reference: reference ?? '', display: display.join('#') }
}

/** Of R5, in which the value of a stratum may be an amount. */
const VALUE_EXTENSION = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.group.stratifier.stratum.value'

function valuesOf({ value, quantity, components }: EvaluatedStratum): MeasureReportGroupStratifierStratum {
  if (components !== undefined) return { component: ownCopy([...components]) }
  const extension: Extension[] = quantity === undefined ? [] : [{ url: VALUE_EXTENSION, valueQuantity: ownCopy(quantity) }]
  return { ...(extension.length > 0 && { extension }), ...(value !== undefined && { value: ownCopy(value) }) }
}

const DEQM = 'http://hl7.org/fhir/us/davinci-deqm/StructureDefinition'
const MEASURE_INFO = 'http://hl7.org/fhir/StructureDefinition/cqf-measureInfo'
const SUPPORTING_EVIDENCE = 'http://hl7.org/fhir/StructureDefinition/cqf-supportingEvidence'

/** Supplemental data in the form in which a report contains it. */
interface ReportedSupplement {
  /** Contained Observations, one for each value. */
  readonly observations: readonly Observation[]
  /** Extensions of the report that refer to the observations. */
  readonly extensions: readonly Extension[]
}

/**
 * Supplemental data of a report. For one subject, an Observation for each value; for several, an Observation of the number of subjects with each value.
 *
 * @see https://hl7.org/fhir/us/davinci-deqm/StructureDefinition-extension-supplementalData.html
 */
function supplementOf(
  { id, code, measure, values }: EvaluatedSupplement,
  { index, result }: { readonly index: number; readonly result: EvaluateMeasureResult },
): ReportedSupplement {
  const observations = values.map(({ value, count }, at): Observation => {
    const own = code ?? { text: id ?? `Supplemental data ${index + 1}` }
    const concept = conceptOf(value.concept)
    return ownCopy<Observation>({
      resourceType: 'Observation',
      id: `supplement-${index + 1}-${at + 1}`,
      extension: [measureInfo({ measure: measure ?? result.measure, populationId: id })],
      status: 'final',
      ...(result.type === 'individual' ? { code: own, ...valueOf(value) } : { code: concept ?? own, valueInteger: count }),
    })
  })
  return {
    observations,
    extensions: observations.map((observation) => ({
      url: `${DEQM}/extension-supplementalData`,
      valueReference: { ...criterionReferences(id === undefined ? [] : [id]), reference: `#${observation.id}` },
    })),
  }
}

/** The Measure, and the part of it, to which something belongs (`cqf-measureInfo`). */
function measureInfo({
  measure,
  groupId,
  populationId,
}: {
  readonly measure: string
  readonly groupId?: string | undefined
  readonly populationId?: string | undefined
}): Extension {
  const extension: Extension[] = [
    { url: 'measure', valueCanonical: measure },
    ...(groupId === undefined ? [] : [{ url: 'groupId', valueString: groupId }]),
    ...(populationId === undefined ? [] : [{ url: 'populationId', valueString: populationId }]),
  ]
  return { url: MEASURE_INFO, extension }
}

function valueOf({ concept, quantity }: StratumValue): Pick<Observation, 'valueCodeableConcept' | 'valueQuantity'> {
  if (isQuantity(quantity)) return { valueQuantity: quantity }
  const coded = conceptOf(concept)
  return coded === undefined ? {} : { valueCodeableConcept: coded }
}

/** References to the resources that the evaluation read, and to those that contain supplemental data. */
function evaluatedResources({ evaluatedResources: read = [], supplements = [] }: EvaluateMeasureResult): Reference[] {
  const named = new Map<string, string[]>(read.map((reference) => [reference, []]))
  for (const { id, resources } of supplements) {
    for (const reference of resources) named.set(reference, [...(named.get(reference) ?? []), ...(id === undefined ? [] : [id])])
  }
  return [...named].map(([reference, ids]) => ({ ...criterionReferences(ids), reference }))
}

/** States to which supplemental data of the Measure a reference belongs. */
function criterionReferences(ids: readonly string[]): { extension?: Extension[] } {
  return ids.length === 0 ? {} : { extension: ids.map((id) => ({ url: `${DEQM}/extension-criteriaReference`, valueString: id })) }
}

/** Supporting evidence as an extension of a population of the report. */
function evidenceExtension({ name, description, code, values }: EvaluatedEvidence): Extension {
  return {
    url: SUPPORTING_EVIDENCE,
    extension: [
      { url: 'name', valueCode: name },
      ...(description === undefined ? [] : [{ url: 'description', valueString: description }]),
      ...(code === undefined ? [] : [{ url: 'code', valueCodeableConcept: ownCopy(code) }]),
      ...ownCopy(values),
    ],
  }
}

/** Types that the subject of an R4 MeasureReport can have. */
const REPORT_SUBJECTS: ReadonlySet<string> = new Set([
  'Patient',
  'Practitioner',
  'PractitionerRole',
  'Location',
  'Device',
  'RelatedPerson',
  'Group',
])

/** The extension for R5's element, for all other types. */
const SUBJECT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.subject'

/** The subject of a report, as its element or as an extension. */
export function reportSubject(subject: Subject | undefined): { readonly subject?: Reference; readonly extension: readonly Extension[] } {
  if (subject === undefined) return { extension: [] }
  const reference = { reference: `${subject.type}/${subject.id}` }
  if (REPORT_SUBJECTS.has(subject.type)) return { subject: reference, extension: [] }
  return { extension: [{ url: SUBJECT, valueReference: reference }] }
}
