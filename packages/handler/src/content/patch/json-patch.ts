import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { jsonItems, jsonMembers } from 'fhir-ops/internal/json'

/** Limits on the result of a patch. */
export interface PatchLimits {
  /** Maximum bytes of the resource, and of everything copied within it. */
  readonly maxBytes: number
  readonly maxDepth: number
}

type JsonOperationName = 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'

const NAMES: readonly JsonOperationName[] = ['add', 'remove', 'replace', 'move', 'copy', 'test']

/** An operation of a JSON Patch. */
interface JsonOperation {
  readonly op: JsonOperationName
  /** Position in the patch, from 0. */
  readonly index: number
  readonly path: readonly string[]
  /** For `move` and `copy`. */
  readonly from: readonly string[]
  /** For `add`, `replace` and `test`. */
  readonly value: JsonTree
}

/**
 * Reads a JSON Patch.
 *
 * @param text A list as well-formed JSON.
 * @throws {OperationError} `body-structure` for an invalid operation, naming its position.
 * @see https://www.rfc-editor.org/rfc/rfc6902
 */
export async function readJsonPatch(text: string, limits: PatchLimits, pace: Pace): Promise<readonly JsonOperation[]> {
  const items = await openTree(treeOf(text), pace)
  const operations: JsonOperation[] = []
  for (const item of Array.isArray(items) ? items : []) {
    await pace.step()
    const members = await openTree(item, pace)
    operations.push(operationIn(members, operations.length, limits))
  }
  return operations
}

const NULL = treeOf('null')

function operationIn(members: TreeContent | undefined, index: number, { maxDepth }: PatchLimits): JsonOperation {
  if (!(members instanceof Map)) throw malformed(index, 'it is not an object')
  const name = stringIn(members.get('op'))
  const op = NAMES.find((known) => known === name)
  if (op === undefined) throw malformed(index, `op must be one of ${NAMES.join(', ')}`)
  const pointer = (member: 'path' | 'from'): readonly string[] => {
    const text = stringIn(members.get(member))
    if (text === undefined) throw malformed(index, `${member} must be a text`)
    return pointerOf(text, { index, member, maxDepth })
  }
  const value = members.get('value')
  if (value === undefined && (op === 'add' || op === 'replace' || op === 'test')) throw malformed(index, 'it has no value')
  return { op, index, path: pointer('path'), from: op === 'move' || op === 'copy' ? pointer('from') : [], value: value ?? NULL }
}

interface PointerPlace {
  readonly index: number
  readonly member: string
  readonly maxDepth: number
}

/** @see https://www.rfc-editor.org/rfc/rfc6901 */
function pointerOf(text: string, { index, member, maxDepth }: PointerPlace): readonly string[] {
  if (text === '') return []
  if (!text.startsWith('/') || /~(?![01])/.test(text)) throw malformed(index, `${member} ${quoted(text)} is not a JSON Pointer`)
  const tokens = text.slice(1).split('/')
  if (tokens.length > maxDepth) throw malformed(index, `${member} has more than ${maxDepth} parts`)
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function malformed(index: number, problem: string): OperationError {
  return new OperationError('body-structure', `Operation ${index} of the patch is malformed: ${problem}.`)
}

/** A text that is being patched, and the amount copied so far. */
interface Patching {
  /** A list with the text as its only item, so that the whole document has a place like any other value. */
  readonly holder: JsonTree
  readonly limits: PatchLimits
  readonly pace: Pace
  copied: number
}

/**
 * Applies a JSON Patch.
 *
 * @param text JSON.
 * @throws {OperationError} `conflict` if something that an operation names does not exist, or a test fails; `unprocessable` for a patch that would
 *   make something too long or too deep, move a value into itself or remove the whole document.
 */
export async function jsonPatched(
  text: string,
  operations: readonly JsonOperation[],
  { limits, pace }: Pick<Patching, 'limits' | 'pace'>,
): Promise<string> {
  const root = treeOf(text)
  const patching: Patching = { holder: { text: undefined, content: [root] }, limits, pace, copied: 0 }
  for (const operation of operations) {
    await pace.step()
    await apply(patching, operation)
  }
  return (await textOfTree(patching.holder, limits.maxDepth + 1, pace)).slice(1, -1)
}

async function apply(patching: Patching, operation: JsonOperation): Promise<void> {
  const { op, path, from, value } = operation
  switch (op) {
    case 'add':
      return add(patching, operation, value)
    case 'remove':
      await remove(patching, operation, path)
      return
    case 'replace':
      return replaceAt(await existing(patching, operation, path), value)
    case 'move':
      return move(patching, operation)
    case 'copy':
      return add(patching, operation, await copyOf(patching, operation, from))
    default:
      return test(patching, operation)
  }
}

/** The place of an existing or new value. */
interface Place {
  readonly content: TreeContent
  readonly key: string
}

/** Returns the list or object that contains the target of a pointer. @throws {OperationError} `conflict` */
async function placeAt({ holder, pace }: Patching, operation: JsonOperation, pointer: readonly string[]): Promise<Place> {
  const tokens = ['0', ...pointer]
  const key = tokens.pop() ?? '0'
  let tree: JsonTree | undefined = holder
  for (const token of tokens) {
    const content: TreeContent | undefined = tree && (await openTree(tree, pace))
    tree = content && valueAt({ content, key: token })
  }
  const content = tree && (await openTree(tree, pace))
  if (content === undefined) throw nothingAt(operation, pointer)
  return { content, key }
}

function valueAt({ content, key }: Place): JsonTree | undefined {
  return Array.isArray(content) ? content[indexIn(key) ?? -1] : content.get(key)
}

function indexIn(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,8})$/.test(token) ? Number(token) : undefined
}

