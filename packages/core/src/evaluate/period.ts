import { OperationError, quoted } from '../errors/index.js'
import { dateInterval } from '../search/index.js'

/** A measurement period from the request: dates (`YYYY`, `YYYY-MM`, `YYYY-MM-DD`), which are included as a whole, or dateTimes. */
export interface Period {
  readonly start: string
  readonly end: string
}

/**
 * Checks a measurement period.
 *
 * @throws {OperationError} `parameter-value` for a text that is not a date or dateTime; `parameter-invalid` for a start after the end.
 */
export function checkedPeriod(start: string, end: string): Period {
  const first = spanOf(start, 'periodStart').low
  const last = spanOf(end, 'periodEnd').high
  if (first > last) {
    throw new OperationError('parameter-invalid', `periodStart ${quoted(start)} is after periodEnd ${quoted(end)}.`, {
      expression: ['periodStart', 'periodEnd'],
    })
  }
  return { start, end }
}

/** A time has seconds and an offset, as in FHIR. */
const FORM = /^(?!0000)\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?)?)?$/

/** From the first to the last millisecond; UTC without an offset. */
function spanOf(text: string, name: string): NonNullable<ReturnType<typeof dateInterval>> {
  const span = FORM.test(text) ? dateInterval(text) : undefined
  if (span !== undefined) return span
  throw new OperationError(
    'parameter-value',
    `Parameter '${name}' must be a date as YYYY, YYYY-MM or YYYY-MM-DD, or a dateTime as YYYY-MM-DDThh:mm:ss+zz:zz, not ${quoted(text)}.`,
    { expression: [name] },
  )
}
