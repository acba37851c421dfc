// The finite registries as CodeSystem resources.

/** Alpha-2 codes that ISO 3166-1 leaves to its users: AA, QM to QZ, XA to XZ, ZZ. */
const USER_ASSIGNED = ['AA', ...codesFrom('Q', 'M'), ...codesFrom('X', 'A'), 'ZZ']

/** ISO 3166-1: each country by its three codes, the numeric ones first, as they sort. */
export function countries(entries) {
  const coded = entries.flatMap(({ alpha2, alpha3, numeric, name }) =>
    [alpha2, alpha3, numeric].map((code) => ({
      code,
      display: name,
      property: [text('alpha2', alpha2), text('alpha3', alpha3), text('numeric', numeric)],
    })),
  )
  const own = USER_ASSIGNED.map((code) => ({ code, display: 'User-assigned', property: [text('alpha2', code)] }))
  return codeSystem('urn:iso:std:iso:3166', 'ISO3166Part1', {
    property: ['alpha2', 'alpha3', 'numeric'].map((code) => ({ code, type: 'code' })),
    concept: [...coded, ...own].sort(byCode),
  })
}

/** ISO 3166-2: subdivisions below the subdivision that they are part of. */
export function subdivisions(entries) {
  const known = new Set(entries.map(({ code }) => code))
  return codeSystem('urn:iso:std:iso:3166:-2', 'ISO3166Part2', {
    property: [
      { code: 'country', type: 'code' },
      { code: 'parent', uri: 'http://hl7.org/fhir/concept-properties#parent', type: 'code' },
    ],
    concept: entries
      .map(({ code, name, parent }) => ({
        code,
        display: name,
        property: [text('country', code.slice(0, 2)), ...(known.has(parent) ? [text('parent', parent)] : [])],
      }))
      .sort(byCode),
  })
}

/** ISO 4217: currencies in use. */
export function currencySystem(entries) {
  return codeSystem('urn:iso:std:iso:4217', 'ISO4217', {
    property: [
      { code: 'numeric', type: 'code' },
      { code: 'decimals', type: 'integer' },
    ],
    concept: entries
      .map(({ code, number, digits, currency }) => ({
        code,
        display: currency,
        property: [text('numeric', number), { code: 'decimals', valueInteger: digits }],
      }))
      .sort(byCode),
  })
}

function codeSystem(url, name, content) {
  return { resourceType: 'CodeSystem', url, name, language: 'en', status: 'active', content: 'complete', caseSensitive: true, ...content }
}

function text(code, value) {
  return { code, valueCode: value }
}

function byCode(a, b) {
  return a.code < b.code ? -1 : 1
}

function codesFrom(first, start) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  return Array.from(letters.slice(letters.indexOf(start)), (letter) => first + letter)
}
