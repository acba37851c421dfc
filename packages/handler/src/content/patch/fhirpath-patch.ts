import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import {
  compileFhirPath,
  rootNode,
  type ElementSlot,
  type FhirNode,
  type FhirPathContext,
  type TypeDefinition,
  type TypeModel,
  isNode,
} from 'fhir-ops/internal/fhirpath'
import { parseInPieces } from 'fhir-ops/internal/json'
import type { PatchValue, PathOperation } from './fhirpath-operations.js'
import type { PatchLimits } from './json-patch.js'
import { openTree, pruneTree, textOfTree, treeOf, type JsonTree } from './json-tree.js'

/** What is needed to evaluate the expressions of a patch. */
interface PathPatching {
  readonly model: TypeModel
  readonly now: () => Date
  readonly limits: PatchLimits
  readonly pace: Pace
}

/** Limits on the evaluation of a path, which cannot be interrupted. */
const BUDGET = { steps: 100_000, items: 10_000 }

/**
 * Applies a FHIRPath Patch. Each path is evaluated on the result of the previous operations.
 *
 * @param text A resource.
 * @throws {OperationError} `conflict` if a path finds nothing, several elements, or an element that already exists; `unprocessable` if the resource
 *   cannot have such an element; `fhirpath-invalid`, `fhirpath-budget`.
 */
export async function fhirPathPatched(text: string, operations: readonly PathOperation[], patching: PathPatching): Promise<string> {
  let current = text
  // Elements that become empty keep their positions, because a later operation may fill them.
  const model: TypeModel = { type: (name) => patching.model.type(name), names: () => patching.model.names(), keepsEmpty: true }
  for (const operation of operations) {
    await patching.pace.step()
    current = await applied(current, operation, { ...patching, model })
    if (current.length > patching.limits.maxBytes)
      throw new OperationError('too-costly', `The patched resource would be longer than ${patching.limits.maxBytes} characters.`)
  }
  return operations.some(({ change: { type } }) => type === 'delete') ? withoutEmpty(current, patching) : current
}

/** Removes elements whose last child was deleted. */
async function withoutEmpty(text: string, { limits: { maxDepth }, pace }: PathPatching): Promise<string> {
  const root = treeOf(text)
  await pruneTree(root, maxDepth, pace)
  return textOfTree(root, maxDepth, pace)
}

/** An operation, with the elements that its path found. */
interface Applying {
  readonly operation: PathOperation
  readonly model: TypeModel
  readonly root: JsonTree
  readonly found: readonly FhirNode[]
  readonly pace: Pace
}

async function applied(text: string, operation: PathOperation, { model, now, limits, pace }: PathPatching): Promise<string> {
  const resource = rootNode(model, await pace.run(parseInPieces(text)))
  const found = nodesAt(operation, { model, resource, context: { now, budget: BUDGET } })
  const root = treeOf(text)
  await change({ operation, model, root, found, pace })
  return textOfTree(root, limits.maxDepth, pace)
}

interface Evaluation {
  readonly model: TypeModel
  readonly resource: FhirNode
  readonly context: FhirPathContext
}

/** Returns the elements that the path finds; a System value has no place in the resource. */
function nodesAt({ at, path }: PathOperation, { model, resource, context }: Evaluation): readonly FhirNode[] {
  const items = compileFhirPath(path, { model }).evaluate(context, resource)
  const nodes = (Array.isArray(items) ? items : []).filter(isNode)
  if (Array.isArray(items) && nodes.length === items.length && nodes.every((node) => rootOf(node) === resource)) return nodes
  throw new OperationError('unprocessable', `Operation ${at} of the patch: the path ${quoted(path)} must select elements of the resource.`)
}

function rootOf(node: FhirNode): FhirNode {
  return node.parent === undefined ? node : rootOf(node.parent)
}

function change(applying: Applying): Promise<void> {
  const { change: wanted } = applying.operation
  switch (wanted.type) {
    case 'add':
      return add(applying, wanted)
    case 'insert':
      return insert(applying, wanted)
    case 'delete':
      return removeOne(applying)
    case 'replace':
      return replace(applying, wanted.value)
    default:
      return move(applying, wanted)
  }
}

