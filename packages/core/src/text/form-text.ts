/** A time up to the sign of its zone, with plain or escaped colons. */
const ZONE = /(T\d\d(?::|%3A)\d\d(?:(?::|%3A)\d\d(?:\.\d{1,9})?)?)\+(?=\d\d(?::|%3A)\d\d)/gi

/**
 * Replaces the plus signs of a query or form part with spaces; the part stays percent-encoded. A plus before the zone of a time (`T10:00:00+01:00`) is
 * escaped instead, because clients that forget to escape it mean a plus.
 */
export function withBlanks(part: string): string {
  return part.includes('+') ? part.replace(ZONE, '$1%2B').replaceAll('+', ' ') : part
}
