import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { isSameTree, openTree, stringIn, textOfTree, treeOf, type JsonTree, type TreeContent } from './json-tree.js'

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
