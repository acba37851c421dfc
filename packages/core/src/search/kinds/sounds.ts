import { doubleMetaphone } from 'double-metaphone'
import { isObject, isString } from '../../json/index.js'
import { allOf, entryCondition } from '../filter/conditions.js'
import { unescaped } from '../written-values.js'
import { wordsIn } from './words.js'
import { invalidValue, type SearchKind } from './kind.js'

/**
 * `phonetic` of Patient, Person and Practitioner: family and given names by the sound of their words (Double Metaphone, for English and, to some
 * extent, other European languages). R4 leaves the rules open. Every word of a value must sound like a word of the name.
 */
export const soundsKind: SearchKind = {
  name: 'sounds',
  codes: ['phonetic'],
  fields(name) {
    if (!isObject(name)) return []
    const sounds = [name['family'], name['given']].flat().filter(isString).flatMap(wordsIn).flatMap(soundsOf)
    return [...new Set(sounds)].map((value) => ({ value }))
  },
  modifiers: [],
  negatable: false,
  alternatives: (ask) => [[{ field: 'value', op: 'in', operands: soundsOf(ask.value) }]],
  condition(param, ask) {
    const words = wordsIn(unescaped(ask.value))
    if (words.length === 0) throw invalidValue(ask, 'a name')
    return allOf(words.map((value) => entryCondition(param, soundsKind.alternatives({ ...ask, value }))))
  },
  sortField: () => undefined,
}

/** Returns one or two sounds of a word; the word itself if it has none, because it is not in Latin letters. */
function soundsOf(word: string): readonly string[] {
  const sounds = new Set(doubleMetaphone(word).filter((sound) => sound !== ''))
  return sounds.size === 0 ? [word] : [...sounds]
}
