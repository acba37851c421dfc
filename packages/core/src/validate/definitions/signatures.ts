import type { Pending } from '../../fhirpath/index.js'
import { answers, type Questions } from './answers.js'

/** What is said to be signed by a key. */
interface SignatureClaim {
  readonly algorithm: SignatureAlgorithm
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array<ArrayBuffer>
  readonly signature: Uint8Array<ArrayBuffer>
  readonly signed: Uint8Array<ArrayBuffer>
}

/** How a signature is verified, in the terms of Web Cryptography. */
export interface SignatureAlgorithm {
  readonly name: string
  readonly hash: string
  readonly saltLength: number
  readonly namedCurve: string
}

/** What the walk knows of signatures. */
export interface SignatureChecks {
  /** Whether a claim is true; false for a key that the algorithm cannot use, too. The same element is asked once. */
  readonly verifies: (element: object, claim: SignatureClaim) => boolean | Pending
}

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
