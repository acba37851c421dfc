import { codeOfItems, innerScope, type Scope, define } from '../code.js'
import { isTemporal, type Items, type SystemValue } from '../item.js'
import { evaluationProblem } from '../problem.js'
import { HOUR, temporalOf, type Temporal } from '../temporal.js'
import { itemsFunction, textArgument, valueFunction, type FunctionDefinition } from './definition.js'

/** Functions that trace, define variables, return the current time, and return parts of dates and times. @see https://hl7.org/fhirpath/N1/#utility-functions */
export const UTILITY_FUNCTIONS: readonly FunctionDefinition[] = [
  {
    name: 'trace',
    arity: [1, 2],
    compile: ({ input, args: [name, projection] }) =>
      codeOfItems((scope) => {
        const items = input.items(scope)
        const sink = scope.run.context.trace
        if (sink === undefined) return items
        const inner = { ...innerScope(scope), focus: items }
        sink(
          textArgument('trace', name?.items(scope)) ?? '',
          projection === undefined ? items : eachProjected(inner, items, projection.items),
        )
        return items
      }),
  },
  {
    name: 'defineVariable',
    arity: [1, 2],
    compile: ({ input, args: [name, value] }) =>
      codeOfItems((scope) => {
        const items = input.items(scope)
        const key = textArgument('defineVariable', name?.items(scope))
        if (key === undefined) throw evaluationProblem('defineVariable() needs a name')
        define(scope, key, value === undefined ? items : value.items({ ...innerScope(scope), focus: items }))
        return items
      }),
  },
  itemsFunction('now', [0, 0], (_, __, scope) => [nowOf(scope)]),
  itemsFunction('today', [0, 0], (_, __, scope) => [{ kind: 'date', fields: nowOf(scope).fields.slice(0, HOUR), fraction: 0 }]),
  itemsFunction('timeOfDay', [0, 0], (_, __, scope) => [{ kind: 'time', fields: nowOf(scope).fields.slice(HOUR), fraction: 3 }]),
  ...['year', 'month', 'day', 'hour', 'minute'].map((unit, field) => component(`${unit}Of`, ({ fields }) => fields[field])),
  component('secondOf', ({ fields: [, , , , , second] }) => (second === undefined ? undefined : Math.floor(second))),
  component('millisecondOf', ({ fields: [, , , , , second], fraction }) =>
    second === undefined || fraction === 0 ? undefined : Math.floor(Math.round((second % 1) * 1e6) / 1e3),
  ),
  component('timezoneOffsetOf', ({ offset }) => (offset === undefined ? undefined : { kind: 'decimal', value: offset / 60, places: 1 })),
  component('dateOf', ({ kind, fields }) => (kind === 'time' ? undefined : { kind: 'date', fields: fields.slice(0, HOUR), fraction: 0 })),
  component('timeOf', ({ kind, fields, fraction }) =>
    kind !== 'dateTime' || fields.length <= HOUR ? undefined : { kind: 'time', fields: fields.slice(HOUR), fraction },
  ),
]

function eachProjected(inner: Scope, items: Items, projection: (scope: Scope) => Items): Items {
  return items.flatMap((item) => {
    inner.focus = [item]
    return projection(inner)
  })
}

/** Returns the current time. The clock is read once, so that all calls of an evaluation return the same time. */
function nowOf(scope: Scope): Temporal {
  const { run } = scope
  if (run.context.now === undefined) throw evaluationProblem('there is no clock')
  run.moment ??= run.context.now()
  return temporalOf(run.moment)
}

/** Defines a function on a date or time; the fields of a time are moved to their positions in a dateTime. */
function component(name: string, read: (value: Temporal) => SystemValue | undefined): FunctionDefinition {
  return valueFunction(name, [0, 0], (value) => {
    if (!isTemporal(value)) throw evaluationProblem(`${name}() applies to dates and times`)
    if (value.kind !== 'time') return read(value)
    const result = read({ ...value, fields: [Number.NaN, Number.NaN, Number.NaN, ...value.fields] })
    return typeof result === 'number' && Number.isNaN(result) ? undefined : result
  })
}
