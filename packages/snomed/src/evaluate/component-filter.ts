import type { ComponentFilter } from '../ecl/index.js'
import type { Work } from 'fhir-ops/work'
import { compares } from './attribute-test.js'
import { conceptsIn, type EclScope } from './ecl-scope.js'

/** What every component says about itself. */
export interface Component {
  readonly active: boolean
  readonly module: string
  /** `YYYYMMDD` as a number. */
  readonly effectiveTime: number
}

/** A test for a filter that components of every kind can have. */
export function* componentTest(scope: EclScope, filter: ComponentFilter): Work<(component: Component) => boolean> {
  if (filter.kind === 'active') return ({ active }) => filter.active === 'any' || active === filter.active
  if (filter.kind === 'effectiveTime') return ({ effectiveTime }) => compareTimes(filter, effectiveTime)
  const modules = yield* conceptsIn(scope, filter.modules)
  return ({ module }) => modules.has(scope.index.ids.find(module) ?? scope.index.size) === (filter.comparison === '=')
}

/** Any of several times is enough, except that `!=` excludes them all. */
export function compareTimes(
  { comparison, times }: Pick<Extract<ComponentFilter, { kind: 'effectiveTime' }>, 'comparison' | 'times'>,
  found: number,
): boolean {
  const test = (time: string): boolean => compares(comparison, found, Number(time))
  return comparison === '!=' ? times.every(test) : times.some(test)
}
