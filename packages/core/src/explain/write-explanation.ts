import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type {
  ClauseCounts,
  ClauseResources,
  Coverage,
  CoveredDefinition,
  CoveredLibrary,
  ExplainedCriterion,
  Explanation,
  ExplanationStep,
  NearMiss,
  NearestCode,
  ReasonStep,
} from './explanation.js'

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

/** Maximum number of characters in a page; clauses beyond are omitted and counted. */
const MAX_CHARACTERS = 4_000_000

/**
 * Writes an explanation of a Measure or of CQL as an HTML page: the reason for each population or definition, and the source, with each clause marked
 * as true, false, null or not evaluated. The page is self-contained and has no script; it supports light and dark mode, and all text of resources and
 * libraries is escaped.
 */
export function explanationHtml({ criteria = [], source }: Pick<Explanation, 'criteria' | 'source'>, title = 'Explanation'): string {
  return pageOf(title, [...criteria.map(criterionHtml), ...(source === undefined ? [] : sourceHtml(source))])
}

/** Writes the coverage of CQL over many subjects as an HTML page: each clause is marked by its most frequent value and shows the counts. */
export function coverageHtml(coverage: Coverage, title = 'Coverage'): string {
  return pageOf(title, sourceHtml(coverage))
}

function pageOf(title: string, parts: readonly string[]): string {
  return `${[HEAD.replace('%', () => escaped(title)), `<h1>${escaped(title)}</h1>`, ...parts].join('\n')}\n</body>\n</html>\n`
}

function sourceHtml(coverage: Coverage): readonly string[] {
  const parts = [`<p>${legend(coverage)}</p>`]
  let { length, omitted } = { length: 0, omitted: coverage.omitted }
  for (const library of coverage.libraries) {
    parts.push(`<h2>${escaped(library.library)}</h2>`, `<p>${reachedText(library)}</p>`)
    for (const definition of library.definitions) {
      const html = definitionHtml(definition, coverage.subjects)
      length += html.length
      if (length > MAX_CHARACTERS) omitted += definition.clauses.length
      else parts.push(html)
    }
  }
  return omitted > 0 ? [...parts, `<p>${omitted} clauses were left out.</p>`] : parts
}

/** Escapes text for HTML. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%</title>
<style>
:root { color-scheme: light dark; --true: #d6f2da; --false: #fbdcdc; --null: #fdf0c4; --text: #1b1f24; --back: #fff; --edge: #6b7480 }
@media (prefers-color-scheme: dark) { :root { --true: #1d4a2a; --false: #5a2326; --null: #54450f; --text: #e8ebee; --back: #15181c; --edge: #98a2ad } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 1rem auto; max-width: 70rem; padding: 0 1rem }
pre { font: 14px/1.6 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 1rem }
.t { background: var(--true) } .f { background: var(--false); text-decoration: underline } .n { background: var(--null); text-decoration: underline dotted }
.u { border-bottom: 1px dashed var(--edge) }
section { border-left: 4px solid var(--edge); padding-left: .75rem; margin: 0 0 1rem } section.true { border-color: #2d8a45 } section.false, section.failed { border-color: #c93a3a }
</style>
</head>
<body>`

function criterionHtml({ name, result, reason, nearest }: ExplainedCriterion): string {
  const near = nearest.map(({ text }) => `<li>${escaped(text)}</li>`).join('')
  return `<section class="${escaped(result)}"><h2>${escaped(name)}: ${escaped(result.replaceAll('-', ' '))}</h2><p>${escaped(reason)}</p>${near === '' ? '' : `<p>Nearest:</p><ul>${near}</ul>`}</section>`
}

function legend({ subjects }: Coverage): string {
  const of = subjects === 1 ? 'One subject' : `${subjects} subjects`
  return `${of}. Clauses: <span class="t">true</span>, <span class="f">false or empty</span>, <span class="n">null</span>, <span class="u">not evaluated</span>.`
}

function reachedText({ definitions }: CoveredLibrary): string {
  const clauses = definitions.flatMap((definition) => definition.clauses)
  const reached = clauses.filter(({ counts }) => isReached(counts)).length
  return `${reached} of ${clauses.length} clauses were evaluated.`
}

/** True if a clause was evaluated for any subject. */
function isReached({ true: holds, false: fails, null: unknown }: ClauseCounts): boolean {
  return holds + fails + unknown > 0
}

const SHOWN: Readonly<Record<string, string>> = { t: 'true', f: 'false or empty', n: 'null', u: 'not evaluated' }

function definitionHtml({ source, clauses }: CoveredDefinition, subjects: number): string {
  const counts = new Map(clauses.map((clause) => [clause.id, clause.counts]))
  const spans = source.map(({ text, clause }) => {
    const own = clause === undefined ? undefined : counts.get(clause)
    if (own === undefined) return escaped(text)
    const mark = markOf(own)
    return `<span class="${mark}" title="${subjects === 1 ? SHOWN[mark] : countsTitle(own)}">${escaped(text)}</span>`
  })
  return `<pre>${spans.join('')}</pre>`
}

/** Returns the mark for the most frequent value of a clause. */
function markOf(counts: ClauseCounts): string {
  if (!isReached(counts)) return 'u'
  const most = Math.max(counts.true, counts.false, counts.null)
  return counts.true === most ? 't' : counts.false === most ? 'f' : 'n'
}

function countsTitle(counts: ClauseCounts): string {
  return `true ${counts.true}, false ${counts.false}, null ${counts.null}, not evaluated ${counts.notEvaluated}`
}

/**
 * Writes the coverage in the lcov format, with one file per library: for each line with clauses, the number of subjects for which one of them was
 * evaluated. Each clause has two branches: true, and false or null. Clauses without a place in the text are omitted.
 */
export function coverageLcov({ libraries }: Coverage): string {
  return libraries.map(libraryLcov).join('')
}

function libraryLcov({ library, definitions }: CoveredLibrary): string {
  const lines = new Map<number, number>()
  const branches: string[] = []
  for (const { clauses } of definitions)
    for (const [index, { locator, counts }] of clauses.entries()) {
      const line = Number.parseInt(locator ?? '', 10)
      if (!Number.isFinite(line)) continue
      lines.set(line, Math.max(lines.get(line) ?? 0, counts.true + counts.false + counts.null))
      branches.push(`BRDA:${line},${index},0,${counts.true}`, `BRDA:${line},${index},1,${counts.false + counts.null}`)
    }
  const sorted = [...lines].toSorted(([one], [other]) => one - other)
  const file = `${library.split('|')[0]?.replaceAll(/[^\w.-]/g, '_') ?? ''}.cql`
  const hit = sorted.filter(([, count]) => count > 0).length
  const functions = definitions.flatMap(({ name, locator, counts }) => {
    const line = Number.parseInt(locator ?? '', 10)
    const plain = name.replaceAll(/[\r\n,]/g, ' ')
    return Number.isFinite(line) ? [`FN:${line},${plain}`, `FNDA:${counts.true + counts.false + counts.null},${plain}`] : []
  })
  const records = [...functions, ...branches, ...sorted.map(([line, count]) => `DA:${line},${count}`)]
  return `TN:\nSF:${file}\n${records.map((record) => `${record}\n`).join('')}LF:${sorted.length}\nLH:${hit}\nend_of_record\n`
}
