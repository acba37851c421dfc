import { OperationError } from 'fhir-ops/errors'
import { objectsAt, stringAt } from 'fhir-ops/json'
import { errors, type JSONWebKeySet } from 'jose'
import { issuerAddress, issuerJson, type IssuerAddress } from './issuer-json.js'
import { keySet, type KeySource } from './key-source.js'

/** Where an issuer publishes its keys. */
export interface RemoteKeysOptions {
  readonly uri: IssuerAddress
  /** Allows `http` on the loopback interface. */
  readonly allowInsecureLoopback: boolean
  readonly fetch: typeof fetch
  /** Milliseconds of a clock that does not jump. */
  readonly monotonic: () => number
}

const FRESH_MS = 10 * 60_000
const STALE_MS = 24 * 3_600_000
const COOLDOWN_MS = 30_000
const RETRY_WITHOUT_KEYS_MS = 1_000
const MAX_BYTES = 256 * 1024

/**
 * The keys of an issuer's JWKS address (TK-07): cached 10 minutes, fetched again at most every 30 seconds for an unknown `kid`, used up
 * to 24 hours old while the issuer is down.
 *
 * @throws {TypeError} for an address that is not https.
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  const cache = keyCache(options, issuerAddress('jwksUri', options))
  return {
    async keyFor(header) {
      const keys = await cache.current()
      try {
        return await keys.keyFor(header)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
        const newer = await cache.newer()
        return newer.keyFor(header)
      }
    },
  }
}

interface KeyCache {
  /** @throws {OperationError} `unavailable` when there are none. */
  current(): Promise<KeySource>
  /** Keys fetched again, unless that was tried a moment ago. @throws {OperationError} `unavailable` when the last try failed. */
  newer(): Promise<KeySource>
}

function keyCache({ fetch, monotonic }: RemoteKeysOptions, address: () => Promise<string>): KeyCache {
  let kept: { readonly keys: KeySource; readonly at: number } | undefined
  let tried: { readonly at: number; readonly failed: boolean } | undefined
  let underWay: Promise<void> | undefined

  const fetchKeys = async (): Promise<void> => {
    try {
      kept = { keys: keySet(await fetchSet(await address(), fetch)), at: monotonic() }
      tried = { at: monotonic(), failed: false }
    } catch {
      // The issuer's failure shows as `unavailable` where its keys are needed; its text is nobody's business.
      tried = { at: monotonic(), failed: true }
    } finally {
      underWay = undefined
    }
  }
  const refresh = async (waitMs: number): Promise<void> => {
    if (underWay === undefined && tried !== undefined && monotonic() - tried.at < waitMs) return
    underWay ??= fetchKeys()
    await underWay
  }
  const usable = (): KeySource => {
    if (kept === undefined || monotonic() - kept.at > STALE_MS) throw unavailable()
    return kept.keys
  }
  return {
    async current() {
      if (kept === undefined) await refresh(RETRY_WITHOUT_KEYS_MS)
      else if (monotonic() - kept.at > FRESH_MS) await refresh(COOLDOWN_MS)
      return usable()
    },
    async newer() {
      await refresh(COOLDOWN_MS)
      if (tried?.failed === true) throw unavailable()
      return usable()
    },
  }
}

function unavailable(): OperationError {
  return new OperationError('unavailable', "The token issuer's keys cannot be fetched at the moment.", { retryAfterSeconds: 5 })
}

async function fetchSet(uri: string, fetch: RemoteKeysOptions['fetch']): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/json, application/jwk-set+json' }
  const body = await issuerJson({ uri, fetch, maxBytes: MAX_BYTES }, { headers })
  const keys = objectsAt(body, 'keys').flatMap((key) => {
    const kty = stringAt(key, 'kty')
    return kty === undefined ? [] : [{ ...key, kty }]
  })
  return { keys }
}
