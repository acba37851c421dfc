import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'

const URIS = 'urn:ietf:rfc:3986'
/** Where UUIDs are defined: no system of identifiers. */
const UUIDS = 'https://tools.ietf.org/html/rfc4122'

/**
 * Checks that the system of an Identifier is absolute, and that a value that is said to be a URI is one.
 *
 * @see https://hl7.org/fhir/R4/datatypes.html#Identifier
 */
export function checkIdentifier(run: Run, node: FhirNode): void {
  const [system, value] = [textOf(node, 'system'), textOf(node, 'value')]
  if (system === undefined) return
  if (!isAbsoluteUri(system))
    run.sink.report('identifier', node, { text: `The system of an identifier must be an absolute URI, not ${quoted(system)}.` })
  if (value === undefined) return
  if (system === URIS && !isAbsoluteUri(value))
    run.sink.report('identifier', node, { text: `By its system the value is a URI, but ${quoted(value)} is not an absolute one.` })
  if (system === UUIDS)
    run.sink.report('identifier', node, {
      text: `A UUID is written as a URI: with the system ${URIS}, and urn:uuid: before ${quoted(value)}.`,
      severity: 'warning',
    })
}
