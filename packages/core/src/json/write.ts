import type { Work } from '../work/index.js'
import type { JsonObject } from './narrow.js'

/** Values that are written in one go. */
const PIECE = 1_000

/**
 * What `JSON.stringify` gives for JSON data, written in pieces where it is long: it yields in between, so that other work can run.
 *
 * @param piece How many values are written in one go, those in them counted; default 1,000. A single string is written as a whole.
 */
export function* writeInPieces(data: JsonObject | readonly unknown[], piece: number = PIECE): Work<string> {
  const texts: string[] = []
  yield* write(data, piece, texts)
  // Once for all: in each list and object by itself it would copy what is in them again.
  return texts.join('')
}

function* write(data: JsonObject | readonly unknown[], piece: number, into: string[]): Work<void> {
  // The names of an object with very many take long to list: that is done once.
  const names = isList(data) ? undefined : Object.keys(data)
  if (!isList(data) && names !== undefined && names.length > piece) {
    yield
    yield* writeMembers(data, names, { piece, into })
  } else if (isShort(data, piece)) into.push(JSON.stringify(data))
  else yield* writeLong(data, piece, into)
}

function* writeLong(data: JsonObject | readonly unknown[], piece: number, into: string[]): Work<void> {
  yield
  yield* isList(data) ? writeItems(data, piece, into) : writeMembers(data, Object.keys(data), { piece, into })
}

/** Writes items that are long one by one, others several at a time. */
function* writeItems(list: readonly unknown[], piece: number, into: string[]): Work<void> {
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
      yield* writeLong(item, piece, into)
    } else {
      run.push(item)
      values += more
    }
  }
  endRun()
  into.push(']')
}

function* writeMembers(
  object: JsonObject,
  names: readonly string[],
  { piece, into }: { readonly piece: number; readonly into: string[] },
): Work<void> {
  let between = ''
  into.push('{')
  for (const name of names) {
    yield
    const value = object[name]
    const text: string | undefined = isContainer(value) ? '' : JSON.stringify(value)
    if (text === undefined) continue
    into.push(`${between}${JSON.stringify(name)}:${text}`)
    between = ','
    if (isContainer(value)) yield* write(value, piece, into)
  }
  into.push('}')
}

function isShort(data: JsonObject | readonly unknown[], piece: number): boolean {
  return valuesOf(data, piece) <= piece
}

/** How many values the data has, itself included; when they are more than `most`, some number above it. */
function valuesOf(data: JsonObject | readonly unknown[], most: number): number {
  const { length } = isList(data) ? data : Object.keys(data)
  // The values of an object with very many names take far longer to list than the names.
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
