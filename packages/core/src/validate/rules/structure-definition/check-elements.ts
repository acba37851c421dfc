import { OperationError, quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run } from '../../run/run.js'
import { DEFINITION_SNAPSHOT } from '../profile/applied-profiles.js'
import { checkConstraintKeys, checkRestrictions, DEFINITION_EXPRESSION } from './check-restrictions.js'
import { checkCharacteristics, checkTypeProfiles, DEFINITION_BINDING } from './check-types.js'
import {
  checkDiscriminators,
  checkExtensionSlicing,
  misplacedElements,
  placeOf,
  DEFINITION_SLICING,
  type ElementCheck,
  type DifferentialCheck,
} from './element-place.js'

/** An element of a differential that its base does not have at this position. */
export const DEFINITION_PATH: FindingDefinition = defineFinding(
  'definition-path',
  'error',
  'value',
  'Correct the path, or move the element to its position in the base.',
)
/** A slice that is not marked as mustSupport, of an element that is. */
export const DEFINITION_MUST_SUPPORT: FindingDefinition = defineFinding(
  'definition-must-support',
  'warning',
  'invalid',
  'Mark the slice as mustSupport, as the element that it slices.',
)

/** Checks the elements of a differential, each by itself and in their order. */
export async function checkElements(check: DifferentialCheck, nodes: readonly FhirNode[]): Promise<void> {
  const { run, isConstraint } = check
  const elements = nodes.map((node) => {
    const path = textOf(node, 'path') ?? ''
    return { run, node, path, place: placeOf(run.model, path) }
  })
  checkRoot(check, elements)
  checkExtensionSlicing(check.definition, elements)
  for (const element of elements) {
    await run.scheduler.turn()
    checkPlace(check, element)
    checkCharacteristics(element)
    checkBinding(element)
    checkExpressions(element)
    checkDiscriminators(element)
    checkTypeProfiles(element)
  }
  if (isConstraint) {
    reportMisplaced(check, elements)
    await run.scheduler.turn()
    checkRestrictions(check, elements)
    await run.scheduler.turn()
    checkConstraintKeys(check, elements)
    await run.scheduler.turn()
  }
  checkSliceSupport(check, elements)
}

function checkRoot({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const root = elements.find(({ node, path }) => !path.includes('.') && childrenOf(run, node, 'slicing').length > 0)
  if (root === undefined) return
  run.findings.report(DEFINITION_SLICING, root.node, { text: 'The root of a profile cannot be sliced.' })
  run.findings.report(DEFINITION_SNAPSHOT, definition, { text: 'The differential cannot be applied because it slices the root.' })
}

function reportMisplaced({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const misplaced = misplacedElements(run, elements)
  if (misplaced.length === 0) return
  for (const { node, path } of misplaced) {
    run.findings.report(DEFINITION_PATH, node, {
      text: `There is no element ${quoted(path)} at this position in the base; check the path and the order.`,
    })
  }
  run.findings.report(DEFINITION_PATH, definition, {
    text: `${misplaced.length} elements of the differential do not match the base: ${misplaced
      .slice(0, 5)
      .map(({ path }) => path)
      .join(', ')}.`,
  })
}

/** Checks that an element is of the definition's own type, and that it slices only what comes several times or is of several types. */
function checkPlace({ run, definition, isConstraint }: DifferentialCheck, { node, path, place }: ElementCheck): void {
  const type = (textOf(definition, 'type') ?? '').replace(/^.*\//, '')
  const say = (at: FhirNode, text: string): void => run.findings.report(DEFINITION_PATH, at, { text, code: 'not-found' })
  if (type !== '' && path !== type && !path.startsWith(`${type}.`))
    say(node, `The path ${quoted(path)} does not start with the type ${quoted(type)}.`)
  if (isSingle(place, path))
    for (const slicing of childrenOf(run, node, 'slicing'))
      say(slicing, `${quoted(path)} does not repeat and has one type, so it cannot be sliced.`)
  if (isConstraint && !/(?:^E|\.e)xtension$/.test(path) && childrenOf(run, node, 'meaningWhenMissing').length > 0)
    say(node, `Only the definition of the type can define meaningWhenMissing for ${quoted(path)}.`)
}

function isSingle(place: ElementCheck['place'], path: string): boolean {
  return place !== undefined && path.includes('.') && place.slots.every(({ isCollection, isChoice }) => !isCollection && !isChoice)
}

/** Checks that an element is bound to a value set to rely on: only experiments, and examples, use experiments. */
function checkBinding({ run, node }: ElementCheck): void {
  if (isExperiment(resourceOf(node).value)) return
  for (const binding of childrenOf(run, node, 'binding')) {
    const canonical = textOf(binding, 'valueSet')
    if (canonical === undefined || canonical.startsWith('#') || textOf(binding, 'strength') === 'example') continue
    const found = run.definitions.definition('ValueSet', canonical)
    if (found === PENDING || !isExperiment(found)) continue
    const text = `The value set ${quoted(canonical)} is experimental, but the profile is not.`
    run.findings.report(DEFINITION_BINDING, binding, { text, severity: 'warning' })
  }
}

function isExperiment(definition: unknown): boolean {
  return isObject(definition) && definition['experimental'] === true
}

/** Checks that the constraints on an element can be read. */
function checkExpressions({ run, node }: ElementCheck): void {
  for (const constraint of childrenOf(run, node, 'constraint')) {
    const expression = textOf(constraint, 'expression')
    const problem = expression === undefined ? undefined : problemOf(run, expression)
    if (problem === undefined) continue
    run.findings.report(DEFINITION_EXPRESSION, constraint, {
      text: `The expression of the constraint ${quoted(textOf(constraint, 'key') ?? '')} is not a valid FHIRPath expression: ${problem}`,
    })
  }
}

function problemOf({ definitions: facts }: Run, expression: string): string | undefined {
  try {
    facts.expression(expression)
    return undefined
  } catch (error) {
    if (error instanceof OperationError) return error.message
    throw error
  }
}

/** Checks that the slices of an element that must be supported must be supported too. */
function checkSliceSupport({ run, differential }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const supported = new Set(
    elements.filter((element) => isSupported(element) && textOf(element.node, 'sliceName') === undefined).map(({ path }) => path),
  )
  for (const element of elements) {
    const slice = textOf(element.node, 'sliceName')
    if (slice === undefined || !supported.has(element.path) || isSupported(element)) continue
    run.findings.report(DEFINITION_MUST_SUPPORT, differential, {
      text: `The slice ${quoted(slice)} of ${quoted(element.path)} is not mustSupport, but the element that it slices is.`,
    })
  }
}

function isSupported({ node: { value } }: ElementCheck): boolean {
  return isObject(value) && value['mustSupport'] === true
}
