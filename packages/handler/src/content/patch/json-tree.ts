import { OperationError } from 'fhir-ops/errors'
import { jsonItems, jsonMembers } from 'fhir-ops/internal/json'
import type { Work } from 'fhir-ops/internal/work'

/** A JSON value that is changed in places. What nobody looks into stays the text that it was, so that numbers keep their digits. */
export interface JsonTree {
  /** As long as nobody has looked into the value. */
  text: string | undefined
  content: TreeContent | undefined
}

/** What an object or a list has. */
export type TreeContent = Map<string, JsonTree> | JsonTree[]

/** @param text Well-formed JSON. */
export function treeOf(text: string): JsonTree {
  return { text: text.trim(), content: undefined }
}

/** Members or items of the value; `undefined` for texts, numbers, truths and null. */
export function* openTree(tree: JsonTree): Work<TreeContent | undefined> {
  const { text, content } = tree
  if (text === undefined) return content
  if (text.startsWith('{')) tree.content = new Map((yield* jsonMembers(text)).map(({ name, value }) => [name, treeOf(value)]))
  else if (text.startsWith('[')) tree.content = (yield* jsonItems(text)).map(treeOf)
  if (tree.content !== undefined) tree.text = undefined
  return tree.content
}

/** The value when it is a text. */
export function stringIn(tree: JsonTree | undefined): string | undefined {
  const value: unknown = tree?.text?.startsWith('"') === true ? JSON.parse(tree.text) : undefined
  return typeof value === 'string' ? value : undefined
}

/** @param maxDepth Of objects and lists within each other. @throws {OperationError} `unprocessable` for a value that is nested deeper. */
export function* textOfTree({ text, content }: JsonTree, maxDepth: number): Work<string> {
  if (text !== undefined) return text
  if (maxDepth === 0) throw tooDeep()
  yield
  const parts: string[] = []
  if (Array.isArray(content)) for (const item of content) parts.push(yield* textOfTree(item, maxDepth - 1))
  else for (const [name, value] of content ?? []) parts.push(`${JSON.stringify(name)}:${yield* textOfTree(value, maxDepth - 1)}`)
  return Array.isArray(content) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`
}

/**
 * Whether two values are equal: numbers by their value, texts by their characters, lists in their order, objects in any.
 *
 * @throws {OperationError} `unprocessable` for values that are nested too deep.
 * @see https://www.rfc-editor.org/rfc/rfc6902#section-4.6
 */
export function* isSameTree(a: JsonTree, b: JsonTree, maxDepth: number): Work<boolean> {
  if (a.text !== undefined && a.text === b.text) return true
  if (maxDepth === 0) throw tooDeep()
  yield
  const [left, right] = [yield* openTree(a), yield* openTree(b)]
  if (left === undefined || right === undefined) return left === right && isSameScalar(a.text ?? '', b.text ?? '')
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const [ofLeft, ofRight] = [new Map<string | number, JsonTree>(left.entries()), new Map<string | number, JsonTree>(right.entries())]
  if (ofLeft.size !== ofRight.size) return false
  for (const [key, value] of ofLeft) {
    const other = ofRight.get(key)
    if (other === undefined || !(yield* isSameTree(value, other, maxDepth - 1))) return false
  }
  return true
}

function isSameScalar(a: string, b: string): boolean {
  const [left, right]: unknown[] = [JSON.parse(a), JSON.parse(b)]
  return left === right
}

function tooDeep(): OperationError {
  return new OperationError('unprocessable', 'The patched resource would be nested too deep.')
}
