import { pathOf, type ElementSlot, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { didYouMean, nearest, otherCase } from '../../../text/index.js'
import type { Help } from '../../run/finding-sink.js'
import { itemRemoval, listing, nodeRemoval, removal, renaming, unlisting } from '../../run/patch.js'
import type { Run } from '../../run/run.js'

/** A member of a node, as its holder has it. */
export interface Member {
  readonly slot: ElementSlot
  readonly holder: JsonObject
}

/** Whether the member is an array or not as its element wants it, and not empty. False when it cannot be looked into. */
export function checkShape(run: Run, node: FhirNode, { slot, holder }: Member): boolean {
  const value = own(holder, slot.jsonName)
  const extra = own(holder, slot.siblingName)
  return (
    checkOne(run, node, { slot, value, at: slot.jsonName }) &&
    checkOne(run, node, { slot, value: extra, at: slot.siblingName }) &&
    checkExtra(run, node, { extra, at: slot.siblingName })
  )
}

/** What stands beside a primitive value is an object, or in a list null. */
function checkExtra(run: Run, node: FhirNode, { extra, at }: { extra: unknown; at: string }): boolean {
  if (extra === undefined || isObject(extra)) return true
  if (Array.isArray(extra) && extra.every((item) => item === null || isObject(item))) return true
  run.findings.report('object-expected', node, { text: `'${at}' can only hold objects, with an id or extensions.`, at })
  return false
}

function own(holder: JsonObject, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined
}

function checkOne(run: Run, node: FhirNode, { slot, value, at }: { slot: ElementSlot; value: unknown; at: string }): boolean {
  if (value === undefined) return true
  if (value === null) {
    run.findings.report('null-not-allowed', node, { text: `'${at}' must not be null.`, at, fix: removal(node, at) })
    return false
  }
  if (Array.isArray(value) === slot.isCollection) return checkNotEmptyArray(run, node, { value, at })
  if (slot.isCollection) run.findings.report('array-expected', node, { text: `'${at}' must be an array.`, at, fix: listing(node, at) })
  else if (Array.isArray(value))
    run.findings.report('array-not-allowed', node, { text: `'${at}' must not be an array.`, at, fix: unlisting(node, at, value) })
  return false
}

function checkNotEmptyArray(run: Run, node: FhirNode, { value, at }: { value: unknown; at: string }): boolean {
  if (!Array.isArray(value) || value.length > 0) return true
  run.findings.report('empty-array', node, { text: `'${at}' must not be an empty array.`, at, fix: removal(node, at) })
  return false
}

/** The places of items that are null, and not for the sake of what stands beside them. */
export function nullItems(run: Run, { slot, holder }: Member): readonly number[] {
  if (!run.isStructural || !slot.isCollection) return NONE
  const values = listOf(holder, slot.jsonName)
  const extras = listOf(holder, slot.siblingName)
  const items = values.length > 0 ? values : extras
  if (!items.includes(null)) return NONE
  return items.flatMap((item, index) => (item !== null || (values.length > 0 && (extras[index] ?? null) !== null) ? [] : [index]))
}

function listOf(holder: JsonObject, name: string): readonly unknown[] {
  const value = own(holder, name)
  return Array.isArray(value) ? value : NONE
}

const NONE: readonly never[] = []

/** Says that an item is null. */
export function reportNullItem(run: Run, node: FhirNode, { slot, index }: { slot: ElementSlot; index: number }): void {
  run.findings.report('null-not-allowed', node, {
    text: `Item ${index} of '${slot.jsonName}' has neither a value nor extensions.`,
    at: `${slot.jsonName}[${index}]`,
    fix: itemRemoval(node, [slot.jsonName, slot.siblingName], index),
  })
}

/** ele-1: an element has a value or something inside beside its id. */
export function checkNotEmpty(run: Run, node: FhirNode): boolean {
  const { value, extra } = node
  const holder = isObject(value) ? value : extra
  if (hasMembers(holder, node) || (value !== undefined && !isObject(value))) return true
  const names = Object.keys(holder ?? {})
  const isOnlyId = names.length === 1 && names[0] === 'id'
  run.findings.report('empty-object', node, {
    text: 'An element must have a value or something inside it.',
    ...(isOnlyId && { code: 'invariant' }),
    fix: names.length === 0 ? nodeRemoval(node) : undefined,
  })
  return false
}

/** The `_name` beside a primitive can hold nothing but extensions. */
function hasMembers(holder: object | undefined, { type }: FhirNode): boolean {
  if (holder === undefined) return false
  if (type.kind === 'primitive') return Object.hasOwn(holder, 'extension')
  for (const name in holder) if (name !== 'id' && Object.hasOwn(holder, name)) return true
  return false
}

const MAX_NAME = 100

/** Reports a property that the type of the node does not have; one that differs from a known one only in case can be renamed. */
export function reportUnknownProperty(run: Run, node: FhirNode, name: string): void {
  const at = JSON.stringify(name.slice(0, MAX_NAME).toWellFormed()).slice(1, -1)
  const text = `Invalid additional property "${pathOf(node)}.${at}"`
  run.findings.report('unknown-property', node, { text, at, help: () => meantName(node, name) })
}

function meantName(node: FhirNode, name: string): Help {
  const near = nearest(name, node.type.members.keys())
  const right = otherCase(name, near)
  return { hint: didYouMean(near), fix: right === undefined ? undefined : renaming(node, name, right) }
}
