import { quoted } from '../../../errors/index.js'
import { stringAt, type JsonObject } from '../../../json/index.js'

/** What the header of a JWS says about the signing; `undefined` for what it does not say. */
export interface JwsHeader {
  readonly algorithm: string
  /** As it is written: `sigT`, or the seconds of `iat` as a date. */
  readonly time: string | undefined
  /** What is wrong about the time. */
  readonly timeProblem: string | undefined
  /** The certificate of the key in base64 of DER, the first of `x5c`. */
  readonly certificate: string | undefined
  readonly canonicalization: string | undefined
  /** Names that the header says must be understood, and that are not. */
  readonly notUnderstood: readonly string[]
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Reads the header of a JWS.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-4 and, for `sigT`, ETSI TS 119 182-1
 */
export function readHeader(header: JsonObject): JwsHeader {
  const { x5c, crit } = header
  const certificate: unknown = Array.isArray(x5c) ? x5c[0] : undefined
  const critical: readonly unknown[] = Array.isArray(crit) ? crit : []
  return {
    algorithm: stringAt(header, 'alg') ?? 'none',
    ...timeOf(header),
    certificate: typeof certificate === 'string' ? certificate : undefined,
    canonicalization: stringAt(header, 'canon'),
    notUnderstood: critical.map(String).filter((name) => name !== 'b64'),
  }
}

function timeOf({ sigT, iat }: JsonObject): Pick<JwsHeader, 'time' | 'timeProblem'> {
  if (sigT === undefined) return iat === undefined ? { time: undefined, timeProblem: undefined } : secondsAsTime(iat)
  if (typeof sigT === 'string' && DATE_TIME.test(sigT)) return { time: sigT, timeProblem: undefined }
  return { time: undefined, timeProblem: `The signing time (sigT) ${shown(sigT)} is not a date with time and zone.` }
}

function secondsAsTime(iat: unknown): Pick<JwsHeader, 'time' | 'timeProblem'> {
  const time = new Date(Number(iat) * 1_000)
  if (!Number.isNaN(time.getTime())) return { time: time.toISOString(), timeProblem: undefined }
  return { time: undefined, timeProblem: `The signing time (iat) ${shown(iat)} is not a number of seconds.` }
}

function shown(value: unknown): string {
  return quoted(JSON.stringify(value))
}
