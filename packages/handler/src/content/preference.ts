import type { HttpRequest } from '../http/http-request.js'

/** What the body of the answer to a write holds (`Prefer: return=...`). */
export type ReturnPreference = 'minimal' | 'representation' | 'OperationOutcome'

const RETURNS: ReadonlyMap<string, ReturnPreference> = new Map([
  ['return=minimal', 'minimal'],
  ['return=representation', 'representation'],
  ['return=operationoutcome', 'OperationOutcome'],
])

/** The first preference about the body that is known; a preference that is not is passed over (RFC 7240 2). */
export function returnPreference({ header }: Pick<HttpRequest, 'header'>): ReturnPreference | undefined {
  const preferences = (header('prefer') ?? '').split(/[,;]/).map((preference) => preference.replaceAll(/[\s"]/g, '').toLowerCase())
  return preferences.map((preference) => RETURNS.get(preference)).find((known) => known !== undefined)
}
