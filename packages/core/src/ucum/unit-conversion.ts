import { measureOf } from './measure.js'
import type { UnitConversion } from '../fhirpath/index.js'
import { type UcumLibrary, unitReader } from './unit-reader.js'

/** The factor by which an amount in the UCUM unit `from` is multiplied to be in `to`; `undefined` when they do not compare, or are not understood. */
export function convertUnit(from: string, to: string): number | undefined {
  if (from === to) return 1
  const [source, target] = [measureOf(from), measureOf(to)]
  return source === undefined || target === undefined || source.kind !== target.kind ? undefined : source.factor / target.factor
}

/**
 * Converts units with `@lhncbc/ucum-lhc`, those that it is rid of quickly without it. Units that do not start at the same zero, such as
 * degrees, or are not multiples of each other have no factor.
 */
export function ucumConversion(library: UcumLibrary): UnitConversion {
  const reader = unitReader(library)
  const converted = (from: string, amount: number, to: string): number | undefined => {
    const { status, toVal } = library.convertUnitTo(from, amount, to)
    return status === 'succeeded' && toVal !== null && Number.isFinite(toVal) ? toVal : undefined
  }
  return (from, to) => {
    const known = convertUnit(from, to)
    if (known !== undefined) return known
    if (reader.wrongIn(from) !== undefined || reader.wrongIn(to) !== undefined) return undefined
    const [source, target] = [reader.plain(from), reader.plain(to)]
    const [one, two] = [converted(source, 1, target), converted(source, 2, target)]
    return one !== undefined && two !== undefined && Math.abs(two - 2 * one) <= Math.abs(two) * ROUNDING ? one : undefined
  }
}

const ROUNDING = 1e-12
