import { quoted } from '../../../errors/index.js'
import { isSubtype, type FhirNode, type TypeDefinition, type TypeModel } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run } from '../../run/run.js'
import { DEFINITION_SNAPSHOT } from '../profile/applied-profiles.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { checkBinding, checkCharacteristics, checkTypeProfiles, DEFINITION_TYPE_PROFILE } from './check-types.js'
import { elementAtPath, stepInto } from '../../profile/element-at-path.js'
import { checkChanges, isMarked, checkConstraintKeys, checkRestrictions, DEFINITION_EXPRESSION } from './check-changes.js'
import { checkSlices, slicedElements } from './check-slices.js'
import { snapshotProblem } from './snapshot-problem.js'
import {
  checkDiscriminators,
  isSingle,
  misplacedElements,
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
/** A slice that is not mustSupport, of an element that is. */
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
    return { run, node, path, place: elementAtPath(run.model, path) }
  })
  checkRoot(check, elements)
  for (const element of elements) {
    await run.scheduler.turn()
    checkPlace(check, element)
    checkCharacteristics(element, check.definition)
    checkBinding(check.definition, element)
    await checkExpressions(check, element)
    checkDiscriminators(element)
    checkTypeProfiles(check, element)
    checkTypeSupport(element)
    checkTypeCodes(element)
  }
  if (isConstraint) {
    await checkApplication(check, elements)
    checkConstraintKeys(check, elements)
    await run.scheduler.turn()
  }
  await checkSnapshotSlices(check)
}

/** Checks that a differential can be applied to its base, and checks the result. */
async function checkApplication(check: DifferentialCheck, elements: readonly ElementCheck[]): Promise<void> {
  const { run, definition } = check
  const base = textOf(definition, 'baseDefinition')
  const problem = base === undefined ? undefined : await snapshotProblem({ base, elements, built: check.built })
  await run.scheduler.turn()
  if (problem !== undefined) {
    run.findings.report(DEFINITION_SNAPSHOT, definition, { text: `The differential cannot be applied: ${problem}` })
    return
  }
  reportMisplaced(check, elements)
  await run.scheduler.turn()
  checkRestrictions(check, elements)
  await run.scheduler.turn()
  await checkChanges(check, elements)
  await checkSlices(check, elements)
}

