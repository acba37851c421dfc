import { OperationError } from './operation-error.js'

/** Plain JavaScript may leave out what the types demand. @throws {OperationError} `parameter-required` naming it. */
export function checkGiven(name: string, value: unknown): void {
  if (value === undefined || value === null) throw new OperationError('parameter-required', `${name} is missing.`, { expression: [name] })
}

/**
 * Plain JavaScript may give something else than the types demand, often the promise of it.
 *
 * @throws {OperationError} `parameter-required` when it is missing, `parameter-value` when it lacks one of these members.
 */
export function checkHas(name: string, value: unknown, members: readonly PropertyKey[]): void {
  checkGiven(name, value)
  const given: object = Object(value)
  for (const member of members) if (!(member in given)) throw notIt(name, given, member)
}

function notIt(name: string, given: object, lacking: PropertyKey): OperationError {
  const reason = 'then' in given ? 'is a promise that was not awaited' : `has no ${String(lacking)}`
  return new OperationError('parameter-value', `${name} ${reason}.`, { expression: [name] })
}

/**
 * Plain JavaScript may give what writes a result something else than that result, often the promise of it.
 *
 * @param maker Name of the function whose result is expected.
 * @param member One that every such result has.
 * @throws {OperationError} as `checkHas`.
 */
export function checkResult(maker: string, value: unknown, member: string): void {
  checkHas(`the result of ${maker}`, value, [member])
}
