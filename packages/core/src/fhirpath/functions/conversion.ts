import { codeOfItems, codeOfTruth, type Code, type Scope } from '../code.js'
import { decimalOf, decimalText, parseDecimal } from '../decimal.js'
import { NOTHING, isDecimal, isQuantity, isTemporal, toSystem, type Items, type SystemValue } from '../item.js'
import { calendarUnit, inUnit, parseQuantity, quantityText } from '../quantity.js'
import { HOUR, parseDate, parseDateTime, parseTime, temporalText } from '../temporal.js'
import { integer } from '../arithmetic.js'
import { singleItem, textArgument, type FunctionDefinition } from './definition.js'

/** Converts a value; `undefined` when it cannot be converted. */
type Convert = (value: SystemValue) => SystemValue | undefined

/** Functions that convert. @see https://hl7.org/fhirpath/N1/#conversion */
export const CONVERSION_FUNCTIONS: readonly FunctionDefinition[] = [
  {
    name: 'iif',
    arity: [2, 3],
    compile: ({ input, args: [criterion, then, otherwise] }) =>
      codeOfItems((scope) => {
        const items = input.items(scope)
        singleItem('iif', items)
        const inner = { ...scope, focus: items }
        return (criterion?.truth(inner) === true ? then : otherwise)?.items(inner) ?? NOTHING
      }),
  },
  ...conversion('Boolean', toBoolean),
  ...conversion('Integer', toInteger),
  ...conversion('Decimal', toDecimal),
  ...conversion('String', textOfValue),
  ...conversion('Date', toDate),
  ...conversion('DateTime', toDateTime),
  ...conversion('Time', toTime),
  ...conversion('Quantity', toQuantity),
]

/** Writes a value in the form of its literal. */
export function textOfValue(value: SystemValue): string {
  if (typeof value !== 'object') return String(value)
  if (isDecimal(value)) return decimalText(value)
  return isQuantity(value) ? quantityText(value) : temporalText(value)
}

/** Creates `toX()` and `convertsToX()`; only those of Quantity take a unit. */
function conversion(type: string, convert: Convert): FunctionDefinition[] {
  const arity = [0, type === 'Quantity' ? 1 : 0] as const
  return [
    {
      name: `to${type}`,
      arity,
      compile: ({ input, args: [unit] }) =>
        codeOfItems((scope) => {
          const result = converted(input.items(scope), convert, unitConversion(scope, unit))
          return result === undefined ? NOTHING : [result]
        }),
    },
    {
      name: `convertsTo${type}`,
      arity,
      compile: ({ input, args: [unit] }) =>
        codeOfTruth((scope) => {
          const items = input.items(scope)
          return items.length === 0 ? undefined : converted(items, convert, unitConversion(scope, unit)) !== undefined
        }),
    },
  ]
}

function converted(input: Items, convert: Convert, toUnit: Convert): SystemValue | undefined {
  const value = toSystem(singleItem('conversion', input))
  const result = value === undefined ? undefined : convert(value)
  return result === undefined ? undefined : toUnit(result)
}

/** Creates the conversion to the unit of the argument; without an argument, values stay unchanged. */
function unitConversion(scope: Scope, argument: Code | undefined): Convert {
  const unit = textArgument('toQuantity', argument?.items(scope))
  if (unit === undefined) return (value) => value
  return (value) => (isQuantity(value) ? inUnit(value, calendarUnit(unit) ?? unit, scope.run.context.host?.convertUnit) : undefined)
}

const TRUE_TEXTS: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', '1', '1.0'])
const FALSE_TEXTS: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', '0', '0.0'])

function toBoolean(value: SystemValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (isQuantity(value) || isTemporal(value)) return undefined
  // None of the texts is longer than five characters.
  const text = textOfValue(value).slice(0, 6).toLowerCase()
  if (TRUE_TEXTS.has(text) || (isDecimal(value) && value.value === 1)) return true
  return FALSE_TEXTS.has(text) || (isDecimal(value) && value.value === 0) ? false : undefined
}

function toInteger(value: SystemValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' && /^[+-]?\d{1,10}$/.test(value) ? integer(Number(value)) : undefined
}

function toDecimal(value: SystemValue): SystemValue | undefined {
  if (isDecimal(value)) return value
  if (typeof value === 'number') return decimalOf(value)
  if (typeof value === 'boolean') return parseDecimal(value ? '1.0' : '0.0')
  return typeof value === 'string' ? parseDecimal(value) : undefined
}

function toDate(value: SystemValue): SystemValue | undefined {
  if (isTemporal(value)) return value.kind === 'time' ? undefined : { kind: 'date', fields: value.fields.slice(0, HOUR), fraction: 0 }
  if (typeof value !== 'string') return undefined
  const moment = parseDateTime(value)
  return parseDate(value) ?? (moment === undefined ? undefined : toDate(moment))
}

function toDateTime(value: SystemValue): SystemValue | undefined {
  if (isTemporal(value)) return value.kind === 'time' ? undefined : { ...value, kind: 'dateTime' }
  return typeof value === 'string' ? parseDateTime(value) : undefined
}

function toTime(value: SystemValue): SystemValue | undefined {
  if (isTemporal(value)) return value.kind === 'time' ? value : undefined
  return typeof value === 'string' ? parseTime(value) : undefined
}

function toQuantity(value: SystemValue): SystemValue | undefined {
  if (isQuantity(value)) return value
  if (typeof value === 'string') return parseQuantity(value)
  const number = toDecimal(value)
  return isDecimal(number) ? { kind: 'quantity', value: number, unit: '1' } : undefined
}
