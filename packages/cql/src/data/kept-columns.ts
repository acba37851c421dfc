import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import type { Column } from '../compile/compiler.js'
import type { ElmNode } from '../elm/node.js'
import type { UnitConversion } from '../values/units.js'
import { isList, type Value } from '../values/value.js'

/** What was found out about the elements of a population that is kept. */
export interface KeptColumns {
  /** The columns of nodes that are compiled for a conversion of units. */
  of(nodes: readonly ElmNode[], convert: UnitConversion): readonly Column[]
  /** When resources were, by what element: `Encounter`, `period`. */
  readonly spans: KeptSpans
  /** How much memory they take, by an estimate. */
  bytes(): number
  /** How much they may take; who has more from now on keeps what it has. */
  limit(bytes: number): void
}

/** The spans of resources of a type by an element. */
export type KeptSpans = (type: string, path: string) => Spans

/** First and last moment, in milliseconds since 1970, by the number of the resource; `NaN` and `undefined` where they are not known yet. */
export interface Spans {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  set(at: number, start: number, end: number): void
}

const WORD = 8
/** Libraries that are replaced over and over leave columns behind. */
const MOST_COLUMNS = 2_000

/** @param conversion What the columns hold for: units are compared in some. */
export function createKeptColumns(): KeptColumns {
  let columns = new Map<ElmNode, Column>()
  let spans = new Map<string, Spans>()
  let conversion: UnitConversion | undefined
  const room = { used: 0, most: 0 }
  const clear = (): void => {
    columns = new Map()
    spans = new Map()
    room.used = 0
  }
  return {
    of: (nodes, convert) => {
      if (convert !== conversion || columns.size > MOST_COLUMNS) clear()
      conversion = convert
      return nodes.map((node) => {
        const column = columns.get(node) ?? createColumn(room)
        columns.set(node, column)
        return column
      })
    },
    spans: (type, path) => {
      const key = `${type}.${path}`
      const known = spans.get(key) ?? createSpans(room)
      spans.set(key, known)
      return known
    },
    bytes: () => room.used,
    limit: (bytes) => {
      room.most = bytes
    },
  }
}

interface Room {
  used: number
  most: number
}

/** The numbers of elements are those of their type; a node of which elements of another type are asked, too, is remembered for the first. */
function createColumn(room: Room): Column {
  const values: (Value | undefined)[] = []
  let own: TypeDefinition | undefined
  return {
    get: ({ type, at }) => (type === own ? values[at] : undefined),
    set: ({ type, at }, value) => {
      own ??= type
      const longer = at < values.length ? 0 : at + 1 - values.length
      const bytes = WORD * longer + bytesOf(value)
      if (type !== own || room.used + bytes > room.most) return
      room.used += bytes
      while (values.length <= at) values.push(undefined)
      values[at] = value
    },
  }
}

function createSpans(room: Room): Spans {
  const [starts, ends]: [number[], number[]] = [[], []]
  return {
    starts,
    ends,
    set: (at, start, end) => {
      const bytes = at < ends.length ? 0 : 2 * WORD * (at + 1 - ends.length)
      if (room.used + bytes > room.most) return
      room.used += bytes
      while (ends.length <= at) {
        starts.push(Number.NaN)
        ends.push(Number.NaN)
      }
      starts[at] = start
      ends[at] = end
    },
  }
}

const OBJECT = 64
/** A date with its fields. */
const TEMPORAL = 200

/** About how much memory a value takes; FHIR elements hold on to JSON that is kept anyway. */
function bytesOf(value: Value): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  if (isList(value)) return value.reduce<number>((sum, item) => sum + WORD + bytesOf(item), OBJECT)
  switch (value.kind) {
    case 'date':
    case 'dateTime':
    case 'time':
      return TEMPORAL
    case 'interval':
      return OBJECT + bytesOf(value.low) + bytesOf(value.high)
    case 'tuple':
      return [...value.elements.values()].reduce<number>((sum, element) => sum + OBJECT + bytesOf(element), OBJECT)
    case 'concept':
      return OBJECT + OBJECT * value.codes.length
    case 'ratio':
      return 6 * OBJECT
    default:
      return 2 * OBJECT
  }
}
