import { OperationError, quoted } from '../errors/index.js'
import type { WriteEntry } from './storage.js'

/**
 * Checks the version that an entry expects.
 *
 * @param current The version that is there; `null` for none.
 * @throws {OperationError} `version-conflict`
 */
export function checkVersion({ type, id, ifVersion }: WriteEntry, current: string | null): void {
  if (ifVersion === undefined || ifVersion === current) return
  const found = current === null ? 'does not exist' : `has version ${current}`
  const wanted = ifVersion === null ? 'it was to be created' : `version ${quoted(ifVersion)} was expected`
  throw new OperationError('version-conflict', `${type}/${id} ${found}, but ${wanted}.`)
}
