export { createEvaluation, type EvaluationOptions } from './libraries/evaluate.js'
export type {
  CodeTest,
  Compute,
  Evaluation,
  EvaluationMessage,
  Filter,
  Given,
  GivenSource,
  KeptValues,
  LibraryTerminology,
  Narrowing,
  NarrowingDates,
  NarrowingProof,
  Places,
  ProfileTest,
  RetrieveRequest,
  Scope,
} from './compile/compiler.js'
export type { ElmNode } from './elm/node.js'
export type { LibraryResource } from './libraries/find-library.js'
export { compileLibrary, type CqlLibrary, type Definition } from './libraries/library.js'
export type { ExternalFunction, ExternalFunctions, LibraryOptions } from './libraries/library-options.js'
export type { RetrievedProfiles } from './data/profiles.js'
export { resourceElement } from './model/fhir-types.js'
export {
  evaluateCql,
  type EvaluateCqlInput,
  type EvaluateCqlOptions,
  type EvaluateCqlResult,
  type IncludedLibrary,
} from './operations/evaluate-cql.js'
export { cqlOperations } from './operations/operations.js'
export { toParameterEntries, toParameters } from './results/parameters.js'
export type { Decimal } from './values/decimal.js'
export type { Temporal } from './values/temporal.js'
export { literalText } from './values/text.js'
export type { UnitConversion } from './values/units.js'
export type { Code, Concept, FhirElement, Interval, PointType, Quantity, Ratio, Tuple, Value, Vocabulary } from './values/value.js'
export { cqlLanguage } from './measure/language.js'
export type { CqlLanguageOptions } from './measure/prepare.js'
export { cqlChecker, type CqlCheckerOptions } from './libraries/checker.js'
