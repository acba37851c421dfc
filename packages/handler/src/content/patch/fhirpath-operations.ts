import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { Work } from 'fhir-ops/internal/work'
import { memberAt, openTree, stringIn, treeOf, type JsonTree } from './json-tree.js'

/** The content of an operation: a value of a data type, a resource, or the named parts of an element that has no type of its own. */
export type PatchValue =
  | {
      readonly kind: 'typed'
      /** As in the name of its member: `Coding` of `valueCoding`. */ readonly type: string
      readonly tree: JsonTree | undefined
      readonly extra: JsonTree | undefined
    }
  | { readonly kind: 'resource'; readonly tree: JsonTree }
  | { readonly kind: 'parts'; readonly parts: readonly (readonly [string, PatchValue])[] }

/** One operation of a FHIRPath Patch. */
export interface PathOperation {
  /** Position in the patch, from 0. */
  readonly at: number
  readonly path: string
  readonly change:
    | { readonly type: 'add'; readonly name: string; readonly value: PatchValue }
    | { readonly type: 'insert'; readonly index: number; readonly value: PatchValue }
    | { readonly type: 'delete' }
    | { readonly type: 'replace'; readonly value: PatchValue }
    | { readonly type: 'move'; readonly source: number; readonly destination: number }
}

/**
 * Reads a FHIRPath Patch.
 *
 * @param text Parameters, known to be well-formed JSON.
 * @throws {OperationError} `body-structure` for what is no operation, with its place.
 * @see https://hl7.org/fhir/R4/fhirpatch.html
 */
export function* readFhirPathPatch(text: string): Work<readonly PathOperation[]> {
  const operations: PathOperation[] = []
  for (const parameter of yield* itemsAt(treeOf(text), 'parameter')) {
    yield
    operations.push(yield* operationIn(parameter, operations.length))
  }
  return operations
}

function* itemsAt(tree: JsonTree, name: string): Work<readonly JsonTree[]> {
  const list = yield* memberAt(tree, name)
  const items = list && (yield* openTree(list))
  return Array.isArray(items) ? items : []
}

/** The parts of an operation by name; each may be given once. */
type Parts = ReadonlyMap<string, JsonTree>

function* operationIn(tree: JsonTree, at: number): Work<PathOperation> {
  const name = stringIn(yield* memberAt(tree, 'name'))
  if (name !== 'operation') throw malformed(at, `its name must be operation, not ${quoted(name ?? '')}`)
  const parts = yield* partsOf(tree, at)
  const path = yield* textOf(parts, { at, name: 'path' })
  const type = yield* textOf(parts, { at, name: 'type' })
  switch (type) {
    case 'add':
      return { at, path, change: { type, name: yield* textOf(parts, { at, name: 'name' }), value: yield* valueOf(parts, at) } }
    case 'insert':
      return { at, path, change: { type, index: yield* indexOf(parts, { at, name: 'index' }), value: yield* valueOf(parts, at) } }
    case 'delete':
      return { at, path, change: { type } }
    case 'replace':
      return { at, path, change: { type, value: yield* valueOf(parts, at) } }
    case 'move':
      return {
        at,
        path,
        change: {
          type,
          source: yield* indexOf(parts, { at, name: 'source' }),
          destination: yield* indexOf(parts, { at, name: 'destination' }),
        },
      }
    default:
      throw malformed(at, 'its type must be add, insert, delete, replace or move')
  }
}

function* partsOf(tree: JsonTree, at: number): Work<Parts> {
  const parts = new Map<string, JsonTree>()
  for (const part of yield* itemsAt(tree, 'part')) {
    const name = stringIn(yield* memberAt(part, 'name')) ?? ''
    if (parts.has(name)) throw malformed(at, `it has ${quoted(name)} twice`)
    parts.set(name, part)
  }
  return parts
}

interface PartPlace {
  readonly at: number
  readonly name: string
}

function* textOf(parts: Parts, { at, name }: PartPlace): Work<string> {
  const part = parts.get(name)
  const content = part && (yield* openTree(part))
  const [value] =
    content instanceof Map ? [...content].flatMap(([member, tree]) => (member.startsWith('value') ? [stringIn(tree)] : [])) : []
  if (value === undefined) throw malformed(at, `it needs the text ${name}`)
  return value
}

function* indexOf(parts: Parts, { at, name }: PartPlace): Work<number> {
  const part = parts.get(name)
  const value = part && (yield* memberAt(part, 'valueInteger'))
  if (!/^(?:0|[1-9]\d{0,8})$/.test(value?.text ?? '')) throw malformed(at, `it needs the integer ${name}, from 0`)
  return Number(value?.text)
}

function* valueOf(parts: Parts, at: number): Work<PatchValue> {
  const part = parts.get('value')
  const value = part && (yield* valueIn(part, at))
  if (value === undefined) throw malformed(at, 'it needs a value')
  return value
}

function* valueIn(part: JsonTree, at: number): Work<PatchValue | undefined> {
  yield
  const members = yield* openTree(part)
  if (!(members instanceof Map)) return undefined
  const resource = members.get('resource')
  if (resource !== undefined) return { kind: 'resource', tree: resource }
  const types = new Set([...members.keys()].flatMap((member) => /^_?value(.+)$/.exec(member)?.[1] ?? []))
  const [type] = types
  if (types.size > 1) throw malformed(at, 'it has several values')
  if (type !== undefined) return { kind: 'typed', type, tree: members.get(`value${type}`), extra: members.get(`_value${type}`) }
  if (!members.has('part')) return undefined
  const parts: (readonly [string, PatchValue])[] = []
  for (const inner of yield* itemsAt(part, 'part')) {
    const name = stringIn(yield* memberAt(inner, 'name'))
    const value = yield* valueIn(inner, at)
    if (name === undefined || value === undefined) throw malformed(at, 'a part of its value has no name or no value')
    parts.push([name, value])
  }
  return { kind: 'parts', parts }
}

function malformed(at: number, problem: string): OperationError {
  return new OperationError('body-structure', `Operation ${at} of the patch is malformed: ${problem}.`, {
    expression: [`Parameters.parameter[${at}]`],
  })
}
