import { epochMs, HOUR, type Temporal } from './temporal.js'

/**
 * Compares two dates or times: negative, zero or positive; `undefined` when that depends on what a partial value leaves open, when
 * only one has a time zone and both have a time, or when one is a time and the other is not.
 */
export function compareTemporals(left: Temporal, right: Temporal): number | undefined {
  if ((left.kind === 'time') !== (right.kind === 'time')) return undefined
  if (left.kind === 'time' || left.fields.length <= HOUR || right.fields.length <= HOUR) return compareFields(left, right)
  if ((left.offset === undefined) !== (right.offset === undefined)) return farApart(left, right)
  return compareFields(inUtc(left), inUtc(right))
}

/** Whether both have the same fields and no difference; never unknown. */
export function sameTemporal(left: Temporal, right: Temporal): boolean {
  return left.fields.length === right.fields.length && compareTemporals(left, right) === 0
}

function compareFields(left: Temporal, right: Temporal): number | undefined {
  const shared = Math.min(left.fields.length, right.fields.length)
  for (let i = 0; i < shared; i++) {
    const difference = (left.fields[i] ?? 0) - (right.fields[i] ?? 0)
    if (difference !== 0) return difference
  }
  return left.fields.length === right.fields.length ? 0 : undefined
}

const MAX_ZONE_DISTANCE_MS = 26 * 3_600_000

/** A missing time zone leaves the order open only where zones could change it. */
function farApart(left: Temporal, right: Temporal): number | undefined {
  const difference = epochMs(left) - epochMs(right)
  return Math.abs(difference) > MAX_ZONE_DISTANCE_MS ? difference : undefined
}

function inUtc(value: Temporal): Temporal {
  if (value.offset === undefined || value.offset === 0) return value
  const moment = new Date(epochMs({ ...value, fields: value.fields.slice(0, 5) }))
  const fields = [
    moment.getUTCFullYear(),
    moment.getUTCMonth() + 1,
    moment.getUTCDate(),
    moment.getUTCHours(),
    moment.getUTCMinutes(),
    value.fields[5] ?? 0,
  ]
  return { ...value, fields: fields.slice(0, value.fields.length), offset: 0 }
}
