import { OperationError } from './operation-error.js'

/** Checks that a required argument is given, for callers in plain JavaScript. @throws {OperationError} `parameter-required` when it is missing. */
export function checkGiven(name: string, value: unknown): void {
  if (value === undefined || value === null) throw new OperationError('parameter-required', `${name} is missing.`, { expression: [name] })
}

/** As `checkGiven`, for a text: not the bytes of one, for example. @throws {OperationError} also `parameter-value` for anything else. */
export function checkText(name: string, value: unknown): void {
  checkGiven(name, value)
  if (typeof value !== 'string') throw new OperationError('parameter-value', `${name} must be a text.`, { expression: [name] })
}

/**
 * Checks the type of an argument by its members, for callers in plain JavaScript, who often pass a promise instead.
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
 * Checks the result that is passed to a function which converts it, for callers in plain JavaScript, who often pass a promise instead.
 *
 * @param maker Name of the function whose result is expected.
 * @param member A member that every such result has.
 * @throws {OperationError} as `checkHas`.
 */
export function checkResult(maker: string, value: unknown, member: string): void {
  checkHas(`the result of ${maker}`, value, [member])
}
