import { OperationError, quoted } from '../errors/index.js'

/** A measurement period as the request gives it: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, the end included as a whole. */
export interface Period {
  readonly start: string
  readonly end: string
}

/**
 * Checks a measurement period.
 *
 * @throws {OperationError} `parameter-value` for what is not a calendar date; `parameter-invalid` for a start after the end.
 */
export function checkedPeriod(start: string, end: string): Period {
  const first = dayOf(start, { name: 'periodStart', missing: '-01-01' })
  const last = dayOf(end, { name: 'periodEnd', missing: '-12-31' })
  if (first > last) {
    throw new OperationError('parameter-invalid', `periodStart ${quoted(start)} is after periodEnd ${quoted(end)}.`, {
      expression: ['periodStart', 'periodEnd'],
    })
  }
  return { start, end }
}

/** The date completed to a day. A day after the end of the month is harmless here: the texts are only compared. */
function dayOf(text: string, { name, missing }: { readonly name: string; readonly missing: string }): string {
  if (isDate(text)) return text + missing.slice(text.length - 'YYYY'.length)
  throw new OperationError('parameter-value', `Parameter '${name}' must be a date as YYYY, YYYY-MM or YYYY-MM-DD, not ${quoted(text)}.`, {
    expression: [name],
  })
}

function isDate(text: string): boolean {
  const [, year, month = '01', day = '01'] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? []
  if (year === undefined || year === '0000') return false
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${year}-${month}-${day}`)
}
