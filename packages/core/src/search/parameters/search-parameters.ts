import type { TypeModel } from '../../fhirpath/index.js'
import { isResourceType } from '../../storage/index.js'
import { isSupportedTuple } from '../kinds/composite.js'
import { kindNameOf, kindOf } from '../kinds/registry.js'
import type { SearchComponent, SearchParameter, SearchParameterRow, SearchParameters, SearchParameterTable } from './search-parameter.js'
import { checkOptions, FLAG, inputShape, type InputShape } from '../../input/index.js'

/** Options of `searchParameters`. */
export interface SearchParametersOptions {
  /** Whether to index the words of resources for `_text` and `_content`. Default false, because it takes time and space. */
  readonly words?: boolean | undefined
}

const SHAPE: InputShape = inputShape<SearchParametersOptions>({ words: FLAG })

/**
 * Creates the search parameters of a context from a table. Parameters that cannot be searched by are omitted: those without an expression, and
 * composites whose tuples do not fit into index entries. `_profile`, `_security`, `_source`, `_tag` and the parameters of Bot are always present; `_id`
 * and `_lastUpdated` need no index. Of two rows for the same code of a type, the first is used.
 *
 * @param table The rows, or a function that returns them, which is called at the first use.
 * @param model The types of the release that the expressions use.
 */
export function searchParameters(
  table: SearchParameterTable | (() => SearchParameterTable),
  model: TypeModel,
  options: SearchParametersOptions = {},
): SearchParameters {
  checkOptions('searchParameters', SHAPE, options)
  // Read at first use, because not every process searches.
  let read: { readonly urls: Urls; readonly rows: readonly SearchParameterRow[] } | undefined
  const byType = new Map<string, ReadonlyMap<string, SearchParameter>>()
  const codesOf = (type: string): ReadonlyMap<string, SearchParameter> => {
    const known = byType.get(type)
    if (known !== undefined) return known
    if (!isResourceType(type)) return new Map()
    const { urls, rows } = (read ??= searchableRows(typeof table === 'function' ? table() : table, options))
    const own = rows.filter(({ base }) => base.includes(type) || base.includes('Resource') || base.includes('DomainResource'))
    const made = new Map<string, Omit<SearchParameter, 'unites'>>()
    for (const row of own) if (!made.has(row.code)) made.set(row.code, parameterOf(row, type, urls))
    const all = new Map([...made].map(([code, parameter]) => [code, { ...parameter, unites: unitedBy(parameter, [...made.values()]) }]))
    byType.set(type, all)
    return all
  }
  return { model, of: (type) => [...codesOf(type).values()], find: (type, code) => codesOf(type).get(code) }
}

type Urls = ReadonlyMap<string, SearchParameterRow>

function searchableRows(
  table: SearchParameterTable,
  { words = false }: SearchParametersOptions,
): { readonly urls: Urls; readonly rows: readonly SearchParameterRow[] } {
  const urls = new Map(table.map((row) => [row.url, row]))
  const rows = [...OWN_PARAMETERS, ...(words ? WORD_PARAMETERS : []), ...table.filter((row) => !row.code.startsWith('_'))]
  return { urls, rows: rows.filter((row) => isSearchable(row, urls)) }
}

function isSearchable(row: SearchParameterRow, urls: Urls): boolean {
  if (row.expression === undefined) return false
  return row.type === 'composite' ? isSupportedTuple(componentsOf(row, urls)) : kindOf(row.type) !== undefined
}

function parameterOf(row: SearchParameterRow, type: string, urls: Urls): Omit<SearchParameter, 'unites'> {
  const expression = expressionFor(type, row.expression ?? '')
  const onlyTarget = /^[\w.]+\.where\(resolve\(\) is (\w+)\)$/.exec(expression.trim())?.[1]
  return {
    code: row.code,
    type: row.type,
    kind: kindNameOf(row),
    expression,
    targets: onlyTarget === undefined ? targetsOf(row) : [onlyTarget],
    components: componentsOf(row, urls),
    system: row.systems !== undefined && Object.hasOwn(row.systems, type) ? row.systems[type] : undefined,
    canonical: row.canonical === true,
  }
}

