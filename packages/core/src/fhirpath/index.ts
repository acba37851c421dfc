export { type Ast, type BinaryOperator, type Literal, type TypeSpecifier, parseFhirPath } from './parser.js'
export { compileBranches, compileFhirPath, type CompiledBranch, type CompiledPath, type FhirPathOptions } from './compile.js'
export { decimalOf, type Decimal } from './decimal.js'
export { PENDING, type FhirPathBudget, type FhirPathContext, type FhirPathHost, type Pending } from './host.js'
export {
  type Item,
  type Items,
  type SystemValue,
  type TypeInfo,
  isDecimal,
  isNode,
  isQuantity,
  isTemporal,
  systemTypeOf,
  toSystem,
} from './item.js'
export {
  modelOfDefinitions,
  ANY_TYPE,
  elementSlot,
  isSubtype,
  SYSTEM_TYPE_NAMES,
  typeDefinition,
  UNTYPED_MODEL,
  type ElementSlot,
  type SlotParts,
  type SystemType,
  type TypeDefinition,
  type TypeModel,
  type TypeParts,
} from './model.js'
export { childSlots, isEmpty, pathOf, pushAllChildren, pushChildren, pushSlot, rootNode, type FhirNode, type NodeSink } from './node.js'
export { callProblem } from './functions/registry.js'
export { CALENDAR_OF_UCUM, calendarUnit, definiteUnit, ucumUnit, unitProduct, type Quantity, type UnitConversion } from './quantity.js'
export { addDuration, temporalOf, temporalText, type Temporal, type TemporalKind } from './temporal.js'
export { textOfValue } from './functions/conversion.js'
export { constantOf } from './code.js'
export { isSyntaxProblem } from './problem.js'
