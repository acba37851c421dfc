/** Returns whether a code point belongs to a class of characters. */
export type CharTest = (codePoint: number) => boolean

/** A zero-width condition on a position in the text. */
export type Assertion = 'start' | 'end' | 'boundary' | 'not-boundary'

/** A parsed pattern. */
export type RegexNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly test: CharTest }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'group'; readonly index: number; readonly body: RegexNode }
  | { readonly kind: 'repeat'; readonly body: RegexNode; readonly min: number; readonly max: number; readonly lazy: boolean }

/** A pattern with its capture groups: `groups` is their number, `names` has the indexes of named groups. */
export interface ParsedRegex {
  readonly root: RegexNode
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
}
