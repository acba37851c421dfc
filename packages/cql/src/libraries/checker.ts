import type { LibraryChecker } from 'fhir-ops/internal/context'
import { checkOptions, having, inputShape, needed, type InputShape } from 'fhir-ops/internal/input'
import type { CqlTranslator } from '../translator/translator.js'
import { libraryProblems } from './content.js'

/** Options of `cqlChecker`. */
export interface CqlCheckerOptions {
  readonly translator: CqlTranslator
}

const SHAPE: InputShape = inputShape<CqlCheckerOptions>({ translator: needed(having('a translator', ['translate'])) })

/**
 * Creates a function that checks the CQL of Libraries, for the option `checkLibrary` of `createContext`: `$validate` reports errors and warnings of the
 * translator, and included libraries that are missing.
 *
 * @throws {TypeError} without a translator, and for an option that is unknown or of another type.
 */
export function cqlChecker(options: CqlCheckerOptions): LibraryChecker {
  checkOptions('cqlChecker', SHAPE, options)
  return (ctx, library) => libraryProblems({ ctx, translator: options.translator }, library)
}
