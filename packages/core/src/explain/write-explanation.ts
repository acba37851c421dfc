import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type { Explanation, ExplanationStep, NearestCode } from './explanation.js'
import type { ClauseCounts, ClauseResources, Coverage, CoveredDefinition, ExplainedCriterion, NearMiss, ReasonStep } from './criteria.js'

/** Url of the extension that carries an explanation. */
export const EXPLANATION = 'https://fhir-ops.dev/StructureDefinition/explanation'

/**
 * Writes an explanation as a parameter of a Parameters resource; an empty list for an empty explanation.
 *
 * @param more Items after the steps: the criteria of a Measure or of CQL.
 */
export function explanationParameter(explanation: Explanation | undefined, more: readonly Item[] = []): ParametersParameter[] {
  return itemsOf(explanation, more).map((items) => asParameter({ name: 'explanation', items }))
}

/** As `explanationParameter`, but as an extension, for any other answer. */
export function explanationExtension(explanation: Explanation | undefined, more: readonly Item[] = []): Extension[] {
  return itemsOf(explanation, more).map((items) => asExtension({ name: EXPLANATION, items }))
}

/** The common structure of a parameter with parts and a nested extension: a name, and a value or further items. */
interface Item {
  readonly name: string
  readonly items?: readonly Item[]
  readonly value?: Pick<
    Extension,
    'valueCode' | 'valueCanonical' | 'valueString' | 'valueCoding' | 'valueInteger' | 'valueDecimal' | 'valueReference'
  >
}

function asParameter({ name, items, value }: Item): ParametersParameter {
  return items === undefined ? { name, ...value } : { name, part: items.map(asParameter) }
}

/** Writes an item as an extension whose url is its name. */
function asExtension({ name, items, value }: Item): Extension {
  return items === undefined ? { url: name, ...value } : { url: name, extension: items.map(asExtension) }
}

/** Returns the items of an explanation if it has any, because FHIR does not allow an empty list. */
function itemsOf(explanation: Explanation | undefined, more: readonly Item[]): readonly (readonly Item[])[] {
  const { steps, omitted, nearest } = explanation ?? NOTHING
  const left = omitted > 0 ? [{ name: 'omitted', value: { valueInteger: omitted } }] : []
  const items = [...steps.map(stepItem), ...left, ...nearest.map(nearestItem), ...more]
  return items.length === 0 ? [] : [items]
}

const NOTHING: Explanation = { steps: [], omitted: 0, nearest: [] }

function stepItem({ kind, outcome, reason, definition, path, coding, count, text }: ExplanationStep): Item {
  return {
    name: 'step',
    items: [
      { name: 'kind', value: { valueCode: kind } },
      { name: 'outcome', value: { valueCode: outcome } },
      ...(reason === undefined ? [] : [{ name: 'reason', value: { valueCode: reason } }]),
      ...(definition === undefined ? [] : [{ name: 'definition', value: { valueCanonical: definition } }]),
      ...(path === undefined ? [] : [{ name: 'path', value: { valueString: path } }]),
      ...(coding === undefined ? [] : [{ name: 'coding', value: { valueCoding: coding } }]),
      ...(count === undefined ? [] : [{ name: 'count', value: { valueInteger: count } }]),
      { name: 'text', value: { valueString: text } },
    ],
  }
}

function nearestItem({ coding, distance, by }: NearestCode): Item {
  return {
    name: 'nearest',
    items: [
      { name: 'coding', value: { valueCoding: coding } },
      { name: 'distance', value: { valueInteger: distance } },
      { name: 'by', value: { valueCode: by } },
    ],
  }
}

/** Url of the extension with the results of clauses of libraries. */
export const COVERAGE = 'https://fhir-ops.dev/StructureDefinition/coverage'

/** Writes the coverage of libraries as an extension. */
export function coverageExtension(coverage: Coverage | undefined): Extension[] {
  return coverage === undefined ? [] : [asExtension({ name: COVERAGE, items: coverageItems(coverage) })]
}

