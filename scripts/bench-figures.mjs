// Which cells of a bench's tables are figures of ours, and how figures of two runs compare.
import { tablesIn } from './tables.mjs'

/** Other people's software in our tables: it says how busy the machine is, and is not ours to make faster. */
const PEER = /@medplum\/core|AJV|JSON\.parse|cql-execution|fqm-execution|FTS5|scan of all|bare|HL7's validator/
/** A single worst moment, which no three runs can compare. */
const WORST = /^p99\b|longest stretch/
const GROWTH = 1.1

/**
 * The figures of our own in tables of a bench: a name of row and column, the value, which way is better, and whether it grows with the speed of the
 * machine. A heading tells by its unit: `µs`, `ms`, `MB` and `bytes` are better when less, `/s` and `times as fast` when more. A heading without a
 * unit has that of the table's first heading. Of `p50 / p99` the first is taken.
 */
export function figuresIn(text) {
  return tablesIn(text).flatMap(({ headings, rows }) => {
    const columns = headings.map((heading, at) => kindOf(heading) ?? (at > 0 && !isLabel(heading) ? kindOf(headings[0]) : undefined))
    const first = headings.findIndex((_, at) => columns[at] !== undefined && rows.some((row) => !Number.isNaN(numberIn(row[at]))))
    return rows.flatMap((row) => {
      const label = row.slice(0, first).join(', ')
      return row.flatMap((cell, at) => {
        const kind = at < first ? undefined : columns[at]
        const value = numberIn(cell)
        if (kind === undefined || Number.isNaN(value) || value === 0 || isOfPeer(label, headings[at])) return []
        return [{ name: [label, headings[at]].filter((part) => part !== '').join(': '), value, ...kind }]
      })
    })
  })
}

function kindOf(heading) {
  if (WORST.test(heading)) return undefined
  if (/^[\w-]+ : /.test(heading)) return { better: 'less', isRatio: true }
  if (/ : [\w-]+$|times as fast/.test(heading)) return { better: 'more', isRatio: true }
  if (/\/s\b/.test(heading)) return { better: 'more', isRatio: false }
  if (/(µs|\bms)\b/.test(heading)) return { better: 'less', isRatio: false }
  if (/\b(MB|bytes)\b/.test(heading)) return { better: 'less', isRatio: true }
  return undefined
}

/** Columns that say what a row is about, or what came out. */
function isLabel(heading) {
  return /^(p99.*|longest stretch.*|calls|called invalid|answer|counts|aim|patients|resources|of)$/.test(heading)
}

function isOfPeer(label, heading) {
  return PEER.test(label) || (PEER.test(heading) && !/ : |times as fast/.test(heading))
}

function numberIn(cell) {
  const [, digits] = /^(-?[\d,]+(?:\.\d+)?)(?: \/ .*)?$/.exec(cell ?? '') ?? []
  return digits === undefined ? Number.NaN : Number(digits.replaceAll(',', ''))
}

/**
 * Compares runs with those before them, pair by pair.
 *
 * @param pairs Texts of both runs, and how many times as fast the machine was in the run before: `speedBetween` when they are of different times, 1 when they
 * were made in turns.
 * @returns A row for each figure that both have: the middle of both, how many times as good it is now in the middle, at least and at most, and the `verdict`:
 * `worse` or `better` when every pair says so by more than a tenth, otherwise `same`.
 */
export function comparison(pairs) {
  const read = pairs.map(({ before, now, speed }) => ({ before: byName(before), now: byName(now), speed }))
  const names = [...(read[0]?.now.keys() ?? [])].filter((name) => read.every(({ before, now }) => before.has(name) && now.has(name)))
  return names.map((name) => {
    const ratios = read
      .map(({ before, now, speed }) => timesAsGood(before.get(name), now.get(name), speed))
      .toSorted((one, other) => one - other)
    const [least, most] = [ratios[0], ratios.at(-1)]
    const middleOf = (side) => middle(read.map((pair) => pair[side].get(name).value))
    return { name, before: middleOf('before'), now: middleOf('now'), middle: middle(ratios), least, most, verdict: verdictOf(least, most) }
  })
}

/** How many times as fast the machine was in one run as in another. */
export function speedBetween(before, now) {
  return calibrationIn(now) / calibrationIn(before)
}

/** The time of a fixed piece of work in the run, in ms. */
function calibrationIn(text) {
  const found = /calibration ([\d.]+)/.exec(text)?.[1]
  if (found === undefined) throw new Error('The output of a bench has no line with its calibration.')
  return Number(found)
}

function byName(text) {
  return new Map(figuresIn(text).map((figure) => [figure.name, figure]))
}

function middle(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
}

/** What took 10 ms on a machine that was twice as fast would take 20 ms on this one. */
function timesAsGood(old, own, speed) {
  const scale = own.isRatio ? 1 : speed
  return own.better === 'less' ? (old.value * scale) / own.value : (own.value * scale) / old.value
}

function verdictOf(least, most) {
  if (most < 1 / GROWTH) return 'worse'
  return least > GROWTH ? 'better' : 'same'
}