async function existing(patching: Patching, operation: JsonOperation, pointer: readonly string[]): Promise<Place> {
  const place = await placeAt(patching, operation, pointer)
  if (valueAt(place) === undefined) throw nothingAt(operation, pointer)
  return place
}

function replaceAt({ content, key }: Place, value: JsonTree): void {
  if (Array.isArray(content)) content[indexIn(key) ?? 0] = value
  else content.set(key, value)
}

async function add(patching: Patching, operation: JsonOperation, value: JsonTree): Promise<void> {
  const { path } = operation
  if (path.length === 0) return replaceAt({ content: contentOf(patching.holder), key: '0' }, value)
  const { content, key } = await placeAt(patching, operation, path)
  if (!Array.isArray(content)) {
    content.set(key, value)
    return
  }
  const index = key === '-' ? content.length : indexIn(key)
  if (index === undefined || index > content.length) throw nothingAt(operation, path)
  content.splice(index, 0, value)
}

function contentOf({ content }: JsonTree): TreeContent {
  return content ?? []
}

async function remove(patching: Patching, operation: JsonOperation, pointer: readonly string[]): Promise<JsonTree> {
  if (pointer.length === 0) throw new OperationError('unprocessable', `${named(operation)}: the whole resource cannot be removed.`)
  const place = await existing(patching, operation, pointer)
  const { content, key } = place
  const removed = valueAt(place) ?? NULL
  if (Array.isArray(content)) content.splice(indexIn(key) ?? 0, 1)
  else content.delete(key)
  return removed
}

async function move(patching: Patching, operation: JsonOperation): Promise<void> {
  const { from, path } = operation
  await existing(patching, operation, from)
  if (isSamePointer(from, path)) return
  if (isSamePointer(from, path.slice(0, from.length)))
    throw new OperationError('unprocessable', `${named(operation)}: a value cannot be moved into itself.`)
  await add(patching, operation, await remove(patching, operation, from))
}

function isSamePointer(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index])
}

async function copyOf(patching: Patching, operation: JsonOperation, from: readonly string[]): Promise<JsonTree> {
  const { maxDepth, maxBytes } = patching.limits
  const found = valueAt(await existing(patching, operation, from)) ?? NULL
  const text = await textOfTree(found, maxDepth + 1, patching.pace)
  patching.copied += text.length
  if (patching.copied > maxBytes)
    throw new OperationError('too-costly', `${named(operation)}: the patch copies more than ${maxBytes} characters.`)
  return treeOf(text)
}

async function test(patching: Patching, operation: JsonOperation): Promise<void> {
  const { path, value } = operation
  const found = valueAt(await existing(patching, operation, path)) ?? NULL
  if (await isSameTree([found, value], patching.limits.maxDepth, patching.pace)) return
  throw new OperationError('conflict', `${named(operation)} failed: the value at ${shown(path)} is another one.`)
}

function nothingAt(operation: JsonOperation, pointer: readonly string[]): OperationError {
  return new OperationError('conflict', `${named(operation)} cannot be done: there is nothing at ${shown(pointer)}.`)
}

function named({ index, op }: JsonOperation): string {
  return `Operation ${index} of the patch (${op})`
}

function shown(pointer: readonly string[]): string {
  return quoted(pointer.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''))
}

/** A JSON value that is changed in parts. Parts that are not accessed stay text, so that their numbers keep their digits. */
export interface JsonTree {
  /** Present until the value is accessed. */
  text: string | undefined
  content: TreeContent | undefined
}

/** The content of an object or a list. */
type TreeContent = Map<string, JsonTree> | JsonTree[]

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
async function isSameTree([a, b]: readonly [JsonTree, JsonTree], maxDepth: number, pace: Pace): Promise<boolean> {
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
