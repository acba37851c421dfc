import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject, objectAt, objectsAt, shownJson } from '../../../json/index.js'
import { unescaped } from '../narrative/allowed-markup.js'
import { emptyToken, readToken } from '../narrative/xhtml-tokens.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'

const MEASURE_LIBRARY_UNKNOWN: FindingDefinition = defineFinding(
  'measure-library-unknown',
  'information',
  'not-found',
  'Load the library; until then criteria are not checked against it.',
)
const MEASURE_CRITERIA: FindingDefinition = defineFinding('measure-criteria', 'error', 'invalid', 'Refer to a library of the measure.')
const MEASURE_INCOMPLETE: FindingDefinition = defineFinding(
  'measure-incomplete',
  'warning',
  'required',
  'Add groups, their populations, and codes where there are several.',
)

/** `Library.definition`: the name of the library, quoted or not, and what follows. */
const QUALIFIED = /^(?:"([^"]*)"|([^."]+))\.(.+)$/

/** CQL that names a definition of a library. Other CQL is not parsed. */
const NAME = /^(?:(?:"[^"]*"|[A-Za-z_]\w*)\.)?(?:"[^"]*"|[A-Za-z_][\w ]*)$/

/** Values in CQL, which need no library. */
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

/** Measures. */
export const measureRule: ResourceRule = {
  on: ['Measure'],
  finds: [MEASURE_LIBRARY_UNKNOWN, MEASURE_CRITERIA, MEASURE_INCOMPLETE],
  check: checkMeasure,
}

/** Checks that the libraries of a Measure are known, its parts can be distinguished, and its CQL criteria name definitions of a library. */
function checkMeasure(run: Run, node: FhirNode): void {
  const libraries: JsonObject[] = []
  const named = childrenOf(run, node, 'library')
  let isWhole = true
  for (const { value } of named) {
    const library = typeof value === 'string' ? run.definitions.definition('Library', value) : undefined
    if (library === undefined) {
      run.findings.report(MEASURE_LIBRARY_UNKNOWN, node, {
        text: `The library ${quoted(shownJson(value))} could not be found, so criteria are not checked against it.`,
      })
    } else if (library === PENDING) isWhole = false
    else libraries.push(library)
  }
  checkParts(run, node)
  if (!isWhole) return
  for (const criteria of criteriaIn(run, node))
    if (named.length > 0 || !isLooseName(criteria)) checkCriteria(run, criteria, libraries)
    else run.findings.report(MEASURE_CRITERIA, criteria, { text: WITHOUT_LIBRARY, severity: 'warning' })
}

/** Reports parts without a code if there are several, because reports are matched with the parts of a measure by code. Reports missing parts too. */
function checkParts(run: Run, node: FhirNode): void {
  const say = (at: FhirNode, text: string): void => run.findings.report(MEASURE_INCOMPLETE, at, { text })
  const needCodes = (parts: readonly FhirNode[], what: string): void => {
    if (parts.length > 1)
      for (const part of parts)
        if (isObject(part.value) && part.value['code'] === undefined) say(part, `A ${what} should have a code, as there are several.`)
  }
  const groups = childrenOf(run, node, 'group')
  if (groups.length === 0) say(node, 'A measure should have a group.')
  needCodes(groups, 'group')
  for (const group of groups) {
    const populations = childrenOf(run, group, 'population')
    if (populations.length === 0) say(group, 'A group should have a population.')
    needCodes(populations, 'population')
    const stratifiers = childrenOf(run, group, 'stratifier')
    needCodes(stratifiers, 'stratifier')
    for (const stratifier of stratifiers) needCodes(childrenOf(run, stratifier, 'component'), 'component of a stratifier')
  }
}

function criteriaIn(run: Run, node: FhirNode): readonly FhirNode[] {
  const inPart = (part: FhirNode): readonly FhirNode[] => childrenOf(run, part, 'criteria')
  const groups = childrenOf(run, node, 'group').flatMap((group) => [
    ...childrenOf(run, group, 'population').flatMap(inPart),
    ...childrenOf(run, group, 'stratifier').flatMap((part) => [...inPart(part), ...childrenOf(run, part, 'component').flatMap(inPart)]),
  ])
  return [...groups, ...childrenOf(run, node, 'supplementalData').flatMap(inPart)]
}

const WITHOUT_LIBRARY = 'The criteria name a definition, but the measure names no library.'

/** True for inline CQL that can only name a definition. */
function isLooseName(criteria: FhirNode): boolean {
  const expression = textOf(criteria, 'expression') ?? ''
  return textOf(criteria, 'language') === 'text/cql' && NAME.test(expression) && !LITERALS.has(expression)
}

function checkCriteria(run: Run, criteria: FhirNode, libraries: readonly JsonObject[]): void {
  const language = textOf(criteria, 'language')
  const expression = textOf(criteria, 'expression') ?? ''
  if (language === undefined || language === 'text/plain') return
  if (language === 'text/cql' && (libraries.length === 0 || !NAME.test(expression))) return
  const isCql = language.startsWith('text/cql') && !language.startsWith('text/cql-expression')
  const text = isCql ? problemOf(expression, libraries) : undefined
  if (text !== undefined) run.findings.report(MEASURE_CRITERIA, criteria, { text })
  if (!isCql)
    run.findings.report(MEASURE_CRITERIA, criteria, {
      text: `Criteria in the language ${quoted(language)} are not checked.`,
      severity: 'warning',
      code: 'required',
    })
}

function problemOf(expression: string, libraries: readonly JsonObject[]): string | undefined {
  if (libraries.length === 0) return 'There are criteria in CQL, but no library of the measure is known.'
  const [, delimited, bare, rest] = QUALIFIED.exec(expression) ?? []
  const name = delimited ?? bare
  if (name === undefined) {
    const [library, ...others] = libraries
    return library === undefined || others.length > 0
      ? 'The measure has several libraries, so the criteria must name that of the definition.'
      : definitionProblem(library, expression)
  }
  const [library, ...others] = libraries.filter((one) => stringAt(one, 'name') === name)
  if (library === undefined) return `The criteria refer to the library ${quoted(name)}, which is not a library of the measure.`
  if (others.length > 0) return `Several libraries of the measure have the name ${quoted(name)}.`
  return definitionProblem(library, rest ?? '')
}

function definitionProblem(library: JsonObject, definition: string): string | undefined {
  const [elm, url] = [elmOf(library), stringAt(library, 'url') ?? stringAt(library, 'name') ?? '']
  if (elm.kind === 'none') return `The library ${quoted(url)} has no ELM, in which the definition could be found.`
  if (elm.kind === 'unreadable') return `The ELM of the library ${quoted(url)} cannot be read: ${elm.reason}.`
  const name = /^"(.*)"$/.exec(definition)?.[1] ?? definition
  return elm.names.has(name) ? undefined : `The library ${quoted(url)} does not define ${quoted(name)}.`
}

/** The compiled form (ELM) of a Library, as far as it is known. */
type ElmOfLibrary =
  | { readonly kind: 'none' }
  /** The Library has ELM that cannot be read. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'definitions'; readonly names: ReadonlySet<string> }

const XML = 'application/elm+xml'
const JSON_FORM = 'application/elm+json'

/**
 * Reads the names of the definitions in the ELM of a Library, as XML or JSON; the first content that has data counts.
 *
 * @see https://hl7.org/fhir/uv/cql/using-elm.html
 */
function elmOf(library: JsonObject): ElmOfLibrary {
  for (const content of objectsAt(library, 'content')) {
    const [type, data] = [stringAt(content, 'contentType'), stringAt(content, 'data')]
    if (data === undefined || (type !== XML && type !== JSON_FORM)) continue
    const text = decodedText(data)
    if (text === undefined) return { kind: 'unreadable', reason: 'its data is not base64' }
    return type === XML ? fromXml(text) : fromJson(text)
  }
  return { kind: 'none' }
}

function decodedText(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (one) => one.charCodeAt(0)))
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException) return undefined
    throw error
  }
}

