import { isObject } from '../../json/index.js'
import type { Comparison } from '../../storage/index.js'
import { splitUnescaped, unescaped } from '../written-values.js'
import { invalidValue, type Alternatives, type Ask, type SearchKind } from './kind.js'

/**
 * `near` of Location, the only special parameter of R4 with an expression: `latitude|longitude|distance|units`. The entry of a position has
 * its latitude as `low` and its longitude as `high`. The circle is covered by bands of latitude, each as wide as the widest part of the circle
 * in it, so that no position within the distance is missed, and no position is found that is more than a sixteenth further away.
 *
 * @see https://hl7.org/fhir/R4/location.html#positional
 */
export const nearKind: SearchKind = {
  name: 'special',
  fields: (value) => {
    const [latitude, longitude] = isObject(value) ? [value['latitude'], value['longitude']] : []
    return typeof latitude === 'number' && typeof longitude === 'number' ? [{ low: latitude, high: longitude }] : []
  },
  modifiers: [],
  negatable: false,
  alternatives: (ask) => bandsOf(circleOf(ask)).flatMap(bandTests),
  sortField: () => undefined,
}

/** A circle on the earth: its centre in degrees, and its radius as an angle. */
interface Circle {
  readonly latitude: number
  readonly longitude: number
  readonly angle: number
}

const EARTH_METRES = 6_371_008.8
/** About a quarter of the circumference of the earth, beyond which circles become smaller again. */
const MAX_METRES = 10_000_000
const DEGREES = 180 / Math.PI
const METRES: ReadonlyMap<string, number> = new Map([
  ['km', 1_000],
  ['m', 1],
  ['[mi_us]', 1_609.347_218_694],
  ['[mi_i]', 1_609.344],
])

function circleOf(ask: Ask): Circle {
  const [latitude, longitude, distance, unit, ...more] = splitUnescaped(ask.value, '|').map(unescaped)
  const metres = METRES.get(unit || 'km')
  if (metres === undefined || more.length > 0) throw invalid(ask)
  return {
    latitude: numberWithin(ask, latitude, [-90, 90]),
    longitude: numberWithin(ask, longitude, [-180, 180]),
    angle: (numberWithin(ask, distance, [0, MAX_METRES / metres]) * metres) / EARTH_METRES,
  }
}

function numberWithin(ask: Ask, text: string | undefined, [least, most]: readonly [number, number]): number {
  const number = Number(text)
  if (text === undefined || !/^-?\d{1,8}(?:\.\d{1,15})?$/.test(text) || number < least || number > most) throw invalid(ask)
  return number
}

function invalid(ask: Ask): Error {
  return invalidValue(ask, 'a position with a distance up to 10,000 km (latitude|longitude|distance|units, with km, m, [mi_us] or [mi_i])')
}

/** The part of a circle between two parallels, in degrees; `width` is the extent on each side of the longitude. */
interface Band {
  readonly south: number
  readonly north: number
  readonly longitude: number
  readonly width: number
}

const BANDS = 32

function bandsOf(circle: Circle): readonly Band[] {
  const { latitude, longitude, angle } = circle
  const radius = angle * DEGREES
  return Array.from({ length: BANDS }, (_, index) => {
    const south = Math.max(-90, latitude - radius + (2 * radius * index) / BANDS)
    const north = Math.min(90, latitude - radius + (2 * radius * (index + 1)) / BANDS)
    return { south, north, longitude, width: widthBetween(circle, south, north) }
  }).filter(({ south, north }) => south <= north)
}

/** Returns the greatest width in a band. The circle is widest at the parallel, towards the pole, where meridians touch it. */
function widthBetween(circle: Circle, south: number, north: number): number {
  const widest = Math.asin(Math.min(1, Math.max(-1, Math.sin(circle.latitude / DEGREES) / Math.cos(circle.angle)))) * DEGREES
  return widthAt(circle, Math.min(north, Math.max(south, widest)))
}

/** Returns half the width of the circle on a parallel, in degrees, from cos(angle) = sin(a) sin(b) + cos(a) cos(b) cos(width). */
function widthAt({ latitude, angle }: Circle, parallel: number): number {
  const [a, b] = [latitude / DEGREES, parallel / DEGREES]
  const across = Math.cos(a) * Math.cos(b)
  const cosine = (Math.cos(angle) - Math.sin(a) * Math.sin(b)) / across
  if (across < 1e-12 || cosine <= -1) return 180
  return Math.acos(Math.min(1, cosine)) * DEGREES
}

/** Creates the comparisons of a band: two alternatives if it crosses the meridian of 180 degrees, without longitude if it surrounds a pole. */
function bandTests({ south, north, longitude, width }: Band): Alternatives {
  const between = (field: 'low' | 'high', from: number, to: number): readonly Comparison[] => [
    { field, op: 'ge', operand: from },
    { field, op: 'le', operand: to },
  ]
  if (width === 180) return [between('low', south, north)]
  const turns = [-360, 0, 360].map((turn) => [longitude - width + turn, longitude + width + turn] as const)
  const spans = turns.filter(([west, east]) => east >= -180 && west <= 180)
  return spans.map(([west, east]) => [...between('low', south, north), ...between('high', west, east)])
}
