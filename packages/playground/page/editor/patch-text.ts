import { jsonLanguage } from '@codemirror/lang-json'
import type { SyntaxNode } from '@lezer/common'
import type { PatchStep } from '../fhir/outcome.js'

/**
 * Applies a JSON Patch to a text and leaves everything else as it is written: white space, order, digits.
 *
 * @returns `undefined` when the text is no JSON or has no such place, for example because it was edited since.
 */
export function patchText(text: string, patch: readonly PatchStep[]): string | undefined {
  let patched: string | undefined = text
  for (const step of patch) patched = patched === undefined || !isJson(patched) ? undefined : patchedBy(patched, step)
  return patched !== undefined && isJson(patched) ? patched : undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function patchedBy(text: string, step: PatchStep): string | undefined {
  if (step.op === 'move') return moved(text, step.from ?? '', step.path)
  if (step.op === 'remove') return removed(text, step.path)
  const value = JSON.stringify(step.value)
  const place = step.op === 'replace' ? placeAt(text, step.path) : undefined
  if (step.op === 'add') return added(text, step.path, value)
  return place === undefined ? undefined : spliced(text, place.value, value)
}

/** Text between two offsets. */
interface Range {
  readonly from: number
  readonly to: number
}

/** A value in its object or array. */
interface Place {
  readonly value: SyntaxNode
  /** The property, or the value itself in an array. */
  readonly part: SyntaxNode
}

function moved(text: string, from: string, to: string): string | undefined {
  const place = placeAt(text, from)
  if (place === undefined) return undefined
  const [target, name] = parentOf(to)
  const key = place.part.firstChild
  const isRenamed = target === parentOf(from)[0] && key?.name === 'PropertyName'
  if (isRenamed && placeAt(text, to) === undefined) return spliced(text, key, JSON.stringify(name))
  const value = text.slice(place.value.from, place.value.to)
  const without = removed(text, from)
  return without === undefined ? undefined : added(without, to, value)
}

function removed(text: string, path: string): string | undefined {
  const part = placeAt(text, path)?.part
  if (part === undefined) return undefined
  const [before, after] = [neighbour(part, 'prevSibling'), neighbour(part, 'nextSibling')]
  if (after !== undefined) return spliced(text, { from: part.from, to: after.from }, '')
  return spliced(text, { from: before?.to ?? part.from, to: part.to }, '')
}

/** Values and properties; brackets, commas and what cannot be read are none. */
function neighbour(part: SyntaxNode, direction: 'prevSibling' | 'nextSibling'): SyntaxNode | undefined {
  for (let node = part[direction]; node !== null; node = node[direction]) if (isPart(node)) return node
  return undefined
}

const NO_PARTS = new Set(['{', '}', '[', ']', ',', ':', '⚠', 'PropertyName'])

function isPart(node: SyntaxNode): boolean {
  return !NO_PARTS.has(node.name)
}

function added(text: string, path: string, value: string): string | undefined {
  const [parentPath, name] = parentOf(path)
  const parent = placeAt(text, parentPath)?.value
  if (parent?.name === 'Array') return inserted(text, { parent, value, index: name === '-' ? Infinity : Number(name) })
  if (parent?.name !== 'Object') return undefined
  const there = placeAt(text, path)
  if (there !== undefined) return spliced(text, there.value, value)
  const written = `${JSON.stringify(name)}: ${value}`
  // A patch parks a value under this name; what takes its place belongs where it was.
  const parked = placeAt(text, `${parentPath}/#`)?.part
  return inserted(text, {
    parent,
    value: written,
    index: parked === undefined ? Infinity : partsIn(parent).findIndex(({ from }) => from === parked.from) + 1,
  })
}

interface Insertion {
  readonly parent: SyntaxNode
  readonly value: string
  readonly index: number
}

function inserted(text: string, { parent, value, index }: Insertion): string {
  const parts = partsIn(parent)
  const next = parts[index]
  // What stands before the first part (a line break, an indentation) stands before each.
  const space = text.slice(parent.from + 1, parts[0]?.from ?? parent.from + 1)
  const gap = space === '' ? ' ' : space
  if (next !== undefined) return spliced(text, { from: next.from, to: next.from }, `${value},${gap}`)
  const end = parts.at(-1)?.to ?? parent.from + 1
  return spliced(text, { from: end, to: end }, parts.length === 0 ? value : `,${gap}${value}`)
}

function partsIn(parent: SyntaxNode): readonly SyntaxNode[] {
  const parts: SyntaxNode[] = []
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) if (isPart(node)) parts.push(node)
  return parts
}

/** The value at a JSON pointer. Of equal names the last counts, as for JSON.parse. */
function placeAt(text: string, pointer: string): Place | undefined {
  let value = jsonLanguage.parser.parse(text).topNode.firstChild
  let part = value
  for (const name of namesOf(pointer)) {
    part = value === null ? null : partNamed(text, value, name)
    value = part?.name === 'Property' ? part.lastChild : part
  }
  return value === null || part === null ? undefined : { value, part }
}

function partNamed(text: string, parent: SyntaxNode, name: string): SyntaxNode | null {
  if (parent.name === 'Array') return partsIn(parent)[Number(name)] ?? null
  const isNamed = ({ firstChild: key }: SyntaxNode): boolean => key !== null && JSON.parse(text.slice(key.from, key.to)) === name
  return parent.name === 'Object' ? (partsIn(parent).findLast(isNamed) ?? null) : null
}

function parentOf(pointer: string): readonly [parent: string, name: string] {
  const at = pointer.lastIndexOf('/')
  return [pointer.slice(0, at), namesOf(pointer.slice(at))[0] ?? '']
}

function namesOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function spliced(text: string, { from, to }: Range, replacement: string): string {
  return text.slice(0, from) + replacement + text.slice(to)
}
