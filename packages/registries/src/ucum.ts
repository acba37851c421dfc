import { createRequire } from 'node:module'
import type { ComputedSystem } from 'fhir-ops/terminology'
import type { ContextOptions } from 'fhir-ops/context'
import { ucum, ucumConversion, type UcumLibrary } from 'fhir-ops/ucum'

/**
 * Units of measure (`http://unitsofmeasure.org`): `ucum` of `fhir-ops/ucum` with `@lhncbc/ucum-lhc`, which must be installed and is loaded
 * with the first unit that is asked for.
 *
 * @throws {Error} `MODULE_NOT_FOUND` when `@lhncbc/ucum-lhc` is not installed.
 */
export function unitsOfMeasure(): ComputedSystem {
  return ucum(lazyLibrary())
}

/**
 * Conversion of units for `convertUnit` of a context, by `@lhncbc/ucum-lhc`, which must be installed and is loaded with the first unit
 * beyond those of clinical practice.
 *
 * @throws {Error} `MODULE_NOT_FOUND` when `@lhncbc/ucum-lhc` is not installed.
 */
export function unitConversion(): NonNullable<ContextOptions['convertUnit']> {
  return ucumConversion(lazyLibrary())
}

const require = createRequire(import.meta.url)
/** Code systems are asked synchronously, so the library is not imported but required. */
function lazyLibrary(): UcumLibrary {
  const path = require.resolve('@lhncbc/ucum-lhc')
  let library: UcumLibrary | undefined
  const loaded = (): UcumLibrary => (library ??= load(path))
  return {
    validateUnitString: (code) => loaded().validateUnitString(code),
    convertToBaseUnits: (code, amount) => loaded().convertToBaseUnits(code, amount),
    convertUnitTo: (from, amount, to) => loaded().convertUnitTo(from, amount, to),
  }
}

function load(path: string): UcumLibrary {
  const { UcumLhcUtils }: { UcumLhcUtils: { getInstance(): UcumLibrary } } = require(path)
  return UcumLhcUtils.getInstance()
}
