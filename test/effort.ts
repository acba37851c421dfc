import fc from 'fast-check'

/** True for `npm run test:all` and for tests that are asked for by name; false for `npm test`, which is to be quick. */
export const ALL: boolean = process.env['FHIR_OPS_TESTS'] !== 'quick'

/** Repetitions of a test that finds more the longer it runs. `FHIR_OPS_ROUNDS` sets them for every such test. */
export function rounds({ quick, all }: { readonly quick: number; readonly all: number }): number {
  return Number(process.env['FHIR_OPS_ROUNDS'] ?? (ALL ? all : quick))
}

/** Of many alike cases the first and each n-th after it in `npm test`, all of them in `npm run test:all`. */
export function representative<T>(cases: readonly T[], { every }: { readonly every: number }): readonly T[] {
  return ALL ? cases : cases.filter((_, index) => index % every === 0)
}

/** Seed of all random content of this run: 1 unless `FHIR_OPS_SEED` says otherwise. */
export const SEED: number = Number(process.env['FHIR_OPS_SEED'] ?? 1)

/** Characters of Unicode but for surrogates, which are 0x800. */
const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character of Unicode, as the unit `binary` of fast-check, which makes a table of all of them: that takes a second, and 100 MB that every later collection of
 * garbage goes through.
 */
export const ANY_CHARACTER: fc.Arbitrary<string> = fc.nat(0x10ffff - SURROGATES.count).map(
  (n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count),
  (character) => {
    const code = typeof character === 'string' && /^.$/su.test(character) ? (character.codePointAt(0) ?? 0) : SURROGATES.first
    if (code >= SURROGATES.first && code < SURROGATES.first + SURROGATES.count) throw new TypeError('This is no character.')
    return code < SURROGATES.first ? code : code - SURROGATES.count
  },
)
