import type { ComputedSystem } from '../code-system/index.js'
import type { UcumLibrary } from './ucum-library.js'
import { unitReader } from './unit-reader.js'

/** The version of UCUM that `@lhncbc/ucum-lhc` 7 has the units of. */
const VERSION = '2.2'

/**
 * Units of measure (`http://unitsofmeasure.org`), by `@lhncbc/ucum-lhc`, which the caller brings: `ucum(UcumLhcUtils.getInstance())`. A
 * code is its own display; its parts by name are a designation, its base units the property `canonical`. Filter: `canonical =` a
 * unit. Lists are those of the value set of common units.
 *
 * @see https://ucum.org/ucum
 */
export function ucum(library: UcumLibrary): ComputedSystem {
  const reader = unitReader(library)
  const canonicalOf = (code: string): string | undefined => {
    const { status, unitToExp } = library.convertToBaseUnits(reader.plain(code), 1)
    return status === 'succeeded' && unitToExp !== undefined ? baseUnits(unitToExp) : undefined
  }
  return {
    url: 'http://unitsofmeasure.org',
    version: VERSION,
    name: 'UCUM',
    language: 'en',
    caseSensitive: true,
    common: ['http://hl7.org/fhir/ValueSet/ucum-common'],
    find(code) {
      if (reader.wrongIn(code) !== undefined) return undefined
      const canonical = canonicalOf(code)
      return {
        code,
        display: code,
        designation: [{ language: 'en', value: reader.nameOf(code) }],
        ...(canonical !== undefined && { property: [{ code: 'canonical', valueString: canonical }] }),
      }
    },
    whyNot(code) {
      const reason = reader.wrongIn(code)
      return reason === undefined ? undefined : `Error processing unit '${code}': ${reason}`
    },
    filter(property, op, value) {
      const wanted = property === 'canonical' && op === '=' && reader.wrongIn(value) === undefined ? canonicalOf(value) : undefined
      return wanted === undefined ? undefined : (code) => canonicalOf(code) === wanted
    },
  }
}

function baseUnits(exponents: Readonly<Record<string, number>>): string {
  const units = Object.entries(exponents).filter(([, exponent]) => exponent !== 0)
  if (units.length === 0) return '1'
  return units
    .map(([unit, exponent]) => (exponent === 1 ? unit : `${unit}${exponent}`))
    .toSorted()
    .join('.')
}
