/** A System.Decimal: its value, and the number of its decimal places. Exact to 15 significant digits. */
export interface Decimal {
  readonly kind: 'decimal'
  readonly value: number
  readonly places: number
}

/** Maximum number of decimal places in results. */
const MAX_PLACES = 15

/** Creates a decimal, rounded to its places. */
export function decimal(value: number, places: number): Decimal {
  const kept = Math.min(places, MAX_PLACES)
  return { kind: 'decimal', value: roundTo(value, kept), places: kept }
}

/** Creates the decimal of a JSON number, whose trailing zeros are already lost. */
export function decimalOf(value: number): Decimal {
  return { kind: 'decimal', value, places: placesOf(value) }
}

/** Parses `12`, `-0.50`, `+3.1`; `undefined` for any other text. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^[+-]?\d{1,30}(?:\.(\d{1,30}))?$/.exec(text)
  return match === null ? undefined : { kind: 'decimal', value: Number(text), places: match[1]?.length ?? 0 }
}

/** Writes a decimal with all its places. */
export function decimalText({ value, places }: Decimal): string {
  return Math.abs(value) < 1e21 ? value.toFixed(Math.min(places, 100)) : String(value)
}

/** Rounds half away from zero, without the error of binary fractions. */
export function roundTo(value: number, places: number): number {
  const shifted = Number(`${Math.abs(value)}e${places}`)
  if (!Number.isFinite(shifted) || shifted > Number.MAX_SAFE_INTEGER) return value
  return Math.sign(value) * Number(`${Math.round(shifted)}e-${places}`)
}

/** Returns the number of decimal places in the shortest form of a number. */
export function placesOf(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const dot = mantissa.indexOf('.')
  return Math.max(0, (dot < 0 ? 0 : mantissa.length - dot - 1) - Number(exponent))
}
