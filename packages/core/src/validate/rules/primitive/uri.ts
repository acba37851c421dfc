import { quoted } from '../../../errors/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { PrimitiveProblem } from '../../run/primitive-problem.js'
import { characterProblem, isVisibleText, markupProblem } from './text.js'

/** A uri, url, canonical, oid or uuid that is malformed, or relative where it must be absolute. */
export const URI_FORM: FindingDefinition = defineFinding(
  'uri-form',
  'error',
  'invalid',
  'Write a URI in the right format, absolute where that is required.',
)

const OID = /^urn:oid:[0-2](?:\.(?:0|[1-9]\d*))+$/
const UUID = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/
const SPACE = /\s/
const [LETTER_O, LETTER_U] = [111, 117]

/** uri: no white space. A text that looks like a URN must be one. */
export function uriProblem(text: string): PrimitiveProblem | undefined {
  if (!isVisibleText(text)) {
    if (SPACE.test(text)) return wrong(text, 'URIs must not contain white space')
    const problem = characterProblem(text)
    if (problem !== undefined) return problem
  }
  if (text.includes('<')) return markupProblem(text)
  const first = text.charCodeAt(0)
  if (first !== LETTER_O && first !== LETTER_U) return undefined
  if (text.startsWith('oid:') || text.startsWith('uuid:')) return wrong(text, `write urn:${text.split(':', 1)[0]}:`)
  if (text.startsWith('urn:oid:') && !OID.test(text)) return wrong(text, 'not a valid OID')
  return text.startsWith('urn:uuid:') ? uuidWarning(text) : undefined
}

/** Checks a UUID. A fragment may follow, which names something inside the identified resource. */
function uuidWarning(text: string): PrimitiveProblem | undefined {
  const [urn = ''] = text.split('#', 1)
  if (UUID.test(urn)) return undefined
  if (!UUID.test(urn.toLowerCase())) return wrong(text, 'not a valid UUID')
  return { finding: URI_FORM, text: `UUIDs must be in lower case: ${quoted(text)}.`, severity: 'warning' }
}

/** canonical: an absolute uri with an optional version, or a fragment for a contained resource. */
export function canonicalProblem(text: string): PrimitiveProblem | undefined {
  // A version is no part of a URN, whose form is checked to its end.
  const end = text.startsWith('urn:') ? text.indexOf('|') : -1
  const problem = end < 0 ? uriProblem(text) : (uriProblem(text.slice(0, end)) ?? uriProblem(text.slice(end)))
  return problem ?? (text.startsWith('#') || isAbsoluteUri(text) ? undefined : wrong(text, 'canonical URLs must be absolute'))
}

/** oid: `urn:oid:` with digits and dots. */
export function oidProblem(text: string): PrimitiveProblem | undefined {
  return OID.test(text) ? undefined : wrong(text, 'an OID starts with urn:oid:')
}

/** uuid: `urn:uuid:` with a lower-case UUID. */
export function uuidProblem(text: string): PrimitiveProblem | undefined {
  return UUID.test(text) ? undefined : wrong(text, 'a UUID starts with urn:uuid: and is in lower case')
}

/** True for a uri with a scheme. */
export function isAbsoluteUri(text: string): boolean {
  return SCHEME.test(text)
}

function wrong(text: string, why: string): PrimitiveProblem {
  return { finding: URI_FORM, text: `${quoted(text)} is not a valid URI: ${why}.` }
}
