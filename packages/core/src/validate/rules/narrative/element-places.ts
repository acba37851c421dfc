const TABLE_PARTS = ['tbody', 'thead', 'tfoot'] as const

/** What an element must be directly inside of. HTML lets `col` be in `colgroup`, too. */
const PARENTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['tr', ['table', ...TABLE_PARTS]],
  ...TABLE_PARTS.map((name): [string, readonly string[]] => [name, ['table']]),
  ['caption', ['table']],
  ['colgroup', ['table']],
  ['col', ['table', 'colgroup']],
  ['th', ['tr', 'thead', 'tfoot']],
  ['td', ['tr', 'thead', 'tfoot']],
  ['li', ['ul', 'ol']],
  ['dd', ['dl']],
  ['dt', ['dl']],
])

/** What an element can have directly inside, where it takes no text and no other elements. */
const CHILDREN: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['table', [...TABLE_PARTS, 'tr', 'caption', 'col', 'colgroup']],
  ['tr', ['td', 'th']],
  ...TABLE_PARTS.map((name): [string, readonly string[]] => [name, ['tr']]),
  ['colgroup', ['col']],
  ['ul', ['li']],
  ['ol', ['li']],
  ['dl', ['dd', 'dt']],
  ['map', ['area']],
])

const EMPTY: ReadonlySet<string> = new Set(['br', 'img', 'hr', 'area', 'col'])

/** Elements that have none of their own kind inside. */
const NOT_NESTED: ReadonlySet<string> = new Set(
  'a b em i strong small big sub sup code tt dfn q var abbr acronym cite bdo kbd samp'.split(' '),
)

const PHRASING: ReadonlySet<string> = new Set([...'p h1 h2 h3 h4 h5 h6 pre address span caption dt'.split(' '), ...NOT_NESTED])

const BLOCKS: ReadonlySet<string> = new Set(['div', 'pre', 'table', 'ul', 'ol'])

/** Where an element is opened. */
export interface ElementPlace {
  readonly parent: string
  /** True inside an element of the same name. */
  readonly isNested: boolean
  /** True inside an element that takes text and what is within a line only. */
  readonly isInPhrasing: boolean
}

/**
 * What is wrong with the place of an element.
 *
 * @see https://www.w3.org/TR/html401/sgml/dtd.html
 */
export function elementProblems(name: string, place: ElementPlace): readonly string[] {
  const { parent, isNested, isInPhrasing } = place
  const isInPlace = (PARENTS.get(name)?.includes(parent) ?? true) && (CHILDREN.get(parent)?.includes(name) ?? true) && !EMPTY.has(parent)
  return isInPlace && !isNested && !isInPhrasing ? NONE : problemsAt(name, place)
}

function problemsAt(name: string, { parent, isNested, isInPhrasing }: ElementPlace): readonly string[] {
  const parents = PARENTS.get(name)
  const problems: string[] = []
  if (parents?.includes(parent) === false)
    problems.push(`Elements of type '${name}' must be in ${parents.join(' or ')}, not in '${parent}'.`)
  if (CHILDREN.get(parent)?.includes(name) === false) problems.push(`Elements of type '${parent}' cannot contain '${name}'.`)
  if (EMPTY.has(parent)) problems.push(`Elements of type '${parent}' cannot have children.`)
  if (isNested && NOT_NESTED.has(name)) problems.push(`Elements of type '${name}' cannot contain nested '${name}'.`)
  if (isInPhrasing && BLOCKS.has(name)) problems.push(`A paragraph or text element must not contain a block such as '${name}'.`)
  return problems
}

const NONE: readonly string[] = []

/** True for elements that must not be in one of their own kind. */
export function isNotNested(name: string): boolean {
  return NOT_NESTED.has(name)
}

/** What is wrong with text directly inside an element. */
export function contentProblem(parent: string | undefined, isBlank: boolean): string | undefined {
  if (parent === undefined) return undefined
  if (EMPTY.has(parent)) return `Elements of type '${parent}' cannot have children.`
  return !isBlank && CHILDREN.has(parent) ? `Elements of type '${parent}' cannot contain text.` : undefined
}

/** True for elements that take text and what is within a line only: no blocks. */
export function isPhrasing(name: string): boolean {
  return PHRASING.has(name)
}
