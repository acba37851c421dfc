import { defineFinding, type FindingDefinition } from '../../run/finding.js'

/** The statements of a signature, and whether it was verified. */
export const SIGNATURE: FindingDefinition = defineFinding(
  'signature',
  'information',
  'informational',
  'No action needed; decide whether to trust the certificate of the signature.',
)
/** Data of a signature that cannot be read. */
export const SIGNATURE_DATA: FindingDefinition = defineFinding(
  'signature-data',
  'error',
  'invalid',
  'Put the JWS or the XML signature, base64-encoded, into the data of the signature.',
)
/** A signature without time or certificate, or with a method that is not supported. */
export const SIGNATURE_HEADER: FindingDefinition = defineFinding(
  'signature-header',
  'warning',
  'not-found',
  'Add the signing time and the certificate to the signature (sigT and x5c in the header of a JWS), and use an asymmetric algorithm.',
)
/** A JWS that contains its payload. */
export const SIGNATURE_PAYLOAD: FindingDefinition = defineFinding(
  'signature-payload',
  'warning',
  'value',
  'Use a detached JWS, with an empty payload; the Bundle itself is the signed content.',
)
/** A signature that is invalid, or does not agree with its element. */
export const SIGNATURE_WRONG: FindingDefinition = defineFinding(
  'signature-wrong',
  'error',
  'value',
  'Sign the Bundle again, or revert the changes made after signing.',
)
