import type { Work } from '../work/index.js'
import type { JsonObject } from './narrow.js'

/** Number of values that are written in one go. */
const PIECE = 1_000

/** Depth to which long lists and objects are written in pieces; deeper ones are written in one go. */
const DEEPEST = 64

/**
 * Writes JSON data with the result of `JSON.stringify`, in pieces if it is long. Yields between pieces, so that other work can run.
 *
 * @param piece Number of values, including nested ones, that are written in one go; default 1,000. A single string is written as a whole.
 */
export function* writeInPieces(data: JsonObject | readonly unknown[], piece: number = PIECE): Work<string> {
  const texts: string[] = []
  yield* write(data, { piece, into: texts, depth: 1 })
  // Joined only once, because joining at each level would copy nested texts repeatedly.
  return texts.join('')
}

interface Writing {
  readonly piece: number
  readonly into: string[]
  /** Depth of the list or object that is written. */
  readonly depth: number
}

function* write(data: JsonObject | readonly unknown[], writing: Writing): Work<void> {
  const { piece, into, depth } = writing
  // Listing the names of an object with very many members is slow, so it is done once.
  const names = isList(data) ? [] : Object.keys(data)
  if (names.length <= piece && (depth > DEEPEST || isShort(data, piece))) {
    into.push(JSON.stringify(data))
    return
  }
  yield
  yield* isList(data) ? writeItems(data, writing) : writeMembers(data, names, writing)
}

/** Writes long items one by one, and short items several at a time. */
function* writeItems(list: readonly unknown[], writing: Writing): Work<void> {
  const { piece, into, depth } = writing
  let between = ''
  let run: unknown[] = []
  let values = 0
  const put = (...texts: readonly string[]): void => {
    into.push(between, ...texts)
    between = ','
  }
  const endRun = (): void => {
    if (run.length > 0) put(JSON.stringify(run).slice(1, -1))
    run = []
    values = 0
  }
  into.push('[')
  for (const item of list) {
    const more = isContainer(item) ? valuesOf(item, piece) : 1
    if (values + more > piece) {
      endRun()
      yield
    }
    if (isContainer(item) && more > piece) {
      put()
      yield* write(item, { ...writing, depth: depth + 1 })
    } else {
      run.push(item)
      values += more
    }
  }
  endRun()
  into.push(']')
}

function* writeMembers(object: JsonObject, names: readonly string[], writing: Writing): Work<void> {
  const { into, depth } = writing
  let between = ''
  into.push('{')
  for (const name of names) {
    yield
    const value = object[name]
    const text: string | undefined = isContainer(value) ? '' : JSON.stringify(value)
    if (text === undefined) continue
    into.push(`${between}${JSON.stringify(name)}:${text}`)
    between = ','
    if (isContainer(value)) yield* write(value, { ...writing, depth: depth + 1 })
  }
  into.push('}')
}

function isShort(data: JsonObject | readonly unknown[], piece: number): boolean {
  return valuesOf(data, piece) <= piece
}

/** Number of values in the data, including itself; if it exceeds `most`, any number above `most`. */
function valuesOf(data: JsonObject | readonly unknown[], most: number): number {
  const { length } = isList(data) ? data : Object.keys(data)
  // For an object with very many members, listing the values takes far longer than listing the names.
  if (length > most) return length
  let values = 1
  for (const value of isList(data) ? data : Object.values(data)) {
    values += isContainer(value) ? valuesOf(value, most - values) : 1
    if (values > most) break
  }
  return values
}

function isContainer(value: unknown): value is JsonObject | readonly unknown[] {
  return typeof value === 'object' && value !== null
}

function isList(data: JsonObject | readonly unknown[]): data is readonly unknown[] {
  return Array.isArray(data)
}
