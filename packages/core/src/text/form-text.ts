/** A time up to the sign of its zone, with colons as they are or escaped. */
const ZONE = /(T\d\d(?::|%3A)\d\d(?:(?::|%3A)\d\d(?:\.\d{1,9})?)?)\+(?=\d\d(?::|%3A)\d\d)/gi

/**
 * A part of a query or form with its blanks, still percent-encoded: a plus is a blank, except before the zone of a time (`T10:00:00+01:00`), where it
 * is what was meant by those who did not escape it.
 */
export function withBlanks(part: string): string {
  return part.includes('+') ? part.replace(ZONE, '$1%2B').replaceAll('+', ' ') : part
}
