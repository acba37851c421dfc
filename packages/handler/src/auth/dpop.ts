import { rejected } from 'fhir-ops/sessions'
import { sha256 } from 'fhir-ops/internal/sessions'
import type { JWTPayload } from 'jose'
import { checkHeader, jwtShape, type Replays } from './token-verifier.js'

/** Options for checking DPoP proofs of possession. */
export interface DpopOptions {
  /** Store that remembers used proofs for 2 minutes. Default: the store of the sessions, which instances share. */
  readonly replays?: Replays
  /** Default: the system's clock. */
  readonly now?: () => Date
}

/** The request that a proof must match. */
interface ProvenRequest {
  /** The `DPoP` header. */
  readonly proof: string
  readonly method: string
  /** Address of the request as the client knows it; query and fragment are ignored. */
  readonly uri: string
  readonly token: string
}

/** A valid proof. */
export interface Proof {
  /** Thumbprint of the key that signed the proof. */
  readonly jkt: string
  /** Records the use of the proof, after its token was accepted. @throws {OperationError} `token-invalid` on the second use. */
  use(): Promise<void>
}

/** @throws {OperationError} `token-invalid` */
export type DpopCheck = (request: ProvenRequest) => Promise<Proof>

/** Algorithms of proofs, and the challenge that lists them. */
const ALGORITHMS = ['ES256', 'EdDSA']
export const DPOP_CHALLENGE: string = `DPoP algs="${ALGORITHMS.join(' ')}"`

const WINDOW_SECONDS = 60
/** How long used proofs are remembered. */
export const PROOF_MS = 120_000
const MAX_JTI = 256

/** Creates the check of DPoP proofs; the verifier is loaded with the first proof. @see https://www.rfc-editor.org/rfc/rfc9449#section-4.3 */
export function dpopCheck({ replays, now = () => new Date() }: DpopOptions & { readonly replays: Replays }): DpopCheck {
  return async (request) => {
    const payload = await verifiedProof(request.proof, now())
    const { jti } = payload
    if (
      !isAbout(payload, request, await digestOf(request.token)) ||
      !isFresh(payload, now()) ||
      typeof jti !== 'string' ||
      jti === '' ||
      jti.length > MAX_JTI
    ) {
      throw rejected('proof')
    }
    const jwk = jwtShape(request.proof)?.header['jwk']
    const { calculateJwkThumbprint } = await import('jose/jwk/thumbprint')
    const jkt = await calculateJwkThumbprint({ ...(typeof jwk === 'object' && jwk) })
    return {
      jkt,
      async use() {
        if (!(await replays.isNew(`${jkt} ${jti}`))) throw rejected('proof')
      },
    }
  }
}

async function verifiedProof(proof: string, currentDate: Date): Promise<JWTPayload> {
  const shape = jwtShape(proof)
  if (shape === undefined) throw rejected('proof')
  checkHeader(shape.header, { algorithms: ALGORITHMS, typ: ['dpop+jwt'] })
  const [{ jwtVerify }, { EmbeddedJWK }] = await Promise.all([import('jose/jwt/verify'), import('jose/jwk/embedded')])
  try {
    const { payload } = await jwtVerify(proof, EmbeddedJWK, { algorithms: ALGORITHMS, currentDate })
    return payload
  } catch {
    throw rejected('proof')
  }
}

function isAbout({ htm, htu, ath }: JWTPayload, { method, uri }: ProvenRequest, digest: string): boolean {
  return htm === method && typeof htu === 'string' && placeOf(htu) === placeOf(uri) && ath === digest
}

/** Returns the address in normalized form, without query and fragment. */
function placeOf(uri: string): string | undefined {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  return url && `${url.origin}${url.pathname}`
}

/** Returns the SHA-256 of the token in base64url. */
async function digestOf(token: string): Promise<string> {
  const { encode } = await import('jose/base64url')
  const hex = await sha256(token)
  return encode(Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)))
}

function isFresh({ iat }: JWTPayload, now: Date): boolean {
  return typeof iat === 'number' && Math.abs(now.getTime() / 1_000 - iat) <= WINDOW_SECONDS
}
