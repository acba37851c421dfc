import { OperationError } from 'fhir-ops/errors'
import type { Population } from 'fhir-ops/internal/evaluate'
import { quoted } from 'fhir-ops/internal/errors'

const AGGREGATES: Readonly<Record<string, (values: readonly number[]) => number | undefined>> = {
  count: (values) => values.length,
  sum: sumOf,
  average: averageOf,
  mean: averageOf,
  median: medianOf,
  minimum: leastOf,
  min: leastOf,
  maximum: greatestOf,
  max: greatestOf,
  avg: averageOf,
}

/**
 * The function by which the observations of a population are put together (Quality Measure IG, aggregate method).
 *
 * @throws {OperationError} `definition-invalid` for a method that does not exist.
 */
export function aggregateOf({ aggregateMethod = 'count', place, path }: Population): (values: readonly number[]) => number | undefined {
  const name = aggregateMethod.toLowerCase()
  const aggregate = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined
  if (aggregate !== undefined) return aggregate
  throw new OperationError('definition-invalid', `${place}: ${quoted(aggregateMethod)} is no way to aggregate observations.`, {
    expression: [path],
  })
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function averageOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : sumOf(values) / values.length
}

function leastOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((least, value) => Math.min(least, value))
}

function greatestOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((greatest, value) => Math.max(greatest, value))
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [above, below] = [sorted[middle], sorted[middle - 1]]
  return sorted.length % 2 === 1 || above === undefined || below === undefined ? above : (above + below) / 2
}
