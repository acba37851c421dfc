import { OperationError, quoted } from '../../errors/index.js'
import { textMap } from '../bot-function.js'
import { uniquePairs } from '../unique-pairs.js'
import type { BotContentType } from './content-type.js'

const MAX_PAIRS = 1_000

/** `application/x-www-form-urlencoded`: a map of string to string. Bots do not return forms. */
export const form: BotContentType = {
  mediaType: 'application/x-www-form-urlencoded',
  also: [],
  read(body) {
    const pieces = body.split('&').filter((piece) => piece !== '')
    if (pieces.length > MAX_PAIRS) throw new OperationError('body-invalid', `The form has more than ${MAX_PAIRS} fields.`)
    return textMap(uniquePairs(pieces.map(pairOf), 'body-invalid'))
  },
  write: () => undefined,
}

function pairOf(piece: string): readonly [string, string] {
  const at = piece.indexOf('=')
  return at < 0 ? [decoded(piece), ''] : [decoded(piece.slice(0, at)), decoded(piece.slice(at + 1))]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new OperationError('body-invalid', `The form holds ${quoted(text)}, which is not percent-encoded UTF-8.`)
  }
}
