import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { openTree, stringIn, treeOf, type JsonTree } from './json-tree.js'

/** The content of an operation: a value of a data type, a resource, or the named parts of an element without a type of its own. */
export type PatchValue =
  | {
      readonly kind: 'typed'
      /** Type as in the name of the member: `Coding` for `valueCoding`. */ readonly type: string
      readonly tree: JsonTree | undefined
      readonly extra: JsonTree | undefined
    }
  | { readonly kind: 'resource'; readonly tree: JsonTree }
  | { readonly kind: 'parts'; readonly parts: readonly (readonly [string, PatchValue])[] }

/** An operation of a FHIRPath Patch. */
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
 * @param text Parameters as well-formed JSON.
 * @throws {OperationError} `body-structure` for an invalid operation, with its place.
 * @see https://hl7.org/fhir/R4/fhirpatch.html
 */
export async function readFhirPathPatch(text: string, pace: Pace): Promise<readonly PathOperation[]> {
  const operations: PathOperation[] = []
  for (const members of await objectsAt(await membersOf(treeOf(text), pace), { name: 'parameter', within: 'Parameters' }, pace)) {
    await pace.step()
    operations.push(await operationIn(members, operations.length, pace))
  }
  return operations
}

/** The members of an object; empty for any other value. */
type Members = ReadonlyMap<string, JsonTree>

async function membersOf(tree: JsonTree | undefined, pace: Pace): Promise<Members> {
  const content = tree && (await openTree(tree, pace))
  return content instanceof Map ? content : new Map()
}

interface ListPlace {
  readonly name: string
  /** Path of the object that contains the list. */
  readonly within: string
}

/** Returns the members of each object in a list; empty if the list is absent. @throws {OperationError} `body-structure` for anything but a list. */
async function objectsAt(members: Members, { name, within }: ListPlace, pace: Pace): Promise<readonly Members[]> {
  const list = members.get(name)
  if (list === undefined) return []
  const items = await openTree(list, pace)
  if (!Array.isArray(items))
    throw new OperationError('body-structure', `${within}.${name} must be a list.`, { expression: [`${within}.${name}`] })
  const objects: Members[] = []
  for (const item of items) {
    await pace.step()
    objects.push(await membersOf(item, pace))
  }
  return objects
}

/** Parts of an operation, by name; each name may occur once. */
type Parts = ReadonlyMap<string, Members>

async function operationIn(members: Members, at: number, pace: Pace): Promise<PathOperation> {
  const name = stringIn(members.get('name'))
  if (name !== 'operation') throw malformed(at, `its name must be operation, not ${quoted(name ?? '')}`)
  const parts = partsOf(await objectsAt(members, { name: 'part', within: placeOf(at) }, pace), at)
  const path = textOf(parts, { at, name: 'path' })
  const type = textOf(parts, { at, name: 'type' })
  switch (type) {
    case 'add':
      return { at, path, change: { type, name: textOf(parts, { at, name: 'name' }), value: await valueOf(parts, at, pace) } }
    case 'insert':
      return { at, path, change: { type, index: indexOf(parts, { at, name: 'index' }), value: await valueOf(parts, at, pace) } }
    case 'delete':
      return { at, path, change: { type } }
    case 'replace':
      return { at, path, change: { type, value: await valueOf(parts, at, pace) } }
    case 'move':
      return {
        at,
        path,
        change: { type, source: indexOf(parts, { at, name: 'source' }), destination: indexOf(parts, { at, name: 'destination' }) },
      }
    default:
      throw malformed(at, 'its type must be add, insert, delete, replace or move')
  }
}

function partsOf(objects: readonly Members[], at: number): Parts {
  const parts = new Map<string, Members>()
  for (const part of objects) {
    const name = stringIn(part.get('name')) ?? ''
    if (parts.has(name)) throw malformed(at, `it has ${quoted(name)} twice`)
    parts.set(name, part)
  }
  return parts
}

interface PartPlace {
  readonly at: number
  readonly name: string
}

function textOf(parts: Parts, { at, name }: PartPlace): string {
  const [value] = [...(parts.get(name) ?? [])].flatMap(([member, tree]) => (member.startsWith('value') ? [stringIn(tree)] : []))
  if (value === undefined) throw malformed(at, `it needs the text ${name}`)
  return value
}

function indexOf(parts: Parts, { at, name }: PartPlace): number {
  const value = parts.get(name)?.get('valueInteger')
  if (!/^(?:0|[1-9]\d{0,8})$/.test(value?.text ?? '')) throw malformed(at, `it needs the integer ${name}, from 0`)
  return Number(value?.text)
}

async function valueOf(parts: Parts, at: number, pace: Pace): Promise<PatchValue> {
  const value = await valueIn(parts.get('value') ?? new Map(), at, pace)
  if (value === undefined) throw malformed(at, 'it needs a value')
  return value
}

async function valueIn(members: Members, at: number, pace: Pace): Promise<PatchValue | undefined> {
  await pace.step()
  const resource = members.get('resource')
  if (resource !== undefined) return { kind: 'resource', tree: resource }
  const types = new Set([...members.keys()].flatMap((member) => /^_?value(.+)$/.exec(member)?.[1] ?? []))
  const [type] = types
  if (types.size > 1) throw malformed(at, 'it has several values')
  if (type !== undefined) return { kind: 'typed', type, tree: members.get(`value${type}`), extra: members.get(`_value${type}`) }
  if (!members.has('part')) return undefined
  const parts: (readonly [string, PatchValue])[] = []
  for (const inner of await objectsAt(members, { name: 'part', within: `${placeOf(at)}.part` }, pace)) {
    const name = stringIn(inner.get('name'))
    const value = await valueIn(inner, at, pace)
    if (name === undefined || value === undefined) throw malformed(at, 'a part of its value has no name or no value')
    parts.push([name, value])
  }
  return { kind: 'parts', parts }
}

function malformed(at: number, problem: string): OperationError {
  return new OperationError('body-structure', `Operation ${at} of the patch is malformed: ${problem}.`, {
    expression: [placeOf(at)],
  })
}

function placeOf(at: number): string {
  return `Parameters.parameter[${at}]`
}
