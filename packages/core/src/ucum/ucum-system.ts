import type { ComputedSystem } from '../code-system/index.js'
import type { JsonObject } from '../json/index.js'
import { type UcumLibrary, MAX_LENGTH, unitReader } from './unit-reader.js'

/** The version of UCUM whose units `@lhncbc/ucum-lhc` 7 contains. */
const VERSION = '2.2'
const SYSTEM = 'http://unitsofmeasure.org'

/** Base units by the property that they measure, as UCUM names it. */
const BASE_UNITS: ReadonlyMap<string, string> = new Map([
  ['length', 'm'],
  ['time', 's'],
  ['mass', 'g'],
  ['plane angle', 'rad'],
  ['temperature', 'K'],
  ['electric charge', 'C'],
  ['luminous intensity', 'cd'],
])

/**
 * Units of measure (`http://unitsofmeasure.org`), based on `@lhncbc/ucum-lhc`, which the caller passes: `ucum(UcumLhcUtils.getInstance())`. A code is its
 * own display; the names of its parts are designations, its base units the property `canonical`. Filters: `canonical` (`=` a unit, `in` units separated
 * by commas), and `property =` a property that a base unit measures, such as `mass`. Value sets: `http://unitsofmeasure.org/vs` of all units, and
 * `http://unitsofmeasure.org/vs/<unit>` of the units comparable with a unit. Where codes have to be listed, those of the value set of common units are.
 *
 * @see https://ucum.org/ucum
 * @see https://hl7.org/fhir/R4/ucum.html
 */
export function ucum(library: UcumLibrary): ComputedSystem {
  const read = keptUnits(library)
  const comparable = (unit: string): string | undefined => read(unit).canonical
  return {
    url: SYSTEM,
    version: VERSION,
    name: 'UCUM',
    language: 'en',
    caseSensitive: true,
    common: ['http://hl7.org/fhir/ValueSet/ucum-common'],
    find: (code) => read(code).concept,
    whyNot(code) {
      const { wrong } = read(code)
      return wrong === undefined ? undefined : `Error processing unit '${code}': ${wrong}`
    },
    filter(property, op, value) {
      const wanted = wantedUnits(property, op, value)?.map(comparable)
      if (wanted === undefined || wanted.includes(undefined)) return undefined
      return (code) => wanted.includes(comparable(code))
    },
    implicitValueSet(canonical) {
      if (canonical === VALUE_SETS) return valueSet(canonical, {})
      const unit = canonical.startsWith(`${VALUE_SETS}/`) ? canonical.slice(VALUE_SETS.length + 1) : undefined
      if (unit === undefined || comparable(unit) === undefined) return undefined
      return valueSet(canonical, { filter: [{ property: 'canonical', op: '=', value: unit }] })
    },
  }
}

/** A code that was read: the concept of a unit, or the reason why it is invalid. */
interface Unit {
  readonly concept?: JsonObject
  /** Its base units; `undefined` if the unit cannot be compared. */
  readonly canonical?: string | undefined
  readonly wrong?: string
}

/** Size of the cache; larger than the number of common units. */
const MOST_KEPT = 2_000

/** Reads units through a cache: the library takes 50 µs for one unit, and resources use the same few. */
function keptUnits(library: UcumLibrary): (code: string) => Unit {
  const reader = unitReader(library)
  const kept = new Map<string, Unit>()
  const readUnit = (code: string): Unit => {
    const wrong = reader.wrongIn(code)
    if (wrong !== undefined) return { wrong }
    const { status, unitToExp } = library.convertToBaseUnits(reader.plain(code), 1)
    const canonical = status === 'succeeded' && unitToExp !== undefined ? baseUnits(unitToExp) : undefined
    const property = canonical !== undefined && { property: [{ code: 'canonical', valueString: canonical }] }
    const names = [reader.nameOf(code), reader.plainNameOf(code)].filter((name) => name !== undefined && name !== code)
    const designation = names.map((value) => ({ language: 'en', value }))
    return { canonical, concept: { code, display: code, designation, ...property } }
  }
  return (code) => {
    const known = kept.get(code)
    if (known !== undefined) return known
    const unit = readUnit(code)
    if (kept.size >= MOST_KEPT) kept.clear()
    if (code.length <= MAX_LENGTH) kept.set(code, unit)
    return unit
  }
}

const VALUE_SETS = `${SYSTEM}/vs`

function valueSet(url: string, include: JsonObject): JsonObject {
  return { resourceType: 'ValueSet', url, status: 'active', compose: { include: [{ system: SYSTEM, ...include }] } }
}

/** The units with which a filter requires codes to be comparable; `undefined` for an unsupported filter. */
function wantedUnits(property: string, op: string, value: string): readonly string[] | undefined {
  if (property === 'property' && op === '=') {
    const unit = BASE_UNITS.get(value)
    return unit === undefined ? undefined : [unit]
  }
  if (property !== 'canonical') return undefined
  if (op === '=') return [value]
  return op === 'in' ? value.split(',').map((unit) => unit.trim()) : undefined
}

function baseUnits(exponents: Readonly<Record<string, number>>): string {
  const units = Object.entries(exponents).filter(([, exponent]) => exponent !== 0)
  if (units.length === 0) return '1'
  return units
    .map(([unit, exponent]) => (exponent === 1 ? unit : `${unit}${exponent}`))
    .toSorted()
    .join('.')
}
