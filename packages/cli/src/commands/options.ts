import { isIP } from 'node:net'
import { isOrigin } from '@fhir-ops/handler'
import { scopeProblem } from 'fhir-ops/internal/sessions'
import { InvalidArgumentError, Option } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { isPlainAddress } from '../storage.js'

/** `--storage`, the same for every command. */
export function storageOption(standard = 'memory'): Option {
  return new Option('--storage <storage>', 'memory, sqlite:FILE, postgres:URL or http:URL').default(standard)
}

/** For commands that store something. @throws {OperationError} `parameter-value` for memory, which nobody would read again. */
export function checkIsKept(storage: string, otherwise = ''): void {
  if (storage !== 'memory') return
  throw new OperationError(
    'parameter-value',
    `The content of memory storage is lost when the command ends: name another storage${otherwise}.`,
  )
}

/** `--load`, repeatable. */
export function loadOption(): Option {
  return new Option('--load <path>', 'JSON, Bundle or NDJSON file (also .gz), FHIR package (.tgz) or a folder of them; repeatable')
    .argParser<readonly string[]>((path, before: readonly string[] | undefined) => [...(before ?? []), path])
    .default([], 'nothing')
}

/** `--words`. */
export function wordsOption(): Option {
  return new Option('--words', 'index the words of resources as they are written, and search by them (_text, _content)')
}

/** `--explain`. */
export function explainOption(): Option {
  return new Option('--explain', 'explain on standard error how the result was found')
}

/** `--suppress`. */
export function suppressOption(): Option {
  return new Option('--suppress <file>', 'JSON file with accepted findings of $validate, each with a reason and an expiry date')
}

/** `--json`. */
export function jsonOption(): Option {
  return new Option('--json', 'print the FHIR resource instead of text')
}

/** Collects the values of a repeatable option. */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/**
 * Collects scopes, which must exist: a misspelt one would be kept and grant nothing.
 *
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function scopes(value: string, before: readonly string[] | undefined): readonly string[] {
  if (!/^[!#-[\]-~]+$/.test(value))
    throw new InvalidArgumentError('It must have no blanks, quotes or backslashes: repeat --scope for each scope.')
  const problem = scopeProblem(value)
  if (problem !== undefined) throw new InvalidArgumentError(`${problem.replace(/^t/, 'T')} ${SCOPES}`)
  return repeated(value, before)
}

const SCOPES = 'Examples of scopes: openid, system/*.cruds, user/Observation.rs, patient/*.rs.'

/** An option for a text that fits behind `Bearer` in a header. */
export function tokenOption(name: string, description: string): Option {
  const parse = unrepeated(`${name} must be 1 to 4,096 ASCII characters without blanks and commas.`, (text) =>
    /^[!-+\--~]{1,4096}$/.test(text),
  )
  return new Option(`${name} <token>`, description).argParser(parse)
}

/** An option for an http or https address that paths can be put behind. */
export function addressOption(name: string, description: string): Option {
  const parse = unrepeated(`${name} must be an http or https address without user, query and fragment.`, isPlainAddress)
  return new Option(`${name} <url>`, description).argParser(parse)
}

/** For values that may hold a password: the message for an `InvalidArgumentError` would repeat what was given. */
function unrepeated(message: string, isRight: (text: string) => boolean): (text: string) => string {
  return (text) => {
    if (!isRight(text)) throw new OperationError('parameter-value', message)
    return text
  }
}

/** `--cors`, repeatable. */
export function corsOption(): Option {
  return new Option(
    '--cors <origin>',
    'let pages of this origin (https://app.example), or of all (*), call the server from a browser; repeatable',
  ).argParser<readonly string[]>((origin, before: readonly string[] | undefined) => {
    if (origin === '*' || isOrigin(origin)) return repeated(origin, before)
    throw new InvalidArgumentError('It must be an origin, such as https://app.example or http://localhost:5173, without a path; or *.')
  })
}

/** `--trust-proxy`, repeatable. */
export function trustProxyOption(): Option {
  return new Option(
    '--trust-proxy <network>',
    "address or network (10.0.0.0/8) of a proxy whose X-Forwarded-For names the caller's address; repeatable",
  ).argParser<readonly string[]>((network, before: readonly string[] | undefined) => {
    if (isNetwork(network)) return repeated(network, before)
    throw new InvalidArgumentError('It must be an IP address or a network, such as 10.0.0.0/8 or fd00::/8.')
  })
}

function isNetwork(text: string): boolean {
  const [address = '', length = '0', ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= most
}

/** A port to listen on; 0 for a free one. */
export function portNumber(text: string): number {
  return wholeNumber(0, 65_535)(text)
}

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most = 999_999_999): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least || Number(text) > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    return Number(text)
  }
}
