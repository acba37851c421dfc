import { measureOf } from './measure.js'

/** The factor by which an amount in the UCUM unit `from` is multiplied to be in `to`; `undefined` when they do not compare, or are not understood. */
export function convertUnit(from: string, to: string): number | undefined {
  if (from === to) return 1
  const [source, target] = [measureOf(from), measureOf(to)]
  return source === undefined || target === undefined || source.kind !== target.kind ? undefined : source.factor / target.factor
}
