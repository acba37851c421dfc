import type { OperationContext } from '../context/index.js'
import { findValueSet, type CodeSystemProvider, type SystemFamily } from '../terminology/index.js'
import { unknownVersion, type VersionFindings } from './check-version.js'
import { issueOf, noteOf, placeIn, type ValidationIssue } from './issue.js'
import type { GivenCoding } from './input.js'

/** Says why a coding's system cannot be used: a value set, a supplement, or not known at all. */
export async function unusableSystem(ctx: OperationContext, coding: GivenCoding, family: SystemFamily): Promise<VersionFindings> {
  const at = placeIn(coding.path, 'system')
  if (family.unknown && (await findValueSet(ctx, family.url)) !== undefined) {
    return { issues: [issueOf('Terminology_TX_System_ValueSet2', { system: family.url }, { at })], unknown: [] }
  }
  if (family.supplement !== undefined) {
    return { issues: [issueOf('CODESYSTEM_CS_NO_SUPPLEMENT', { system: family.supplement }, { at })], unknown: [] }
  }
  return unknownVersion(coding, family, coding.version)
}

/** Complains about a system that is not an absolute URI. */
export function relativeSystem({ system = '', path }: GivenCoding): readonly ValidationIssue[] {
  if (/^[a-z][a-z0-9+.-]*:/i.test(system)) return []
  return [issueOf('Terminology_TX_System_Relative', {}, { at: placeIn(path, 'system') })]
}

/** Complains about a code that the code system does not have; of a fragment it may be all the same. */
export function unknownCode(coding: GivenCoding, { header, grammar }: CodeSystemProvider): readonly ValidationIssue[] {
  const values = { code: coding.code, system: header.url, version: header.version ?? '' }
  const at = placeIn(coding.path, 'code')
  if (!header.complete) return [issueOf('UNKNOWN_CODE_IN_FRAGMENT', values, { at })]
  const issue = issueOf(header.version === undefined ? 'Unknown_Code_in' : 'Unknown_Code_in_Version', values, { at })
  const reason = grammar?.whyNot(coding.code)
  return reason === undefined ? [issue] : [issue, noteOf(reason, at, { code: 'code-invalid', txIssue: 'invalid-code' })]
}
