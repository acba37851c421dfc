import type { Extension, Observation, Reference } from 'fhir/r4.js'
import { ownCopy } from '../json/index.js'
import { conceptOf, isQuantity } from './concept.js'
import type { EvaluatedEvidence, EvaluatedSupplement, EvaluateMeasureResult } from './result.js'
import type { StratumValue } from './tally.js'

const DEQM = 'http://hl7.org/fhir/us/davinci-deqm/StructureDefinition'
const MEASURE_INFO = 'http://hl7.org/fhir/StructureDefinition/cqf-measureInfo'
const SUPPORTING_EVIDENCE = 'http://hl7.org/fhir/StructureDefinition/cqf-supportingEvidence'

/** Supplemental data in the form in which a report contains it. */
export interface ReportedSupplement {
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
export function supplementOf(
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
export function measureInfo({
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
export function evaluatedResources({ evaluatedResources: read = [], supplements = [] }: EvaluateMeasureResult): Reference[] {
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
export function evidenceExtension({ name, description, code, values }: EvaluatedEvidence): Extension {
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
