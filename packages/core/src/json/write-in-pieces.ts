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
  if (valuesOf(data, piece) <= piece) return JSON.stringify(data)
  return isList(data) ? `[${(yield* itemTexts(data, piece)).join(',')}]` : `{${(yield* memberTexts(data, piece)).join(',')}}`
}

/** Texts of one item that is long, or of several that are not, with commas between them. */
function* itemTexts(list: readonly unknown[], piece: number): Work<readonly string[]> {
  const texts: string[] = []
  let run: unknown[] = []
  let values = 0
  const endRun = (): void => {
    if (run.length > 0) texts.push(JSON.stringify(run).slice(1, -1))
    run = []
    values = 0
  }
  for (const item of list) {
    const more = isContainer(item) ? valuesOf(item, piece) : 1
    if (values + more > piece) {
      endRun()
      yield
    }
    if (isContainer(item) && more > piece) texts.push(yield* writeInPieces(item, piece))
    else {
      run.push(item)
      values += more
    }
  }
  endRun()
  return texts
}

function* memberTexts(object: JsonObject, piece: number): Work<readonly string[]> {
  const texts: string[] = []
  for (const [name, value] of Object.entries(object)) {
    yield
    const text: string | undefined = isContainer(value) ? yield* writeInPieces(value, piece) : JSON.stringify(value)
    if (text !== undefined) texts.push(`${JSON.stringify(name)}:${text}`)
  }
  return texts
}

/** How many values the data has, itself included; when they are more than `most`, some number above it. */
function valuesOf(data: JsonObject | readonly unknown[], most: number): number {
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
