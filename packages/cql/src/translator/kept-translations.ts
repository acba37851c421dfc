import { LRUCache } from 'lru-cache'

/** Texts by name. */
export type Texts = ReadonlyMap<string, string>

/** Translates a text with the texts that it includes, by identifier, and the models that it uses, by name. */
export type Translate<T> = (text: string, includes: Texts, models: Texts) => Promise<T>

/** Maximum total length of the texts whose translations are kept, in characters. ELM takes about a hundred times the memory of its text. */
const MAX_KEPT = 250_000

interface Kept<T> {
  readonly includes: Texts
  readonly models: Texts
  readonly translation: Promise<T>
}

/**
 * Wraps a translation function so that a text is translated once as long as its includes and models stay the same: a library is evaluated many times, and
 * a translation takes longer than most evaluations. Concurrent calls for the same text share one translation. Failures are not kept.
 */
export function keepTranslations<T>(
  translate: Translate<T>,
  maxKept: number = MAX_KEPT,
): (text: string, includes?: Texts, models?: Texts) => Promise<T> {
  const kept = new LRUCache<string, Kept<T>>({ maxSize: maxKept, sizeCalculation: (_kept, text) => text.length + 1 })
  return (text, includes = new Map(), models = new Map()) => {
    const known = kept.get(text)
    if (known !== undefined && areSame(known.includes, includes) && areSame(known.models, models)) return known.translation
    const entry: Kept<T> = { includes: new Map(includes), models: new Map(models), translation: translate(text, includes, models) }
    kept.set(text, entry)
    entry.translation.catch(() => {
      if (kept.peek(text) === entry) kept.delete(text)
    })
    return entry.translation
  }
}

function areSame(kept: Texts, given: Texts): boolean {
  return kept.size === given.size && [...given].every(([id, text]) => kept.get(id) === text)
}
