/** A System.Decimal: its value, and how many digits after the point it was written with. Exact to 15 significant digits. */
export interface Decimal {
  readonly kind: 'decimal'
  readonly value: number
  readonly places: number
}

/** Most digits after the point that results keep. */
const MAX_PLACES = 15

/** Makes a decimal, rounded to its places. */
export function decimal(value: number, places: number): Decimal {
  const kept = Math.min(places, MAX_PLACES)
  return { kind: 'decimal', value: roundTo(value, kept), places: kept }
}

/** The decimal of a JSON number; JSON has already dropped trailing zeros. */
export function decimalOf(value: number): Decimal {
  return { kind: 'decimal', value, places: placesOf(value) }
}

/** Reads `12`, `-0.50`, `+3.1`; `undefined` for anything else. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^[+-]?\d{1,30}(?:\.(\d{1,30}))?$/.exec(text)
  return match === null ? undefined : { kind: 'decimal', value: Number(text), places: match[1]?.length ?? 0 }
}

/** Writes a decimal with all its places. */
export function decimalText({ value, places }: Decimal): string {
  return Math.abs(value) < 1e21 ? value.toFixed(Math.min(places, 100)) : String(value)
}

/** Rounds half away from zero at the digit, without the error of binary fractions. */
export function roundTo(value: number, places: number): number {
  const shifted = Number(`${Math.abs(value)}e${places}`)
  if (!Number.isFinite(shifted) || shifted > Number.MAX_SAFE_INTEGER) return value
  return Math.sign(value) * Number(`${Math.round(shifted)}e-${places}`)
}

/** Digits after the point in the shortest spelling of a number. */
export function placesOf(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const dot = mantissa.indexOf('.')
  return Math.max(0, (dot < 0 ? 0 : mantissa.length - dot - 1) - Number(exponent))
}
