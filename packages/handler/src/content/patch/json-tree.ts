import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { jsonItems, jsonMembers } from 'fhir-ops/internal/json'

/** A JSON value that is changed in parts. Parts that are not accessed stay text, so that their numbers keep their digits. */
export interface JsonTree {
  /** Present until the value is accessed. */
  text: string | undefined
  content: TreeContent | undefined
}

/** The content of an object or a list. */
export type TreeContent = Map<string, JsonTree> | JsonTree[]

/** @param text Well-formed JSON. */
export function treeOf(text: string): JsonTree {
  return { text: text.trim(), content: undefined }
}

/** Returns the members or items of a value; `undefined` for strings, numbers, booleans and null. */
export async function openTree(tree: JsonTree, pace: Pace): Promise<TreeContent | undefined> {
  const { text, content } = tree
  if (text === undefined) return content
  if (text.startsWith('{')) tree.content = new Map((await pace.run(jsonMembers(text))).map(({ name, value }) => [name, treeOf(value)]))
  else if (text.startsWith('[')) tree.content = (await pace.run(jsonItems(text))).map(treeOf)
  if (tree.content !== undefined) tree.text = undefined
  return tree.content
}

/** Returns the value if it is a string. */
export function stringIn(tree: JsonTree | undefined): string | undefined {
  const value: unknown = tree?.text?.startsWith('"') === true ? JSON.parse(tree.text) : undefined
  return typeof value === 'string' ? value : undefined
}

/** @param maxDepth Maximum nesting of objects and lists. @throws {OperationError} `unprocessable` for a value that is nested deeper. */
export async function textOfTree({ text, content }: JsonTree, maxDepth: number, pace: Pace): Promise<string> {
  if (text !== undefined) return text
  if (maxDepth === 0) throw tooDeep()
  await pace.step()
  const parts: string[] = []
  const textOf = (tree: JsonTree): Promise<string> | string => tree.text ?? textOfTree(tree, maxDepth - 1, pace)
  if (Array.isArray(content)) for (const item of content) parts.push(await textOf(item))
  else for (const [name, value] of content ?? []) parts.push(`${JSON.stringify(name)}:${await textOf(value)}`)
  return Array.isArray(content) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`
}

/**
 * Removes empty objects and lists, which FHIR does not allow, and whatever becomes empty by that. Items of a list that accompanies a list of primitives
 * (`_given`) keep their positions.
 *
 * @returns True if the value itself is left empty.
 */
export async function pruneTree(tree: JsonTree, maxDepth: number, pace: Pace): Promise<boolean> {
  if (maxDepth === 0) throw tooDeep()
  if (tree.text !== undefined && !/\{\s*\}|\[\s*\]/.test(tree.text)) return false
  await pace.step()
  const content = await openTree(tree, pace)
  if (content === undefined) return false
  if (Array.isArray(content)) {
    const kept: JsonTree[] = []
    for (const item of content) if (!(await pruneTree(item, maxDepth - 1, pace))) kept.push(item)
    tree.content = kept
    return kept.length === 0
  }
  for (const [name, value] of content) {
    const isEmpty = await (name.startsWith('_') ? pruneBeside(value, maxDepth - 1, pace) : pruneTree(value, maxDepth - 1, pace))
    if (isEmpty) content.delete(name)
  }
  return content.size === 0
}

async function pruneBeside(tree: JsonTree, maxDepth: number, pace: Pace): Promise<boolean> {
  const content = await openTree(tree, pace)
  if (!Array.isArray(content)) return pruneTree(tree, maxDepth, pace)
  for (const [index, item] of content.entries()) if (await pruneTree(item, maxDepth - 1, pace)) content[index] = treeOf('null')
  return content.every(({ text }) => text === 'null')
}

/**
 * Compares two values: numbers by value, strings by characters, lists in order, objects in any order.
 *
 * @throws {OperationError} `unprocessable` for values that are nested too deeply.
 * @see https://www.rfc-editor.org/rfc/rfc6902#section-4.6
 */
export async function isSameTree([a, b]: readonly [JsonTree, JsonTree], maxDepth: number, pace: Pace): Promise<boolean> {
  if (a.text !== undefined && a.text === b.text) return true
  if (maxDepth === 0) throw tooDeep()
  await pace.step()
  const [left, right] = [await openTree(a, pace), await openTree(b, pace)]
  if (left === undefined || right === undefined) return left === right && isSameScalar(a.text ?? '', b.text ?? '')
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const [ofLeft, ofRight] = [new Map<string | number, JsonTree>(left.entries()), new Map<string | number, JsonTree>(right.entries())]
  if (ofLeft.size !== ofRight.size) return false
  for (const [key, value] of ofLeft) {
    const other = ofRight.get(key)
    if (other === undefined || !(await isSameTree([value, other], maxDepth - 1, pace))) return false
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