function checkRoot({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const root = elements.find(({ node, path }) => !path.includes('.') && childrenOf(run, node, 'slicing').length > 0)
  if (root === undefined) return
  run.findings.report(DEFINITION_SLICING, root.node, { text: 'The root of a profile cannot be sliced.' })
  run.findings.report(DEFINITION_SNAPSHOT, definition, { text: 'The differential cannot be applied because it slices the root.' })
}

function reportMisplaced({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const unmatched = new Set(misplacedElements(run, elements))
  const narrowed = new Set(
    elements.flatMap(({ node: { value }, path }) => (isObject(value) && objectsAt(value, 'type').length === 1 ? [path] : [])),
  )
  const misplaced = elements.filter((element) => unmatched.has(element) || isInChoice(run, element, narrowed))
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

/** True for an element inside one of several types. The content differs by type, so a differential must name the type first. */
function isInChoice({ model }: Run, { path }: ElementCheck, narrowed: ReadonlySet<string>): boolean {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('.')))
  if (!parent.endsWith('[x]') || narrowed.has(parent) || /\.(?:id|extension)$/.test(path)) return false
  return (elementAtPath(model, parent)?.types ?? []).length > 1
}

/** Checks that an element is of the definition's own type, and that it slices only elements that repeat or have several types. */
function checkPlace({ run, definition, isConstraint }: DifferentialCheck, { node, path, place }: ElementCheck): void {
  const type = (textOf(definition, 'type') ?? '').replace(/^.*\//, '')
  const say = (at: FhirNode, text: string): void => run.findings.report(DEFINITION_PATH, at, { text, code: 'not-found' })
  if (type !== '' && path !== type && !path.startsWith(`${type}.`))
    say(node, `The path ${quoted(path)} does not start with the type ${quoted(type)}.`)
  if (isSingle({ path, place }))
    for (const slicing of childrenOf(run, node, 'slicing'))
      say(slicing, `${quoted(path)} does not repeat and has one type, so it cannot be sliced.`)
  if (isConstraint && !/(?:^E|\.e)xtension$/.test(path) && childrenOf(run, node, 'meaningWhenMissing').length > 0)
    say(node, `Only the definition of the type can define meaningWhenMissing for ${quoted(path)}.`)
}

/** Checks that the constraints on an element can be parsed and name existing elements. If there is a snapshot, its constraints are checked instead. */
async function checkExpressions({ run, definition }: DifferentialCheck, { node, path }: ElementCheck): Promise<void> {
  const isWhole = childrenOf(run, definition, 'snapshot').length === 0
  for (const constraint of childrenOf(run, node, 'constraint')) {
    const [key, expression] = [textOf(constraint, 'key'), textOf(constraint, 'expression')]
    const say = (text: string, severity: 'warning' | 'information'): void =>
      run.findings.report(DEFINITION_EXPRESSION, constraint, { text, severity, code: 'informational' })
    if (key === undefined) say('The constraint has no key, so nothing can refer to it.', 'warning')
    else if (expression === undefined) say(`The constraint ${quoted(key)} has no expression, so it cannot be checked.`, 'information')
    else if (isWhole) await checkExpression(run, constraint, { expression, path })
  }
}

/** Checks the expressions of the constraints that a definition adds in its snapshot. */
export async function checkSnapshotExpressions(run: Run, definition: FhirNode): Promise<void> {
  const url = textOf(definition, 'url')
  for (const element of childrenOf(run, definition, 'snapshot').flatMap((snapshot) => childrenOf(run, snapshot, 'element')))
    for (const constraint of childrenOf(run, element, 'constraint')) {
      const [source, expression] = [textOf(constraint, 'source'), textOf(constraint, 'expression')]
      if (expression !== undefined && (source === undefined || source === url))
        await checkExpression(run, constraint, { expression, path: textOf(element, 'path') ?? '' })
    }
}

interface Placed {
  readonly expression: string
  readonly path: string
}

async function checkExpression(run: Run, constraint: FhirNode, { expression, path }: Placed): Promise<void> {
  await run.scheduler.turn()
  const { model } = run
  const problem = expressionProblem(expression, {
    model,
    focus: elementAtPath(model, path)?.types ?? [],
    resource: resourceAt(model, path),
  })
  if (problem === undefined) return
  run.findings.report(DEFINITION_EXPRESSION, constraint, {
    text: `The expression of the constraint ${quoted(textOf(constraint, 'key') ?? '')} is invalid: ${problem.text}`,
    ...(!problem.isError && { severity: 'warning', code: 'business-rule' }),
  })
}

/** The type of `%resource` at a path; `undefined` in a data type, and in a resource within a resource, whose type is not known. */
function resourceAt(model: TypeModel, path: string): TypeDefinition | undefined {
  const [root = '', ...steps] = path.split('.')
  const type = model.type(root)
  if (type === undefined || !isResource(type)) return undefined
  let types: readonly TypeDefinition[] = [type]
  for (const step of steps) {
    types = stepInto(model, types, step)?.types ?? []
    if (types.some(isResource)) return undefined
  }
  return type
}

function isResource({ kind }: TypeDefinition): boolean {
  return kind === 'resource'
}

/** Reports a type whose code has no value: such types are only for definitions of other releases, and R4 is the first without them. */
function checkTypeCodes({ run, node, path }: ElementCheck): void {
  for (const type of childrenOf(run, node, 'type'))
    if (isObject(type.value) && type.value['_code'] !== undefined && textOf(type, 'code') === undefined && !hasTypeExtension(type.value))
      run.findings.report(DEFINITION_TYPE_PROFILE, node, {
        text: `A type of ${quoted(path)} has a code without a value.`,
        severity: 'error',
        code: 'invalid',
      })
}

function hasTypeExtension(type: JsonObject): boolean {
  return objectsAt(type, 'extension').some(({ url }) => url === 'http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type')
}

/** Reports a type or profile that is marked as mustSupport on an element that is not. */
function checkTypeSupport({ run, node }: ElementCheck): void {
  if (!isObject(node.value) || node.value['mustSupport'] === true || childrenOf(run, resourceOf(node), 'snapshot').length > 0) return
  const marked = objectsAt(node.value, 'type').some((type) =>
    [type, ...['_profile', '_targetProfile'].flatMap((name) => objectsAt(type, name))].some((one) =>
      isMarked(one, 'elementdefinition-type-must-support'),
    ),
  )
  if (marked)
    run.findings.report(DEFINITION_MUST_SUPPORT, node, {
      text: 'Types or profiles of the element are marked as mustSupport, but the element is not.',
      severity: 'information',
      code: 'exception',
    })
}

/** Checks that slices are mustSupport if the sliced element is, and have its types. */
async function checkSnapshotSlices({ run, definition, differential, built }: DifferentialCheck): Promise<void> {
  const own = isObject(definition.value) ? objectsAt(objectAt(definition.value, 'snapshot'), 'element') : []
  for (const { element, slices } of await slicedElements(run, own.length > 0 ? own : (built?.elements ?? [])))
    for (const slice of slices) {
      await run.scheduler.turn()
      const name = `The slice ${quoted(stringAt(slice, 'sliceName') ?? '')} of ${quoted(stringAt(slice, 'path') ?? '')}`
      if (element['mustSupport'] === true && slice['mustSupport'] !== true)
        run.findings.report(DEFINITION_MUST_SUPPORT, differential, {
          text: `${name} is not mustSupport, but the element that it slices is.`,
        })
      const stray = typesOf(slice).find((type) => !typesOf(element).some((known) => isOfType(run, type, known)))
      if (stray !== undefined && typesOf(element).length > 0)
        run.findings.report(DEFINITION_SLICING, differential, {
          text: `${name} is of type ${quoted(stray)}, but the element that it slices is of type ${typesOf(element).join(' or ')}.`,
          severity: 'warning',
        })
    }
}

function typesOf(element: JsonObject): readonly string[] {
  return objectsAt(element, 'type').map((type) => stringAt(type, 'code') ?? '')
}

function isOfType({ model }: Run, type: string, base: string): boolean {
  const definition = model.type(type)
  return type === base || definition === undefined || isSubtype(model, definition, base)
}
