import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type { ClauseCounts, ClauseResources, Coverage, CoveredDefinition, ExplainedCriterion, NearMiss, ReasonStep } from './criteria.js'
import type { Explanation, ExplanationStep, NearestCode } from './explanation.js'

/** Url of the extension that says what the clauses of libraries were. */
export const COVERAGE = 'https://fhir-ops.dev/StructureDefinition/coverage'

/** Url of the extension that carries an explanation. */
export const EXPLANATION = 'https://fhir-ops.dev/StructureDefinition/explanation'

/** An explanation as a parameter of an answer that is Parameters; none when it is empty. */
export function explanationParameter(explanation: Explanation | undefined): ParametersParameter[] {
  return itemsOf(explanation).map((items) => asParameter({ name: 'explanation', items }))
}

/** The same as an extension of any other answer. */
export function explanationExtension(explanation: Explanation | undefined): Extension[] {
  return itemsOf(explanation).map((items) => asExtension({ name: EXPLANATION, items }))
}

/** What the clauses of libraries were for many subjects, as an extension. */
export function coverageExtension(coverage: Coverage | undefined): Extension[] {
  return coverage === undefined ? [] : [asExtension({ name: COVERAGE, items: coverageItems(coverage) })]
}

/** What a parameter with parts and an extension with extensions have in common: a name, and a value or further items. */
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

function asExtension({ name, items, value }: Item): Extension {
  return items === undefined ? { url: name, ...value } : { url: name, extension: items.map(asExtension) }
}

/** The items of an explanation that has any; a list without items is not legal. */
function itemsOf(explanation: Explanation | undefined): readonly (readonly Item[])[] {
  const { steps, omitted, nearest, criteria = [], source } = explanation ?? NOTHING
  const more = omitted > 0 ? [{ name: 'omitted', value: { valueInteger: omitted } }] : []
  const clauses = source === undefined ? [] : [{ name: 'source', items: coverageItems(source) }]
  const items = [...steps.map(stepItem), ...more, ...nearest.map(nearestItem), ...criteria.map(criterionItem), ...clauses]
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

/** Definitions with their clauses. The text of each is in order: `text` for what is of no clause, else within its `part`. */
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

/** `true 3, false 1, null 0, notEvaluated 2`: in one text, since there are thousands of clauses. */
function countsText(counts: ClauseCounts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