function fromJson(text: string): ElmOfLibrary {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'unreadable', reason: 'its ELM is not JSON' }
    throw error
  }
  const library = isObject(value) ? objectAt(value, 'library') : undefined
  if (library === undefined) return { kind: 'unreadable', reason: 'its ELM has no library' }
  const names = objectsAt(objectAt(library, 'statements'), 'def').flatMap((definition) => stringAt(definition, 'name') ?? [])
  return { kind: 'definitions', names: new Set(names) }
}

const NAMESPACE = 'urn:hl7-org:elm:r1'

/** Reads only the root and the names of definitions, so no entity is resolved. */
function fromXml(text: string): ElmOfLibrary {
  const place = rootPlace(text)
  if (place === undefined) return { kind: 'unreadable', reason: 'its ELM is not XML' }
  const root = emptyToken()
  readToken(root, text, place)
  if (root.kind !== 'open' || !/^(?:\w+:)?library$/.test(root.name) || root.attributes.every(({ value }) => value !== NAMESPACE))
    return { kind: 'unreadable', reason: `its ELM is not a library of ${NAMESPACE}` }
  const start = text.indexOf('<statements')
  return { kind: 'definitions', names: namesIn(start < 0 ? '' : text.slice(start, Math.max(start, text.lastIndexOf('</statements>')))) }
}

/** The index of the first tag that is not a declaration or comment. */
function rootPlace(text: string): number | undefined {
  for (let at = text.indexOf('<'); at >= 0;) {
    const isComment = text.startsWith('<!--', at)
    const end = text.indexOf(isComment ? '-->' : '>', at)
    if (end < 0) return undefined
    if (text[at + 1] !== '?' && text[at + 1] !== '!') return at
    at = text.indexOf('<', end)
  }
  return undefined
}

/** The names of the definitions in statements. */
function namesIn(statements: string): ReadonlySet<string> {
  const names = new Set<string>()
  const token = emptyToken()
  for (let at = statements.indexOf('<def'); at >= 0; at = statements.indexOf('<def', at + 1)) {
    readToken(token, statements, at)
    const name = token.kind === 'open' && token.name === 'def' ? token.attributes.find((one) => one.name === 'name') : undefined
    if (name !== undefined) names.add(unescaped(name.value))
  }
  return names
}
