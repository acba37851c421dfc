/** A node of an ELM document in its JSON form: an object with a `type`. */
export interface ElmNode {
  readonly [member: string]: unknown
}

/** Maximum nesting of nodes. */
export const MAX_DEPTH = 400

/** The node type: `Add`, `Query`; empty for parts without a type, such as sources of a query. */
export function typeOf(node: ElmNode): string {
  return textAt(node, 'type') ?? ''
}

/** Whether a JSON value is an object. */
export function isNode(value: unknown): value is ElmNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that is a node. */
export function nodeAt(node: ElmNode, member: string): ElmNode | undefined {
  const value = Object.hasOwn(node, member) ? node[member] : undefined
  return isNode(value) ? value : undefined
}

/** The nodes in a member that is a list of nodes; a single node counts as a list of one. */
export function nodesAt(node: ElmNode, member: string): readonly ElmNode[] {
  const value = Object.hasOwn(node, member) ? node[member] : undefined
  if (Array.isArray(value)) return value.filter(isNode)
  return isNode(value) ? [value] : []
}

/** A member that is a text. */
export function textAt(node: ElmNode, member: string): string | undefined {
  const value = Object.hasOwn(node, member) ? node[member] : undefined
  return typeof value === 'string' ? value : undefined
}

/** A member that is a text, number or boolean, as a text without exponent. */
export function scalarAt(node: ElmNode, member: string): string | undefined {
  const value = Object.hasOwn(node, member) ? node[member] : undefined
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'number') return undefined
  const text = String(value)
  return text.includes('e') ? value.toFixed(8) : text
}

/** A member that is a boolean, or a boolean written as a text. */
export function flagAt(node: ElmNode, member: string): boolean | undefined {
  const value = Object.hasOwn(node, member) ? node[member] : undefined
  if (typeof value === 'boolean') return value
  return value === 'true' ? true : value === 'false' ? false : undefined
}

/** The name of a type without its namespace: `Integer` for `{urn:hl7-org:elm-types:r1}Integer`. */
export function localName(qualified: string): string {
  return qualified.slice(qualified.indexOf('}') + 1)
}

/** The namespace of a type's name; empty if it has none. */
export function namespaceOf(qualified: string): string {
  return qualified.startsWith('{') ? qualified.slice(1, qualified.indexOf('}')) : ''
}

/** The position of a node in the CQL text (`4:11-4:17`) or, without locators, its local id. */
export function placeOf(node: ElmNode): string | undefined {
  return textAt(node, 'locator') ?? (textAt(node, 'localId') === undefined ? undefined : `#${textAt(node, 'localId')}`)
}

/** Copies a tree with locators for the lines of another text. It does not recurse, because long expressions are nested as deep as they have operators. */
export function withLines(root: ElmNode, lineOf: (line: number) => number): ElmNode {
  const copy: Record<string, unknown> = { ...root }
  const open = [copy]
  const copied = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copied)
    if (!isNode(value)) return value
    const node = { ...value }
    open.push(node)
    return node
  }
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const [member, value] of Object.entries(node))
      node[member] =
        member === 'locator' && typeof value === 'string'
          ? value.replaceAll(LINE, (line) => String(lineOf(Number(line))))
          : typeof value === 'object'
            ? copied(value)
            : value
  return copy
}

/** The lines of a locator: `4` and `5` of `4:11-5:17`. */
const LINE = /\b\d{1,9}(?=:)/g
