import type { HttpRequest } from '../http/http-request.js'

/** What the body of the answer to a write contains (`Prefer: return=...`). */
type ReturnPreference = 'minimal' | 'representation' | 'OperationOutcome'

const RETURNS: ReadonlyMap<string, ReturnPreference> = new Map([
  ['return=minimal', 'minimal'],
  ['return=representation', 'representation'],
  ['return=operationoutcome', 'OperationOutcome'],
])

/** Returns the first known preference about the body; others are ignored (RFC 7240 2). */
export function returnPreference(request: Pick<HttpRequest, 'header'>): ReturnPreference | undefined {
  return preferencesOf(request)
    .map((preference) => RETURNS.get(preference))
    .find((known) => known !== undefined)
}

/** True if the caller prefers this handling of unknown parameters: refuse them (`strict`) or ignore them (`lenient`). */
export function prefersHandling(request: Pick<HttpRequest, 'header'>, handling: 'strict' | 'lenient'): boolean {
  return preferencesOf(request).includes(`handling=${handling}`)
}

/** True if the caller prefers an asynchronous answer (`Prefer: respond-async`, RFC 7240 4.1). */
export function prefersAsync(request: Pick<HttpRequest, 'header'>): boolean {
  return preferencesOf(request).includes('respond-async')
}

function preferencesOf(request: Pick<HttpRequest, 'header'>): readonly string[] {
  const given = request.header('prefer')
  return given === undefined ? [] : given.split(/[,;]/).map((preference) => preference.replaceAll(/[\s"]/g, '').toLowerCase())
}
