import { readFile } from 'node:fs/promises'
import type { Finding, JsonPatch } from 'fhir-ops/validate'
import { OperationError } from 'fhir-ops/errors'
import { replaceText } from '../files.js'
import { isJson } from '../json-fault.js'
import type { Source } from '../load/sources.js'
import type { ResourceResult } from './report.js'

/** Maximum number of rounds, because fixes may reveal what others can fix. */
const MAX_ROUNDS = 5

/** A text after all fixes, with the changes and the remaining findings. */
interface Fixed {
  readonly text: string
  readonly diffs: readonly string[]
  readonly result: ResourceResult
}

/** Applies the fixes of findings, the last first so that list positions stay valid, and validates again, until there are none left. */
export async function fixAll(text: string, validated: (text: string) => Promise<ResourceResult>): Promise<Fixed> {
  const diffs: string[] = []
  let current = text
  let result = await validated(current)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fixes = fixesIn(result.findings)
    // Invalid JSON has no fix, and prevents others.
    if (fixes.length === 0 || !isJson(current)) break
    for (const fix of fixes) {
      const next = fixText(current, fix)
      diffs.push(diffOf(current, next))
      current = next
    }
    result = await validated(current)
  }
  return { text: current, diffs, result }
}

/** Returns one fix per place. */
function fixesIn(findings: readonly Finding[]): readonly JsonPatch[] {
  const fixes = new Map(findings.flatMap(({ fix }) => (fix === undefined ? [] : [[JSON.stringify(fix[0]), fix] as const])))
  return [...fixes.values()].toReversed()
}

const CONTEXT = 1
const MAX_LINE = 160

/** Returns the differing lines, with one line before and after. */
function diffOf(before: string, after: string): string {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const lines = [
    ...a.slice(Math.max(0, start - CONTEXT), start).map((line) => `  ${line}`),
    ...a.slice(start, a.length - end).map((line) => `- ${line}`),
    ...b.slice(start, b.length - end).map((line) => `+ ${line}`),
    ...a.slice(a.length - end, a.length - end + CONTEXT).map((line) => `  ${line}`),
  ]
  return [`@@ -${start + 1} +${start + 1} @@`, ...lines.map((line) => line.slice(0, MAX_LINE))].join('\n')
}

/**
 * Writes fixed texts to their files: the whole of a `.json` file, or lines of an `.ndjson` file.
 *
 * @throws {OperationError} `parameter-value` for texts that do not come from a plain file.
 */
export async function writeFixed(fixed: readonly { readonly source: Source; readonly text: string }[]): Promise<void> {
  const byFile = Map.groupBy(fixed, ({ source }) => source.file)
  for (const [file, changes] of byFile) {
    if (file === 'stdin' || !/\.(nd)?json$/.test(file) || changes.some(({ source }) => source.origin !== undefined))
      throw new OperationError('parameter-value', `${file} is not a .json or .ndjson file, so its fixes cannot be written.`)
    if (file.endsWith('.ndjson')) await writeLines(file, new Map(changes.map(({ source, text }) => [source.line, text])))
    else for (const { text } of changes) await replaceText(file, text)
  }
}

async function writeLines(file: string, texts: ReadonlyMap<number, string>): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  await replaceText(file, lines.map((line, index) => texts.get(index + 1) ?? line).join('\n'))
}

type PatchOperation = JsonPatch[number]

/** JSON as written, including white space, so that a change leaves everything else unchanged. */
type Value = Plain | Container

interface Plain {
  readonly kind: 'plain'
  readonly text: string
}

interface Container {
  readonly kind: 'object' | 'list'
  readonly members: Member[]
  /** White space inside an empty object or list. */
  readonly empty: string
}

interface Member {
  /** White space before the name, or before a list item. */
  readonly before: string
  /** Name in quotes, colon and white space; empty in a list. */
  name: string
  value: Value
  /** White space up to the comma or bracket. */
  after: string
}

/**
 * Applies a fix to a text: removes, replaces or renames members, and wraps values in lists or unwraps them. Digits and layout of everything else stay
 * unchanged.
 *
 * @param text Valid JSON.
 * @throws {RangeError} if there is nothing at a pointer of the fix.
 */
