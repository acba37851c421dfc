import type { UnitConversion } from '../../fhirpath/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import type { GroupPlan, Population } from '../measure-plan.js'
import type { Membership } from '../membership.js'
import { compareText, type Amount } from './sums.js'

/** The score from observations. */
export interface ObservedScore {
  readonly score?: number | undefined
  /** The UCUM unit of the score; absent for a number. */
  readonly scoreUnit?: string | undefined
}

interface Observing {
  readonly group: GroupPlan
  readonly memberships: readonly Membership[]
  /** By population. */
  readonly observations: readonly (readonly Amount[])[]
  readonly convert: UnitConversion | undefined
}

/** An aggregate of observations. */
interface Aggregate {
  /** Kinds of the observed population. */
  readonly kinds: readonly string[]
  readonly value: number | undefined
  readonly unit: string | undefined
}

/**
 * The score from observations: their aggregate or, for a ratio, the quotient of two. Sums do not depend on the order of subjects.
 *
 * @throws {OperationError} `definition-invalid` for an unknown aggregate method, and for observations whose units cannot be compared.
 */
export function observedScore({ group, memberships, observations, convert }: Observing): ObservedScore {
  const aggregates = memberships.flatMap(({ observed }, index): readonly Aggregate[] => {
    const population = group.populations[index]
    if (observed === undefined || population === undefined) return []
    return [{ kinds: group.populations[observed]?.kinds ?? [], ...aggregateOf(population, observations[index] ?? [], convert) }]
  })
  const [first] = aggregates
  if (group.scoring === 'continuous-variable')
    return { score: first?.value, scoreUnit: first?.value === undefined ? undefined : first.unit }
  const above = aggregates.find(({ kinds }) => kinds.includes('numerator'))
  const below = aggregates.find(({ kinds }) => kinds.includes('denominator'))
  if (above?.value === undefined || below?.value === undefined || below.value === 0) return {}
  return { score: above.value / (below.value * factorOf(below.unit, above.unit, convert)) }
}

/** The factor that converts the denominator to the unit of the numerator; amounts that cannot be converted are divided unchanged. */
function factorOf(from: string | undefined, to: string | undefined, convert: UnitConversion | undefined): number {
  return from === undefined || to === undefined || from === to ? 1 : (convert?.(from, to) ?? 1)
}

function aggregateOf(
  population: Population,
  observations: readonly Amount[],
  convert: UnitConversion | undefined,
): Omit<Aggregate, 'kinds'> {
  const aggregate = methodOf(population)
  if (aggregate === countOf) return { value: observations.length, unit: undefined }
  const unit = commonUnit(population, observations, convert)
  const values = observations.map((amount) => (typeof amount === 'number' ? amount : inUnit(amount, unit, convert)))
  return { value: aggregate(values.toSorted((one, other) => one - other)), unit }
}

/** The first unit of the observations, in the order of texts; all others must be convertible to it. */
function commonUnit({ place, path }: Population, observations: readonly Amount[], convert: UnitConversion | undefined): string | undefined {
  const units = [...new Set(observations.map((amount) => (typeof amount === 'number' ? '1' : amount.unit)))].toSorted(compareText)
  const [first, ...others] = units
  const other = others.find((unit) => convert?.(unit, first ?? '') === undefined)
  if (other === undefined) return first === '1' ? undefined : first
  throw new OperationError(
    'definition-invalid',
    `${place} gives amounts in ${quoted(first ?? '')} and in ${quoted(other)}, which do not compare.`,
    {
      expression: [path],
    },
  )
}

function inUnit({ value, unit }: Exclude<Amount, number>, wanted = '1', convert: UnitConversion | undefined): number {
  return unit === wanted ? value : value * (convert?.(unit, wanted) ?? 1)
}

/** Aggregates values that are sorted in ascending order. */
type Method = (values: readonly number[]) => number | undefined

const METHODS: Readonly<Record<string, Method>> = {
  count: countOf,
  sum: totalOf,
  average: averageOf,
  mean: averageOf,
  median: medianOf,
  minimum: leastOf,
  min: leastOf,
  maximum: greatestOf,
  max: greatestOf,
  avg: averageOf,
}

/** The function that aggregates the observations of a population (Quality Measure IG, aggregate method). */
function methodOf({ aggregateMethod = '', place, path }: Population): Method {
  const name = aggregateMethod.toLowerCase()
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (method !== undefined) return method
  throw new OperationError('definition-invalid', `${place}: ${quoted(aggregateMethod)} is not a way to aggregate observations.`, {
    expression: [path],
  })
}

function countOf(values: readonly number[]): number {
  return values.length
}

/** As in CQL, an empty list has no sum. */
function totalOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
}

function averageOf(values: readonly number[]): number | undefined {
  const total = totalOf(values)
  return total === undefined ? undefined : total / values.length
}

function leastOf(values: readonly number[]): number | undefined {
  return values[0]
}

function greatestOf(values: readonly number[]): number | undefined {
  return values.at(-1)
}

function medianOf(values: readonly number[]): number | undefined {
  const middle = Math.floor(values.length / 2)
  const [above, below] = [values[middle], values[middle - 1]]
  return values.length % 2 === 1 || above === undefined || below === undefined ? above : (above + below) / 2
}
