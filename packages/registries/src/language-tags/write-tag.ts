import type { LanguageTag, SubtagRegistry } from './read-tag.js'

/** The tag with the capitals that are recommended: `zh-Hant-TW`. @see https://www.rfc-editor.org/rfc/rfc5646#section-2.1.1 */
export function writeTag({ grandfathered, language, extlang, script, region, ...rest }: LanguageTag): string {
  if (grandfathered !== undefined) return grandfathered.toLowerCase()
  const named = [language?.toLowerCase(), extlang?.toLowerCase(), titled(script), region?.toUpperCase()]
  const others = [...rest.variants, ...rest.extensions, rest.privateUse].map((subtag) => subtag?.toLowerCase())
  return [...named, ...others].filter((subtag) => subtag !== undefined).join('-')
}

function titled(script: string | undefined): string | undefined {
  return script === undefined ? undefined : script.slice(0, 1).toUpperCase() + script.slice(1).toLowerCase()
}

/** What a tag says, part by part; parts without description are given as they are. */
export interface TagDescription {
  readonly language: string
  /** `[what, text]`: `['Region', 'Switzerland']`. */
  readonly parts: readonly (readonly [string, string])[]
}

/** Describes a tag with the words of the registry. */
export function describeTag(registry: SubtagRegistry, tag: LanguageTag): TagDescription {
  const { grandfathered, language, extlang, script, region, variants, extensions, privateUse } = tag
  if (grandfathered !== undefined) return { language: registry.grandfathered.describe(grandfathered) ?? grandfathered, parts: [] }
  const part = (what: string, subtag: string | undefined, text?: string): readonly (readonly [string, string])[] =>
    subtag === undefined ? [] : [[what, text ?? subtag]]
  return {
    language: language === undefined ? 'Private use' : (registry.language.describe(language) ?? language),
    parts: [
      ...part('Extlang', extlang, registry.extlang.describe(extlang ?? '')),
      ...part('Script', script, registry.script.describe(script ?? '')),
      ...part('Region', region, registry.region.describe(region ?? '')),
      ...variants.flatMap((variant) => part('Variant', variant, registry.variant.describe(variant))),
      ...extensions.flatMap((extension) => part('Extension', extension)),
      ...part('Private-Use', privateUse),
    ],
  }
}
