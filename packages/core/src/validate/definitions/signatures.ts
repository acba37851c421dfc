import type { SignatureChecks, SignatureClaim } from '../run/definitions.js'
import { answers, type Questions } from './answers.js'

/** Verifies signatures with Web Cryptography. */
export function signatureVerifier(questions: Questions): SignatureChecks {
  const claims = new WeakMap<object, SignatureClaim>()
  const verified = answers(questions, async (element: object) => {
    const claim = claims.get(element)
    return claim !== undefined && (await verify(claim))
  })
  return {
    verifies(element, claim) {
      claims.set(element, claim)
      return verified(element)
    },
  }
}

async function verify({ algorithm, publicKey, signature, signed }: SignatureClaim): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('spki', publicKey, algorithm, false, ['verify'])
    return await crypto.subtle.verify(algorithm, key, signature, signed)
  } catch {
    return false
  }
}
