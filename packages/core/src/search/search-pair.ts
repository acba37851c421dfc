/** A search parameter as it was sent, decoded: name with modifiers and chain, value with its escapes. */
export type SearchPair = readonly [name: string, value: string]