async function add(applying: Applying, { name, value }: { readonly name: string; readonly value: PatchValue }): Promise<void> {
  const node = only(applying)
  const slot = slotFor(applying, node.type, { name, value })
  const holder = await holderOf(applying, node, slot)
  const written = await writtenValue(applying, slot, value)
  if (slot.isCollection) return insertItem(holder, slot, { ...written, index: lengthOf(holder, slot) })
  const others = (node.type.elements.get(slot.name) ?? []).flatMap(({ jsonName, siblingName }) => [jsonName, siblingName])
  if (others.some((other) => holder.has(other))) throw conflict(applying, `there is an element ${quoted(name)} already`)
  setElement(holder, slot, written)
}

async function insert(applying: Applying, { index, value }: { readonly index: number; readonly value: PatchValue }): Promise<void> {
  const { holder, slot } = await listOf(applying)
  if (index > lengthOf(holder, slot)) throw conflict(applying, `there is no position ${index}`)
  insertItem(holder, slot, { ...(await writtenValue(applying, slot, value)), index })
}

/** Deletes the selected element; if the path finds none, succeeds. */
async function removeOne(applying: Applying): Promise<void> {
  if (applying.found.length === 0) return
  const { parent, slot, index } = placed(applying)
  const holder = await holderOf(applying, parent, slot)
  if (!slot.isCollection) return replaceElement(holder, slot, [])
  removeItem(holder, slot, index)
  tidy(holder, slot)
}

async function replace(applying: Applying, value: PatchValue): Promise<void> {
  const { parent, slot: old, index } = placed(applying)
  const holder = await holderOf(applying, parent, old)
  const slot = slotFor(applying, parent.type, { name: old.name, value })
  const written = await writtenValue(applying, slot, value)
  if (slot.isCollection) putItem(holder, slot, { ...written, index, instead: 1 })
  else replaceElement(holder, old, membersFor(slot, written))
}

async function move(applying: Applying, { source, destination }: { readonly source: number; readonly destination: number }): Promise<void> {
  const { holder, slot } = await listOf(applying)
  const length = lengthOf(holder, slot)
  if (source >= length || destination >= length) throw conflict(applying, `the list has ${length} items only`)
  const removed = removeItem(holder, slot, source)
  insertItem(holder, slot, { ...removed, index: destination })
}

/** Returns the only selected element. @throws {OperationError} `conflict` unless there is exactly one. */
function only(applying: Applying): FhirNode {
  const [node, another] = applying.found
  if (node === undefined) throw conflict(applying, 'the path selects nothing')
  if (another !== undefined) throw conflict(applying, 'the path selects several elements')
  return node
}

interface PlacedNode {
  readonly parent: FhirNode
  readonly slot: ElementSlot
  readonly index: number
}

function placed(applying: Applying): PlacedNode {
  const { parent, slot, index } = only(applying)
  if (parent === undefined || slot === undefined) throw unprocessable(applying, 'the whole resource can be neither deleted nor replaced')
  return { parent, slot, index }
}

interface ListPlace {
  readonly holder: Members
  readonly slot: ElementSlot
}

/** Returns the list of which the path selects all or some items. */
async function listOf(applying: Applying): Promise<ListPlace> {
  const [first] = applying.found
  if (first === undefined) throw conflict(applying, 'the path selects nothing')
  const { parent, slot } = first
  const isList = slot?.isCollection === true && applying.found.every((node) => node.parent === parent && node.slot === slot)
  if (!isList || parent === undefined) throw unprocessable(applying, 'the path must select the items of one list')
  return { holder: await holderOf(applying, parent, slot), slot }
}

/** Returns the object that contains an element, with the element's lists opened, as `itemsOf` and its callers require. */
async function holderOf(applying: Applying, parent: FhirNode, { jsonName, siblingName }: ElementSlot): Promise<Members> {
  const holder = await objectOf(applying, parent)
  for (const name of [jsonName, siblingName]) await openMember(applying, holder, name)
  return holder
}

