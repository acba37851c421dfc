import { defineFinding, type FindingDefinition } from '../../run/finding.js'

export const SIGNATURE: FindingDefinition = defineFinding(
  'signature',
  'information',
  'informational',
  'No action needed; decide whether to trust the certificate of the signature.',
)
export const SIGNATURE_DATA: FindingDefinition = defineFinding(
  'signature-data',
  'error',
  'invalid',
  'Put the JWS or the XML signature, base64-encoded, into the data of the signature.',
)
export const SIGNATURE_HEADER: FindingDefinition = defineFinding(
  'signature-header',
  'warning',
  'not-found',
  'Add the signing time and the certificate to the signature (sigT and x5c in the header of a JWS), and use an asymmetric algorithm.',
)
export const SIGNATURE_PAYLOAD: FindingDefinition = defineFinding(
  'signature-payload',
  'warning',
  'value',
  'Use a detached JWS, with an empty payload; the Bundle itself is the signed content.',
)
export const SIGNATURE_WRONG: FindingDefinition = defineFinding(
  'signature-wrong',
  'error',
  'value',
  'Sign the Bundle again, or revert the changes made after signing.',
)
