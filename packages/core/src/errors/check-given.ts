import { OperationError } from './operation-error.js'

/** Plain JavaScript may leave out what the types demand. @throws {OperationError} `parameter-required` naming it. */
export function checkGiven(name: string, value: unknown): void {
  if (value === undefined || value === null) throw new OperationError('parameter-required', `${name} is missing.`, { expression: [name] })
}