/** Writes the criteria of an explanation and the source of their libraries. Separate from the steps, because only measures and CQL have criteria. */
export function criteriaItems({ criteria = [], source }: Partial<Explanation> = {}): readonly Item[] {
  return [...criteria.map(criterionItem), ...(source === undefined ? [] : [{ name: 'source', items: coverageItems(source) }])]
}

function textItem(name: string, text: string | undefined): readonly Item[] {
  return text === undefined || text === '' ? [] : [{ name, value: { valueString: text } }]
}

function criterionItem({ name, definition, path, expression, result, count, reason, nearest, steps, evaluated }: ExplainedCriterion): Item {
  return {
    name: 'criterion',
    items: [
      ...textItem('name', name),
      ...(definition === undefined ? [] : [{ name: 'definition', value: { valueCanonical: definition } }]),
      ...textItem('path', path),
      ...textItem('expression', expression),
      { name: 'result', value: { valueCode: result } },
      ...(count === undefined ? [] : [{ name: 'count', value: { valueInteger: count } }]),
      ...textItem('reason', reason),
      ...nearest.map(missItem),
      ...steps.map(reasonItem),
      ...evaluated.map(resourcesItem),
    ],
  }
}

function missItem({ resource, missedBy, clause, locator, distance, text }: NearMiss): Item {
  return {
    name: 'nearest',
    items: [
      ...(resource === undefined ? [] : [{ name: 'resource', value: { valueReference: { reference: resource } } }]),
      { name: 'missedBy', value: { valueCode: missedBy } },
      ...textItem('clause', clause),
      ...textItem('locator', locator),
      ...(distance === undefined
        ? []
        : [{ name: 'distance', value: { valueDecimal: distance.value } }, ...textItem('unit', distance.unit)]),
      ...textItem('text', text),
    ],
  }
}

function reasonItem({ kind, result, library, locator, text }: ReasonStep): Item {
  return {
    name: 'step',
    items: [
      { name: 'kind', value: { valueCode: kind } },
      ...textItem('result', result),
      ...textItem('library', library),
      ...textItem('locator', locator),
      ...textItem('text', text),
    ],
  }
}

function resourcesItem({ clause, library, locator, resources, total }: ClauseResources): Item {
  return {
    name: 'evaluated',
    items: [
      ...textItem('clause', clause),
      ...textItem('library', library),
      ...textItem('locator', locator),
      { name: 'total', value: { valueInteger: total } },
      ...resources.map((reference) => ({ name: 'resource', value: { valueReference: { reference } } })),
    ],
  }
}

/** Writes definitions with their clauses. The source text is a list of `part` items, in order, each with the `clause` that it belongs to, if any. */
function coverageItems({ subjects, libraries, omitted }: Coverage): readonly Item[] {
  return [
    { name: 'subjects', value: { valueInteger: subjects } },
    ...(omitted > 0 ? [{ name: 'omitted', value: { valueInteger: omitted } }] : []),
    ...libraries.map(({ library, definitions }) => ({
      name: 'library',
      items: [...textItem('name', library), ...definitions.map(definitionItem)],
    })),
  ]
}

function definitionItem({ name, locator, counts, clauses, source }: CoveredDefinition): Item {
  return {
    name: 'definition',
    items: [
      ...textItem('name', name),
      ...textItem('locator', locator),
      { name: 'counts', value: { valueString: countsText(counts) } },
      ...clauses.map((clause) => ({
        name: 'clause',
        items: [...textItem('id', clause.id), ...textItem('locator', clause.locator), ...textItem('counts', countsText(clause.counts))],
      })),
      ...source.map(({ text, clause }) => ({ name: 'part', items: [...textItem('text', text), ...textItem('clause', clause)] })),
    ],
  }
}

/** Writes counts as `true 3, false 1, null 0, notEvaluated 2`: a single text, because there are thousands of clauses. */
function countsText(counts: ClauseCounts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
