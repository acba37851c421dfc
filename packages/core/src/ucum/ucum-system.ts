import type { ComputedSystem } from '../code-system/index.js'
import type { JsonObject } from '../json/index.js'
import { type UcumLibrary, MAX_LENGTH, unitReader } from './unit-reader.js'

/** The version of UCUM that `@lhncbc/ucum-lhc` 7 has the units of. */
const VERSION = '2.2'
const SYSTEM = 'http://unitsofmeasure.org'

/** What the base units measure, as UCUM names it. */
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
 * Units of measure (`http://unitsofmeasure.org`), by `@lhncbc/ucum-lhc`, which the caller passes: `ucum(UcumLhcUtils.getInstance())`. A code is its
 * own display; its parts by name are a designation, its base units the property `canonical`. Filters: `canonical` (`=` a unit, `in` units separated
 * by commas), and `property =` what a base unit measures, such as `mass`. Value sets: `http://unitsofmeasure.org/vs` of all units, and
 * `http://unitsofmeasure.org/vs/<unit>` of those that can be compared with a unit. Lists are those of the value set of common units.
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

/** What is known of a code: the concept of a unit, or what is wrong with it. */
interface Unit {
  readonly concept?: JsonObject
  /** Its base units; `undefined` where it cannot be compared. */
  readonly canonical?: string | undefined
  readonly wrong?: string
}

/** More than the common units. */
const MOST_KEPT = 2_000

/** Reads units. The library takes 50 µs for one, and resources have the same few. */
function keptUnits(library: UcumLibrary): (code: string) => Unit {
  const reader = unitReader(library)
  const kept = new Map<string, Unit>()
  const readUnit = (code: string): Unit => {
    const wrong = reader.wrongIn(code)
    if (wrong !== undefined) return { wrong }
    const { status, unitToExp } = library.convertToBaseUnits(reader.plain(code), 1)
    const canonical = status === 'succeeded' && unitToExp !== undefined ? baseUnits(unitToExp) : undefined
    const property = canonical !== undefined && { property: [{ code: 'canonical', valueString: canonical }] }
    return { canonical, concept: { code, display: code, designation: [{ language: 'en', value: reader.nameOf(code) }], ...property } }
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

/** The units of which a filter wants a comparable one; `undefined` for a filter that is not of units. */
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
