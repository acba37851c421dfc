import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import type { ElmDefinition, ElmDefinitions } from './elm-libraries.js'

/** The texts of nodes, as their author wrote them. */
export interface ClauseTexts {
  /** Returns the text of a node on one line; a long one is truncated. */
  of(node: ElmNode, library: string): string
}

/** A part of a definition's text, and the `localId`s of the nodes that contain it, the outermost first. */
interface AnnotatedPart {
  readonly text: string
  readonly ids: readonly string[]
}

const MAX_TEXT = 160
/** Maximum nesting of annotations; deeper ones are left out. */
const MAX_DEPTH = 600

/** Reads texts from the annotations of ELM. Nodes without annotations get a short description. */
export function clauseTexts({ libraries, isHelper }: ElmDefinitions): ClauseTexts {
  const known = new Map<string, Texts>()
  const textsOf = (library: string): Texts => {
    const before = known.get(library)
    if (before !== undefined) return before
    const texts = new Map<string, string>()
    for (const { id, definitions } of libraries) if (id === library) for (const definition of definitions) collectTexts(definition, texts)
    const made = { texts, isHelper: (node: ElmNode) => isHelper(node, library) }
    known.set(library, made)
    return made
  }
  return { of: (node, library) => cut(written(node, textsOf(library), 0).replace(HEAD, '')) }
}

/** The texts of a library. */
interface Texts {
  /** Texts by the `localId` of their node. */
  readonly texts: ReadonlyMap<string, string>
  readonly isHelper: (node: ElmNode) => boolean
}

/** Possible start of an expression's annotation: that of a condition includes `where`, that of a constant its definition. */
const HEAD = /^\s{0,9}(?:define (?:"[^"]{0,200}"|\w{1,200}):|where|such that)\s{1,9}/

/** Puts a text on one line, and truncates it. */
export function cut(text: string, most: number = MAX_TEXT): string {
  const line = text
    .slice(0, most * 4)
    .replaceAll(/\s{1,200}/g, ' ')
    .trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

/** The text of a definition in parts; empty if its ELM has no annotations. */
export function annotatedParts({ node }: ElmDefinition): readonly AnnotatedPart[] {
  const parts: AnnotatedPart[] = []
  const visit = (part: ElmNode, outer: readonly string[], depth: number): void => {
    if (depth > MAX_DEPTH) return
    const id = textAt(part, 'r')
    const ids = id === undefined || id === outer.at(-1) ? outer : [...outer, id]
    const values = Array.isArray(part['value']) ? part['value'] : []
    for (const value of values) if (typeof value === 'string' && value !== '') parts.push({ text: value, ids })
    for (const inner of nodesAt(part, 's')) visit(inner, ids, depth + 1)
  }
  for (const annotation of nodesAt(node, 'annotation')) for (const part of nodesAt(annotation, 's')) visit(part, [], 0)
  return parts
}

/** Maximum number of characters that are collected for one node; shown texts are much shorter. */
const MAX_COLLECTED = 4 * MAX_TEXT

function collectTexts({ node }: ElmDefinition, texts: Map<string, string>): void {
  const visit = (part: ElmNode, depth: number): string => {
    if (depth > MAX_DEPTH) return ''
    const own = (Array.isArray(part['value']) ? part['value'] : []).filter((value) => typeof value === 'string').join('')
    let text = own
    for (const inner of nodesAt(part, 's')) text = (text + visit(inner, depth + 1)).slice(0, MAX_COLLECTED)
    const id = textAt(part, 'r')
    if (id !== undefined && depth > 0 && text.trim() !== '') texts.set(id, text)
    return text
  }
  for (const annotation of nodesAt(node, 'annotation')) for (const part of nodesAt(annotation, 's')) visit(part, 0)
}

/** Nodes that translators add around the written expression. */
const AROUND: ReadonlySet<string> = new Set([
  'As',
  'ToList',
  'Convert',
  'ToConcept',
  'ToDateTime',
  'ToDate',
  'ToDecimal',
  'ToQuantity',
  'ToLong',
  'ToString',
])

function written(node: ElmNode, known: Texts, depth: number): string {
  const own = known.texts.get(textAt(node, 'localId') ?? '')
  if (own !== undefined || depth > 20) return own ?? typeOf(node)
  const [operand, second] = nodesAt(node, 'operand')
  const type = typeOf(node)
  const of = (inner: ElmNode | undefined): string => (inner === undefined ? '?' : written(inner, known, depth + 1))
  if (AROUND.has(type) || known.isHelper(node)) return of(operand)
  if (type === 'Case') return of(nodesAt(nodeAt(nodesAt(node, 'caseItem')[0] ?? {}, 'when') ?? {}, 'operand')[0])
  const infix = INFIX.get(type)
  if (infix !== undefined && second !== undefined) return `${of(operand)} ${infix} ${of(second)}`
  return shortText(node, of)
}

const INFIX: ReadonlyMap<string, string> = new Map([
  ['And', 'and'],
  ['Or', 'or'],
  ['Equal', '='],
  ['NotEqual', '!='],
  ['Equivalent', '~'],
  ['Less', '<'],
  ['LessOrEqual', '<='],
  ['Greater', '>'],
  ['GreaterOrEqual', '>='],
  ['In', 'in'],
  ['IncludedIn', 'during'],
  ['Before', 'before'],
  ['After', 'after'],
  ['SameOrBefore', 'on or before'],
  ['SameOrAfter', 'on or after'],
  ['Overlaps', 'overlaps'],
  ['Union', 'union'],
])

const NAMED: ReadonlySet<string> = new Set([
  'ExpressionRef',
  'ParameterRef',
  'ValueSetRef',
  'CodeRef',
  'ConceptRef',
  'CodeSystemRef',
  'AliasRef',
  'OperandRef',
  'QueryLetRef',
])

function shortText(node: ElmNode, of: (inner: ElmNode | undefined) => string): string {
  const type = typeOf(node)
  if (NAMED.has(type)) return `"${textAt(node, 'name') ?? ''}"`
  if (type === 'Literal') return String(node['value'])
  if (type === 'Property') return [textAt(node, 'scope') ?? of(nodeAt(node, 'source')), textAt(node, 'path')].join('.')
  if (type === 'Retrieve') {
    const codes = nodeAt(node, 'codes')
    return `[${localName(textAt(node, 'dataType') ?? '')}${codes === undefined ? '' : `: ${of(codes)}`}]`
  }
  if (type === 'FunctionRef') return `"${textAt(node, 'name') ?? ''}"(${nodesAt(node, 'operand').map(of).join(', ')})`
  const operands = [...nodesAt(node, 'operand'), ...nodesAt(node, 'source').map((source) => nodeAt(source, 'expression') ?? source)]
  return operands.length === 0 ? type : `${type}(${operands.map(of).join(', ')})`
}
