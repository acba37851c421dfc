import { OperationError } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/**
 * Code of the scoring: the group's own, or else the Measure's. For a scoring without a code, its text, which matches no rule.
 *
 * The extensions in this file come from two guides (`us/cqfmeasures`, `uv/cqm`) with several urls; their last segment identifies them.
 */
export function scoringOf(group: JsonObject, measure: JsonObject): string | undefined {
  const own = extensionOf(group, ['cqfm-scoring', 'cqm-scoring'])
  return codeOrText(objectAt(own, 'valueCodeableConcept') ?? objectAt(measure, 'scoring'))
}

/** Code of the method by which a composite measure, or a composite group, combines its components; its text when it has no code. */
export function compositeScoringOf(element: JsonObject): string | undefined {
  const extension = extensionOf(element, ['cqfm-compositeScoring', 'cqm-compositeScoring'])
  return codeOrText(objectAt(element, 'compositeScoring') ?? objectAt(extension, 'valueCodeableConcept'))
}

/** The components of a composite group, as related artifacts (`cqfm-component`). */
export function componentsOfGroup(group: JsonObject): readonly JsonObject[] {
  return extensionsOf(group, ['cqfm-component', 'cqm-component'])
    .map((extension) => objectAt(extension, 'valueRelatedArtifact') ?? {})
    .filter((artifact) => stringAt(artifact, 'type') === 'composed-of')
}

function codeOrText(concept: JsonObject | undefined): string | undefined {
  const code = objectsAt(concept, 'coding')
    .map((coding) => stringAt(coding, 'code'))
    .find((one) => one !== undefined)
  return concept === undefined ? undefined : (code ?? stringAt(concept, 'text') ?? '')
}

/** Id of the group of a component that is used, if the component has several (`cqfm-groupId`). */
export function groupIdOf(component: JsonObject): string | undefined {
  const extension = extensionOf(component, ['cqfm-groupId', 'cqm-groupId'])
  return stringAt(extension, 'valueId') ?? stringAt(extension, 'valueString')
}

/** The weight of a component of a composite measure (`cqfm-weight`); a value that is not a number is returned unchanged. */
export function weightOf(component: JsonObject): unknown {
  return extensionOf(component, ['cqfm-weight', 'cqm-weight'])?.['valueDecimal']
}

/**
 * What is counted, as stated by the first of the elements that states it: `boolean` or a type, as a code or as the type of a DataRequirement.
 *
 * @throws {OperationError} `not-supported` for a DataRequirement with filters: which items count is decided by the criteria.
 */
export function basisOf(...elements: readonly JsonObject[]): string | undefined {
  return elements
    .map((element) => {
      const extension = extensionOf(element, ['cqfm-populationBasis', 'cqm-populationBasis'])
      return stringAt(extension, 'valueCode') ?? typeRequired(objectAt(extension, 'valueDataRequirement'))
    })
    .find((basis) => basis !== undefined)
}

function typeRequired(requirement: JsonObject | undefined): string | undefined {
  const filter = ['codeFilter', 'dateFilter', 'valueFilter'].find((name) => requirement?.[name] !== undefined)
  if (filter === undefined) return stringAt(requirement, 'type')
  throw new OperationError('not-supported', `A population basis with ${filter} is not supported: the criteria decide which items count.`)
}

/** Id of the population that a population refers to. */
export function criteriaReferenceOf(population: JsonObject): string | undefined {
  return stringAt(extensionOf(population, ['cqf-criteriaReference', 'cqfm-criteriaReference', 'cqm-criteriaReference']), 'valueString')
}

/** How observations are aggregated: `sum`, `average`, `median`, `minimum`, `maximum` or `count`. */
export function aggregateMethodOf(population: JsonObject): string | undefined {
  const extension = extensionOf(population, ['cqfm-aggregateMethod', 'cqm-aggregateMethod'])
  return stringAt(extension, 'valueCode') ?? stringAt(extension, 'valueString')
}

/** Codes of the kinds of populations that a stratifier is for (`cqfm-appliesTo`); none when it does not say. */
export function appliesToOf(stratifier: JsonObject): readonly string[] {
  return extensionsOf(stratifier, ['cqfm-appliesTo', 'cqm-appliesTo']).map(
    (extension) => codeOrText(objectAt(extension, 'valueCodeableConcept')) ?? '',
  )
}

/** The improvement notation of a Measure or group, a CodeableConcept. */
export function notationOf(element: JsonObject): JsonObject | undefined {
  const extension = extensionOf(element, ['cqfm-improvementNotation', 'cqm-improvementNotation'])
  return objectAt(element, 'improvementNotation') ?? objectAt(extension, 'valueCodeableConcept')
}

/** Expressions whose results are reported with a population (`cqf-supportingEvidenceDefinition`), in the form of Expression. */
export function evidenceOf(population: JsonObject): readonly JsonObject[] {
  return objectsAt(population, 'extension')
    .filter((extension) => stringAt(extension, 'url')?.endsWith('/cqf-supportingEvidenceDefinition') === true)
    .map((extension) => objectAt(extension, 'valueExpression') ?? {})
}

/** The code of supporting evidence (`cqf-expressionCode`), a CodeableConcept or Coding. */
export function expressionCodeOf(expression: JsonObject): JsonObject | undefined {
  const extension = extensionOf(expression, ['cqf-expressionCode'])
  const coding = objectAt(extension, 'valueCoding')
  return objectAt(extension, 'valueCodeableConcept') ?? (coding === undefined ? undefined : { coding: [coding] })
}

function extensionOf(element: JsonObject, names: readonly string[]): JsonObject | undefined {
  return extensionsOf(element, names)[0]
}

function extensionsOf(element: JsonObject, names: readonly string[]): readonly JsonObject[] {
  return objectsAt(element, 'extension').filter((extension) => {
    const url = stringAt(extension, 'url')
    return url !== undefined && names.includes(url.slice(url.lastIndexOf('/') + 1))
  })
}