async function openMember({ pace }: Applying, holder: Members, name: string): Promise<void> {
  const tree = holder.get(name)
  if (tree !== undefined) await openTree(tree, pace)
}

/** Returns the JSON object that contains an element's children: for a primitive, the object of its sibling member. */
async function objectOf(applying: Applying, node: FhirNode): Promise<Members> {
  const { parent, slot, index } = node
  if (parent === undefined || slot === undefined) return membersOf(applying, applying.root)
  const holder = await objectOf(applying, parent)
  const name = node.type.kind === 'primitive' ? slot.siblingName : slot.jsonName
  if (!slot.isCollection) return membersOf(applying, elementIn(holder, name))
  await openMember(applying, holder, name)
  const items = itemsOf(holder, name)
  while (items.length <= index) items.push(treeOf('null'))
  const item = items[index]
  if (item === undefined || item.text === 'null') items[index] = emptyObject()
  return membersOf(applying, items[index] ?? emptyObject())
}

function elementIn(holder: Members, name: string): JsonTree {
  const tree = holder.get(name) ?? emptyObject()
  holder.set(name, tree)
  return tree
}

async function membersOf(applying: Applying, tree: JsonTree): Promise<Members> {
  const content = await openTree(tree, applying.pace)
  if (content instanceof Map) return content
  throw unprocessable(applying, 'the path selects something that is not an element')
}

interface NamedValue {
  readonly name: string
  readonly value: PatchValue
}

/** Returns the slot for a value; for a choice, the slot of the value's type. @throws {OperationError} `unprocessable` */
function slotFor(applying: Applying, type: TypeDefinition, { name, value }: NamedValue): ElementSlot {
  const slots = type.elements.get(name) ?? []
  const slot = slots.find(({ isChoice, jsonName }) => !isChoice || (value.kind === 'typed' && jsonName === `${name}${value.type}`))
  if (slot !== undefined) return slot
  const problem =
    slots.length === 0 ? `${type.name} has no element ${quoted(name)}` : `the element ${quoted(name)} cannot have a value of this type`
  throw unprocessable(applying, problem)
}

/** @throws {OperationError} `unprocessable` for parts that the element does not have. */
async function writtenValue(applying: Applying, slot: ElementSlot, value: PatchValue): Promise<Written> {
  await applying.pace.step()
  if (value.kind === 'typed') return { tree: value.tree, extra: value.extra }
  if (value.kind === 'resource') return { tree: value.tree, extra: undefined }
  const type = applying.model.type(slot.type)
  if (type === undefined) throw unprocessable(applying, `the type of ${quoted(slot.name)} is not known`)
  const content: Members = new Map()
  for (const [name, part] of value.parts) {
    const own = slotFor(applying, type, { name, value: part })
    const written = await writtenValue(applying, own, part)
    if (own.isCollection) insertItem(content, own, { ...written, index: lengthOf(content, own) })
    else if (content.has(own.jsonName) || content.has(own.siblingName)) throw unprocessable(applying, `${quoted(name)} is there twice`)
    else setElement(content, own, written)
  }
  return { tree: { text: undefined, content }, extra: undefined }
}

function conflict(applying: Applying, problem: string): OperationError {
  return failure('conflict', applying, problem)
}

function unprocessable(applying: Applying, problem: string): OperationError {
  return failure('unprocessable', applying, problem)
}

function failure(code: 'conflict' | 'unprocessable', { operation }: Applying, problem: string): OperationError {
  const { at, path, change } = operation
  const message = `Operation ${at} of the patch (${change.type}) cannot be done at ${quoted(path)}: ${problem}.`
  return new OperationError(code, message, place(at))
}

function place(at: number): { readonly expression: readonly string[] } {
  return { expression: [`Parameters.parameter[${at}]`] }
}

