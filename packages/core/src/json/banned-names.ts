/** Names of an object's internals, which no member of JSON from elsewhere may have: code that copies members would change the copy's nature. */
export const BANNED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