type Composite = Pick<SearchParameter, 'code' | 'expression' | 'components'>

/**
 * Returns the composites that together have the tuples of another, branch by branch: `combo-code-value-quantity` of Observation has those of
 * `code-value-quantity` and `component-code-value-quantity`. Saves entries of tuples, which take most space in an index. Entries of other parameters
 * cannot be saved, because resources are sorted by them.
 */
function unitedBy({ code, expression, components }: Composite, all: readonly Composite[]): readonly string[] {
  const branches = topLevelBranches(expression)
  if (components.length === 0 || branches.length === 1) return []
  const tuple = JSON.stringify(components)
  const others = all.filter((other) => other.code !== code && JSON.stringify(other.components) === tuple)
  const parts = branches.map((branch) => others.find((other) => other.expression.trim() === branch.trim())?.code)
  return parts.every((part) => part !== undefined) ? parts : []
}

/** In R4, the expressions of its two components are swapped. */
const SWAPPED = 'http://hl7.org/fhir/SearchParameter/DocumentReference-relationship'

function componentsOf({ url, component = [] }: SearchParameterRow, urls: Urls): readonly SearchComponent[] {
  const expressions = component.map(({ expression }) => expression)
  if (url === SWAPPED) expressions.reverse()
  return component.map(({ definition }, index) => {
    const expression = expressions[index] ?? ''
    const part = urls.get(definition)
    return { type: part?.type ?? '', targets: part === undefined ? [] : targetsOf(part), expression: corrected(expression) }
  })
}

/** Some references to any type list all types of the release as targets. */
const ANY_TYPE = 100

function targetsOf({ target = [] }: SearchParameterRow): readonly string[] {
  return target.includes('Resource') || target.length > ANY_TYPE ? [] : target
}

/** Returns the branches of an expression that apply to the type; parameters of many types have one branch for each. */
function expressionFor(type: string, expression: string): string {
  const branches = topLevelBranches(expression)
  const own = branches.filter((branch) => firstName(branch) === type)
  return corrected(own.length > 0 ? own.join(' | ') : expression)
}

/** Some expressions of R4 name FHIRPath's DateTime where they mean the FHIR type. */
function corrected(expression: string): string {
  return expression.replaceAll('(DateTime)', '(dateTime)')
}

function firstName(branch: string): string | undefined {
  return /^[\s(]*([A-Za-z]+)/.exec(branch)?.[1]
}

function topLevelBranches(expression: string): readonly string[] {
  const branches: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at]
    if (character === '(') depth++
    else if (character === ')') depth--
    else if (character === '|' && depth === 0) {
      branches.push(expression.slice(start, at))
      start = at + 1
    }
  }
  branches.push(expression.slice(start))
  return branches
}

/**
 * The parameters of every resource, and those of Bot, which is not a FHIR type. R4 declares `_profile` as a uri; as a reference it
 * is found with and without the version of the canonical.
 */
const OWN_PARAMETERS: SearchParameterTable = [
  { url: 'own:_profile', code: '_profile', base: ['Resource'], type: 'reference', expression: 'meta.profile' },
  { url: 'own:_security', code: '_security', base: ['Resource'], type: 'token', expression: 'meta.security' },
  { url: 'own:_source', code: '_source', base: ['Resource'], type: 'uri', expression: 'meta.source' },
  { url: 'own:_tag', code: '_tag', base: ['Resource'], type: 'token', expression: 'meta.tag' },
  { url: 'own:Bot-identifier', code: 'identifier', base: ['Bot'], type: 'token', expression: 'identifier' },
  { url: 'own:Bot-name', code: 'name', base: ['Bot'], type: 'string', expression: 'name' },
  { url: 'own:Bot-project', code: 'project', base: ['Bot'], type: 'token', expression: 'project' },
]

/** The parameters of every resource if words are indexed. */
const WORD_PARAMETERS: SearchParameterTable = [
  { url: 'own:_content', code: '_content', base: ['Resource'], type: 'string', expression: '$this' },
  { url: 'own:_text', code: '_text', base: ['Resource'], type: 'string', expression: 'text.`div`' },
]