export function fixText(text: string, fix: JsonPatch): string {
  const root: Container = { kind: 'list', members: [readJson(text)], empty: '' }
  const wrapped = listedBy(fix)
  if (wrapped === undefined) for (const operation of fix) change(root, operation)
  else wrap(memberAt(root, wrapped))
  return root.members.map(written).join('')
}

/** Returns the pointer of a value that a fix wraps in a list: the fix moves the value aside, adds an empty list, and moves the value into it. */
function listedBy(fix: JsonPatch): string | undefined {
  const [first, second] = fix
  return first?.op === 'move' && second?.op === 'add' && first.from === second.path && Array.isArray(second.value) ? first.from : undefined
}

function wrap(member: Member): void {
  member.value = { kind: 'list', members: [{ before: '', name: '', value: member.value, after: '' }], empty: '' }
}

function change(root: Container, operation: PatchOperation): void {
  if (operation.op === 'remove') remove(root, operation.path)
  else if (operation.op === 'move') move(root, operation)
  else memberAt(root, operation.path).value = { kind: 'plain', text: JSON.stringify(operation.value) }
}

function remove(root: Container, pointer: string): void {
  const { members } = containerOf(root, pointer)
  const index = members.indexOf(memberAt(root, pointer))
  const last = members.at(index - 1)
  const [removed] = members.splice(index, 1)
  if (last !== undefined && removed !== undefined && index === members.length) last.after = removed.after
}

/** Renames a member, or replaces a list by its only item. */
function move(root: Container, { from, path }: Extract<PatchOperation, { op: 'move' }>): void {
  const member = memberAt(root, from)
  if (from === `${path}/0`) memberAt(root, path).value = member.value
  else member.name = member.name.replace(/^"(?:[^"\\]|\\.)*"/, JSON.stringify(keysOf(path).at(-1)))
}

function keysOf(pointer: string): readonly string[] {
  return pointer.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function containerOf(root: Container, pointer: string): Container {
  const { value } = memberAt(root, pointer.slice(0, pointer.lastIndexOf('/')))
  if (value.kind === 'plain') throw new RangeError(`There is nothing in ${pointer}.`)
  return value
}

/** Returns the member at a pointer; the empty pointer is that of the root's only member. */
function memberAt(root: Container, pointer: string): Member {
  let found = root.members[0]
  for (const key of keysOf(pointer).slice(1)) {
    const inner: Container | undefined = found?.value.kind === 'plain' ? undefined : found?.value
    found = inner?.kind === 'list' ? inner.members[Number(key)] : inner?.members.find(({ name }) => nameIn(name) === key)
  }
  if (found === undefined) throw new RangeError(`There is nothing at ${pointer}.`)
  return found
}

function nameIn(name: string): unknown {
  return JSON.parse(name.slice(0, name.lastIndexOf(':')))
}

function written({ before, name, value, after }: Member): string {
  return `${before}${name}${textOf(value)}${after}`
}

function textOf(value: Value): string {
  if (value.kind === 'plain') return value.text
  const inner = value.members.length === 0 ? value.empty : value.members.map(written).join(',')
  return value.kind === 'object' ? `{${inner}}` : `[${inner}]`
}

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const WORD = /[^ \t\r\n,\]}]+/y

/** Parses the whole text as a member without a name. */
function readJson(text: string): Member {
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const value = (): Value => {
    const opening = text[at]
    if (opening === '{' || opening === '[') return container(opening === '{' ? 'object' : 'list')
    return { kind: 'plain', text: opening === '"' ? take(STRING) : take(WORD) }
  }
  const container = (kind: Container['kind']): Container => {
    const members: Member[] = []
    let before = ''
    do {
      at++
      before = take(SPACE)
      if (members.length === 0 && /[\]}]/.test(text[at] ?? '')) break
      const name = kind === 'object' ? take(STRING) + take(SPACE) + text.slice(at, ++at) + take(SPACE) : ''
      members.push({ before, name, value: value(), after: take(SPACE) })
    } while (text[at] === ',')
    at++
    return { kind, members, empty: members.length === 0 ? before : '' }
  }
  const before = take(SPACE)
  return { before, name: '', value: value(), after: text.slice(at) }
}
