import { createRequire } from 'node:module'
import type { ComputedSystem } from 'fhir-ops/terminology'
import type { ContextOptions } from 'fhir-ops/context'
import { ucum, ucumConversion, type UcumLibrary } from 'fhir-ops/ucum'

/**
 * The code system of units of measure (`http://unitsofmeasure.org`): `ucum` of `fhir-ops/ucum` with `@lhncbc/ucum-lhc`, which must be installed. It is
 * loaded when a unit is first needed.
 *
 * @throws {Error} `MODULE_NOT_FOUND` if `@lhncbc/ucum-lhc` is not installed.
 */
export function unitsOfMeasure(): ComputedSystem {
  return ucum(lazyLibrary())
}

/**
 * Converts units, for `convertUnit` of a context, with `@lhncbc/ucum-lhc`, which must be installed. It is loaded with the first unit
 * that is not among those of clinical practice.
 *
 * @throws {Error} `MODULE_NOT_FOUND` if `@lhncbc/ucum-lhc` is not installed.
 */
export function unitConversion(): NonNullable<ContextOptions['convertUnit']> {
  return ucumConversion(lazyLibrary())
}

const require = createRequire(import.meta.url)
/** Code systems are synchronous, so the library is loaded with `require` instead of `import`. */
function lazyLibrary(): UcumLibrary {
  const path = require.resolve('@lhncbc/ucum-lhc')
  let library: UcumLibrary | undefined
  const loaded = (): UcumLibrary => (library ??= load(path))
  return {
    validateUnitString: (code) => loaded().validateUnitString(code),
    getSpecifiedUnit: (code, purpose) => loaded().getSpecifiedUnit(code, purpose),
    convertToBaseUnits: (code, amount) => loaded().convertToBaseUnits(code, amount),
    convertUnitTo: (from, amount, to) => loaded().convertUnitTo(from, amount, to),
  }
}

function load(path: string): UcumLibrary {
  const { UcumLhcUtils }: { UcumLhcUtils: { getInstance(): UcumLibrary } } = require(path)
  return UcumLhcUtils.getInstance()
}
