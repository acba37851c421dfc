import type { Input } from './operations/operation-page.js'

/** What an address opens: an operation, and a sample or an input of it. */
export interface Place {
  readonly operation: string
  readonly sample?: string
  readonly input?: Input
  /** True if the address has an input that cannot be read: it is damaged or incomplete, or the input is too long. */
  readonly isLost?: true
}

/** Reads `#/expand`, `#/expand/family` or `#/expand/~<input>`. */
export async function readAddress(fragment: string): Promise<Place> {
  const [operation = '', rest = ''] = fragment.replace(/^#\/?/, '').split('/')
  if (!rest.startsWith('~')) return { operation, ...(rest !== '' && { sample: rest }) }
  const input = await unpacked(rest.slice(1)).catch(() => undefined)
  return input === undefined ? { operation, isLost: true } : { operation, input }
}

/** An address that opens the same, or a forgetful one. Everything is in the fragment, which browsers do not send. */
export async function writeAddress({ operation, sample, input }: Place): Promise<string> {
  if (input === undefined) return `#/${operation}${sample === undefined ? '' : `/${sample}`}`
  const json = JSON.stringify(input)
  return `#/${operation}/~${json.length > MOST_CHARACTERS ? '' : await packed(json)}`
}

/** True for the address of an input that is too long for one. */
export function isForgetful(address: string): boolean {
  return address.endsWith('/~')
}

async function packed(json: string): Promise<string> {
  const stream = new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** A short address can be a very long text. */
const MOST_CHARACTERS = 4_000_000

async function unpacked(text: string): Promise<Input | undefined> {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).pipeThrough(new TextDecoderStream())
  let json = ''
  for await (const part of stream) {
    json += part
    if (json.length > MOST_CHARACTERS) return undefined
  }
  const value: unknown = JSON.parse(json)
  return isInput(value) ? value : undefined
}

function isInput(value: unknown): value is Input {
  return (
    typeof value === 'object' && value !== null && 'fields' in value && 'texts' in value && areTexts(value.fields) && areTexts(value.texts)
  )
}

function areTexts(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')
}