/** Members of an object in the resource. An element of FHIR is one or two of them, lists of equal length if it repeats. */
type Members = Map<string, JsonTree>

/** Returns the list of an opened member, creating it if the member is absent; a single value becomes its only item. */
function itemsOf(holder: Members, name: string): JsonTree[] {
  const tree = holder.get(name)
  const content = tree?.content
  if (Array.isArray(content)) return content
  const items = tree === undefined ? [] : [tree]
  holder.set(name, { text: undefined, content: items })
  return items
}

/** A value, as its JSON members. */
interface Written {
  readonly tree: JsonTree | undefined
  /** Id and extensions of a primitive. */
  readonly extra: JsonTree | undefined
}

interface Item extends Written {
  readonly index: number
}

/** Names of the members that an element can have: only primitives have a second. */
function namesOf(
  { jsonName, siblingName }: ElementSlot,
  holder: Members,
  { extra }: Pick<Written, 'extra'>,
): readonly [string, string | undefined] {
  return [jsonName, extra !== undefined || holder.has(siblingName) ? siblingName : undefined]
}

function insertItem(holder: Members, slot: ElementSlot, item: Item): void {
  putItem(holder, slot, { ...item, instead: 0 })
}

/** Inserts an item into a list, or replaces one. */
function putItem(holder: Members, slot: ElementSlot, { tree, extra, index, instead }: Item & { readonly instead: 0 | 1 }): void {
  const [name, sibling] = namesOf(slot, holder, { extra })
  const length = lengthOf(holder, slot)
  for (const [member, value] of [
    [name, tree],
    [sibling, extra],
  ] as const) {
    if (member === undefined) continue
    const items = itemsOf(holder, member)
    while (items.length < length) items.push(treeOf('null'))
    items.splice(index, instead, value ?? treeOf('null'))
  }
  tidy(holder, slot)
}

/** Removes an item from a list, which may be empty afterwards; the caller then has to `tidy` it. */
function removeItem(holder: Members, slot: ElementSlot, index: number): Written {
  const removed: (JsonTree | undefined)[] = []
  for (const name of [slot.jsonName, slot.siblingName]) {
    const [item] = holder.has(name) ? itemsOf(holder, name).splice(index, 1) : []
    removed.push(item?.text === 'null' ? undefined : item)
  }
  return { tree: removed[0], extra: removed[1] }
}

/** Removes lists without content, because FHIR has no empty lists. */
function tidy(holder: Members, { jsonName, siblingName }: ElementSlot): void {
  for (const name of [jsonName, siblingName]) {
    if (holder.has(name) && itemsOf(holder, name).every(({ text }) => text === 'null')) holder.delete(name)
  }
}

function lengthOf(holder: Members, { jsonName, siblingName }: ElementSlot): number {
  let length = 0
  for (const name of [jsonName, siblingName]) if (holder.has(name)) length = Math.max(length, itemsOf(holder, name).length)
  return length
}

function setElement(holder: Members, slot: ElementSlot, written: Written): void {
  for (const [name, tree] of membersFor(slot, written)) holder.set(name, tree)
}

/** Replaces the members of an element; the other members keep their order. */
function replaceElement(holder: Members, { jsonName, siblingName }: ElementSlot, members: Iterable<readonly [string, JsonTree]>): void {
  const before = [...holder]
  const isOld = ([name]: readonly [string, JsonTree]): boolean => name === jsonName || name === siblingName
  const at = before.findIndex(isOld)
  holder.clear()
  for (const [index, member] of before.entries()) {
    if (index === at) for (const [name, tree] of members) holder.set(name, tree)
    if (!isOld(member)) holder.set(...member)
  }
}

function membersFor({ jsonName, siblingName }: ElementSlot, { tree, extra }: Written): readonly (readonly [string, JsonTree])[] {
  return [...(tree === undefined ? [] : [[jsonName, tree] as const]), ...(extra === undefined ? [] : [[siblingName, extra] as const])]
}

function emptyObject(): JsonTree {
  return { text: undefined, content: new Map() }
}
