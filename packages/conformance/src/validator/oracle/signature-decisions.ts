import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'
const JWS = 'https://www.rfc-editor.org/rfc/rfc7515'
const JWA = 'https://www.rfc-editor.org/rfc/rfc7518'

/** Decisions on probes of signatures. */
export const DECIDED_OF_SIGNATURES: readonly ProbeDecision[] = [
  {
    probes:
      /^signatures in XML: (\w+\/noTransform|\w+\/noTransformTarget|\w+\/noTargetNoTransform|jsonCanon|ec|sha1|sha512|algUnknown|exc|noWhite|prefix)$/,
    why: 'Theirs does not verify what was signed, but a SignedInfo that it writes itself, with its white space, one transform, RSA and SHA-256.',
    isLimit: true,
  },
  {
    probes: /^signatures (in (XML|JOSE): rich\/|over JSON: |over XML: (comment|crEnt|prim|list)$)/,
    why: 'Theirs signs narratives in a form of its own, and ids of primitive values in XML as elements.',
    isLimit: true,
  },
  {
    probes: /^signatures in (XML: timeZone|JOSE: (head\/sigTZone|head\/sigTMs|when\/zone|when\/ms))$/,
    why: `[when](${R4}/datatypes-definitions.html#Signature.when) is an instant, which may be written in any zone, and with fractions of the second.`,
  },
  {
    probes: /^signatures in JOSE: (part(Changed)?\/\w+|canonOtherChanged)$/,
    why: `[A canonicalization](${R4}/json.html#canonical) that is not supported cannot be verified; theirs takes it for the one of the whole Bundle.`,
  },
  {
    probes: /^signatures in JOSE: head(Changed)?\/algUnknown$/,
    why: `[alg](${JWA}#section-3.1) may be an algorithm that is registered, but not verified here: what is not known is not wrong.`,
  },
  {
    probes:
      /^signatures in JOSE: (head\/(critSrCms|sigTNull|iatText)|payload\/(other|notB64)|raw(NoFormat)?\/headEmpty|type\/text|rawNoFormat\/noSig)$/,
    why: `[A JWS](${JWS}#section-5.2) has a header with an algorithm and known critical parameters, and its own payload, in base64url; what is not understood besides is ignored.`,
  },
  {
    probes: /^signatures in JOSE: short$/,
    why: `[RS256](${JWA}#section-3.3) needs a key of at least 2048 bits.`,
  },
  {
    probes: /^signatures in (XML: badTarget|JOSE: (format(Changed|NoData)?\/x|target\/.*))$/,
    why: `[targetFormat and sigFormat](${R4}/datatypes-definitions.html#Signature.targetFormat) are media types, by a required binding.`,
  },
]
