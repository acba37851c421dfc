import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/**
 * Code of the scoring: the group's own, else the Measure's. A scoring without a code is named by its text, which no rule fits.
 *
 * The extensions of this file come from two guides (`us/cqfmeasures`, `uv/cqm`) under several addresses; their last segment identifies them.
 */
export function scoringOf(group: JsonObject, measure: JsonObject): string | undefined {
  const own = extensionOf(group, ['cqfm-scoring', 'cqm-scoring'])
  const concept = objectAt(own, 'valueCodeableConcept') ?? objectAt(measure, 'scoring')
  const code = objectsAt(concept, 'coding')
    .map((coding) => stringAt(coding, 'code'))
    .find((one) => one !== undefined)
  return concept === undefined ? undefined : (code ?? stringAt(concept, 'text') ?? '')
}

/** What is counted, as the first of the elements states it: `boolean` or a resource type. */
export function basisOf(...elements: readonly JsonObject[]): string | undefined {
  return elements
    .map((element) => stringAt(extensionOf(element, ['cqfm-populationBasis', 'cqm-populationBasis']), 'valueCode'))
    .find((basis) => basis !== undefined)
}

/** Id of the population that a population refers to. */
export function criteriaReferenceOf(population: JsonObject): string | undefined {
  return stringAt(extensionOf(population, ['cqf-criteriaReference', 'cqfm-criteriaReference', 'cqm-criteriaReference']), 'valueString')
}

/** How observations are put together: `sum`, `average`, `median`, `minimum`, `maximum` or `count`. */
export function aggregateMethodOf(population: JsonObject): string | undefined {
  const extension = extensionOf(population, ['cqfm-aggregateMethod', 'cqm-aggregateMethod'])
  return stringAt(extension, 'valueCode') ?? stringAt(extension, 'valueString')
}

function extensionOf(element: JsonObject, names: readonly string[]): JsonObject | undefined {
  return objectsAt(element, 'extension').find((extension) => {
    const url = stringAt(extension, 'url')
    return url !== undefined && names.includes(url.slice(url.lastIndexOf('/') + 1))
  })
}
