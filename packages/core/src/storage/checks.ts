import { OperationError, quoted } from '../errors/index.js'
import { isObject } from '../json/index.js'
import type { Condition, ScanQuery, SearchQuery } from './query.js'
import type { WriteEntry } from './storage.js'

/**
 * Checks the version that an entry expects.
 *
 * @param current The current version; `null` when the resource does not exist.
 * @throws {OperationError} `version-conflict` when the current version is not the expected one.
 */
export function checkVersion({ type, id, ifVersion }: Pick<WriteEntry, 'type' | 'id' | 'ifVersion'>, current: string | null): void {
  if (ifVersion === undefined || ifVersion === current) return
  const found = current === null ? 'does not exist' : `has version ${current}`
  const wanted = ifVersion === null ? 'it was to be created' : `version ${quoted(ifVersion)} was expected`
  throw new OperationError('version-conflict', `${type}/${id} ${found}, but ${wanted}.`)
}

/**
 * Checks the argument of `write`, for callers without type checks. A single entry that is not in a list is refused. Every adapter calls this first;
 * `checkLaidOut` checks each entry.
 *
 * @throws {OperationError} `parameter-value` for anything but a list of objects; `parameter-required` when it is missing.
 */
export function checkEntries(entries: readonly WriteEntry[]): void {
  const given: unknown = entries
  if (given === undefined || given === null)
    throw new OperationError('parameter-required', 'entries is missing.', { expression: ['entries'] })
  if (Array.isArray(given) && given.every(isObject)) return
  const problem = Array.isArray(given) ? 'has an item that is none' : 'is not a list, such as [putResource(...)]'
  throw new OperationError('parameter-value', `entries must be a list of entries to write, and ${problem}.`, { expression: ['entries'] })
}

const CONDITIONS: Readonly<Record<Condition['kind'], true>> = {
  and: true,
  or: true,
  not: true,
  entry: true,
  id: true,
  lastUpdated: true,
  refersTo: true,
  referredBy: true,
}

/**
 * Checks the query of a search or count, for callers without type checks. The text of a FHIR search is refused, because it would silently find nothing.
 * Every adapter calls this first.
 *
 * @throws {OperationError} `parameter-value` for anything but an object with `type` and `where`; `parameter-required` when it is missing.
 */
export function checkQuery(query: Pick<SearchQuery, 'type' | 'where'>): void {
  const given: unknown = query
  if (given === undefined || given === null) throw new OperationError('parameter-required', 'query is missing.', { expression: ['query'] })
  if (typeof given === 'string') throw notAQuery(`is the text ${quoted(given)}, which parseSearch of fhir-ops/search makes a query of`)
  if (!isObject(given) || typeof given['type'] !== 'string') throw notAQuery('has no type')
  const { where } = given
  if (!isObject(where) || typeof where['kind'] !== 'string' || !Object.hasOwn(CONDITIONS, where['kind']))
    throw notAQuery('has no condition in where')
}

/**
 * Checks the query of a scan, including `referring`.
 *
 * @throws {OperationError} as `checkQuery`.
 */
export function checkScan(query: ScanQuery): void {
  checkQuery(query)
  const { referring = [] } = query
  if (!Array.isArray(referring)) throw notAQuery('has no list in referring')
  for (const one of referring) {
    checkQuery(one)
    if (!Array.isArray(one.params)) throw notAQuery('has no list of params in referring')
  }
}

function notAQuery(problem: string): OperationError {
  return new OperationError('parameter-value', `query ${problem}. A search takes { type, where }.`, { expression: ['query'] })
}
