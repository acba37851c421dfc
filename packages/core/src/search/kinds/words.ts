import { isObject, isString } from '../../json/index.js'
import { entryCondition } from '../filter/conditions.js'
import { parseTextQuery } from './text-query.js'
import { wordsIn } from '../values/words.js'
import type { SearchKind } from './kind.js'

/**
 * `_text` and `_content`: the words of a narrative, or of all texts of a resource. One entry has all of them, each between blanks, so that
 * a resource costs one entry however many words it has.
 *
 * @see https://hl7.org/fhir/R4/search.html#content
 */
export const wordsKind: SearchKind = {
  fields: (value) => [{ text: ` ${wordsIn(textsIn(value).join(' ')).join(' ')} ` }],
  modifiers: [],
  negatable: false,
  alternatives: ({ value }) => [[{ field: 'text', op: 'contains', operand: ` ${value} ` }]],
  condition: (param, ask) => parseTextQuery(ask, (value) => entryCondition(param, wordsKind.alternatives({ ...ask, value }))),
  sortField: () => undefined,
}

/** More letters than this without a blank are data and no text. */
const MAX_RUN = 256

function textsIn(value: unknown): readonly string[] {
  if (isString(value)) return value.length > MAX_RUN && !/\s/.test(value) ? [] : [withoutMarkup(value)]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isObject(value) ? Object.values(value).flatMap(textsIn) : []
}

/** What stands between tags. */
function withoutMarkup(text: string): string {
  const [first = '', ...others] = text.split('<')
  if (others.length === 0) return text
  const visible = [first, ...others.map((piece) => piece.slice(piece.indexOf('>') + 1))].join(' ')
  return visible.replace(/&#(\d{1,7});/g, (_, code: string) => character(Number(code))).replace(/&[a-z]{1,8};/g, ' ')
}

function character(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' '
}
