import { ELEMENTS } from './allowed-markup.js'

const TABLE_PARTS = ['tbody', 'thead', 'tfoot'] as const

/** The elements that an element must be a direct child of. HTML also allows `col` in `colgroup`. */
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

/** The direct children of elements that take no text and no other elements. */
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

/** Elements that must not contain elements of the same name. */
const NOT_NESTED: ReadonlySet<string> = new Set(
  'a b em i strong small big sub sup code tt dfn q var abbr acronym cite bdo kbd samp'.split(' '),
)

const PHRASING: ReadonlySet<string> = new Set([...'p h1 h2 h3 h4 h5 h6 pre address span caption dt'.split(' '), ...NOT_NESTED])

const BLOCKS: ReadonlySet<string> = new Set(['div', 'pre', 'table', 'ul', 'ol'])

/** Elements that end a paragraph in HTML. */
const PARAGRAPH_ENDS: ReadonlySet<string> = new Set(['blockquote', 'div', 'ol', 'p', 'table', 'ul'])

/** The rules of HTML and FHIR for an element. */
export interface MarkupElement {
  readonly name: string
  /** True for an element that is allowed in narratives. */
  readonly isAllowed: boolean
  /** True for an element that must not be inside one of the same name. */
  readonly isNotNested: boolean
  /** True for an element that takes only text and inline elements, no blocks. */
  readonly isPhrasing: boolean
  readonly isBlock: boolean
  /** True for an element that must not be in a paragraph, because it ends one. */
  readonly endsParagraph: boolean
  /** True for an element that takes neither text nor other elements. */
  readonly isEmpty: boolean
  /** The elements that it must be a direct child of; `undefined` when it can be in any. */
  readonly parents: readonly string[] | undefined
  /** Its possible direct children, if it takes no text and no other elements. */
  readonly children: readonly string[] | undefined
}

function elementOf(name: string): MarkupElement {
  return {
    name,
    isAllowed: ELEMENTS.has(name),
    isNotNested: NOT_NESTED.has(name),
    isPhrasing: PHRASING.has(name),
    isBlock: BLOCKS.has(name),
    endsParagraph: PARAGRAPH_ENDS.has(name),
    isEmpty: EMPTY.has(name),
    parents: PARENTS.get(name),
    children: CHILDREN.get(name),
  }
}

const KNOWN: ReadonlyMap<string, MarkupElement> = new Map([...ELEMENTS].map((name) => [name, elementOf(name)]))

/** The element with a name, allowed or not. */
export function elementNamed(name: string): MarkupElement {
  return KNOWN.get(name) ?? elementOf(name)
}

/** The place where an element is opened. */
export interface ElementPlace {
  readonly parent: MarkupElement
  /** True inside an element of the same name. */
  readonly isNested: boolean
  /** True inside an element that takes only text and inline elements. */
  readonly isInPhrasing: boolean
}

/**
 * Problems with the place of an element.
 *
 * @see https://www.w3.org/TR/html401/sgml/dtd.html
 */
export function elementProblems(element: MarkupElement, { parent, isNested, isInPhrasing }: ElementPlace): readonly string[] {
  const isInPlace = isPlaced(element, parent)
  const isRepeated = isNested && element.isNotNested
  const isBlockInLine = isInPhrasing && element.isBlock
  if (isInPlace && !isRepeated && !isBlockInLine) return NONE
  const { name } = element
  return [
    ...(isInPlace ? NONE : parentProblems(element, parent)),
    ...(isRepeated ? [`Elements of type '${name}' cannot contain nested '${name}'.`] : NONE),
    ...(isBlockInLine ? [`A paragraph or text element must not contain a block such as '${name}'.`] : NONE),
  ]
}

function isPlaced({ name, parents }: MarkupElement, parent: MarkupElement): boolean {
  if (parent.isEmpty || parents?.includes(parent.name) === false) return false
  return parent.children === undefined || parent.children.includes(name)
}

function parentProblems({ name, parents }: MarkupElement, parent: MarkupElement): readonly string[] {
  const problems: string[] = []
  if (parents?.includes(parent.name) === false)
    problems.push(`Elements of type '${name}' must be in ${parents.join(' or ')}, not in '${parent.name}'.`)
  if (parent.children?.includes(name) === false) problems.push(`Elements of type '${parent.name}' cannot contain '${name}'.`)
  if (parent.isEmpty) problems.push(`Elements of type '${parent.name}' cannot have children.`)
  return problems
}

const NONE: readonly string[] = []

/** The problem with text directly inside an element. */
export function contentProblem(parent: MarkupElement | undefined, isBlank: boolean): string | undefined {
  if (parent === undefined) return undefined
  if (parent.isEmpty) return `Elements of type '${parent.name}' cannot have children.`
  return !isBlank && parent.children !== undefined ? `Elements of type '${parent.name}' cannot contain text.` : undefined
}
