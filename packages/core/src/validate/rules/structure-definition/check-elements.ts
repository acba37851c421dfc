import { quoted } from '../../../errors/index.js'
import { type FhirNode, isSubtype, type TypeDefinition, type TypeModel } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectAt, objectsAt, stringAt } from '../../../json/index.js'
import { elementAtPath, mayExist, stepInto } from '../../profile/element-at-path.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run } from '../../run/run.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { DEFINITION_SNAPSHOT } from '../profile/applied-profiles.js'
import {
  checkDiscriminators,
  DEFINITION_SLICING,
  type DifferentialCheck,
  type ElementCheck,
  isSingle,
  misplacedElements,
} from './base-element.js'
import { checkChanges, checkConstraintKeys, checkRestrictions, DEFINITION_EXPRESSION, isMarked } from './check-changes.js'
import { checkSlices, slicedElements } from './check-slices.js'
import {
  characteristicProblems,
  checkBinding,
  checkBoundTo,
  checkCharacteristics,
  checkNamedProfiles,
  checkTypeProfiles,
  DEFINITION_BINDING,
  DEFINITION_TYPE_PROFILE,
} from './check-types.js'
import { isOfType, snapshotProblem } from './snapshot-problem.js'

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

function reportMisplaced({ run, definition, built }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const unmatched = new Set(misplacedElements(run, elements))
  const narrowed = new Set(
    elements.flatMap(({ node: { value }, path }) => (isObject(value) && objectsAt(value, 'type').length === 1 ? [path] : [])),
  )
  const absent = new Set(built?.problems.flatMap(({ kind, expression }) => (kind === 'element-unknown' ? [expression] : [])))
  const misplaced = elements.filter((element, index) => {
    if (element.place === undefined && mayExist(run.model, element.path))
      return absent.has(`StructureDefinition.differential.element[${index}]`)
    return unmatched.has(element) || isInChoice(run, element, narrowed)
  })
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
  const name = textOf(definition, 'type') ?? ''
  const type = textOf(definition, 'kind') === 'logical' ? name.replace(/^.*\//, '') : name
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
  if (hasSupportedType(node.value))
    run.findings.report(DEFINITION_MUST_SUPPORT, node, {
      text: 'Types or profiles of the element are marked as mustSupport, but the element is not.',
      severity: 'information',
      code: 'exception',
    })
}

/** Whether a type of an element, or one of the type's profiles, is marked as mustSupport. */
function hasSupportedType(element: JsonObject): boolean {
  return objectsAt(element, 'type').some((type) =>
    [type, ...['_profile', '_targetProfile'].flatMap((name) => objectsAt(type, name))].some((one) =>
      isMarked(one, 'elementdefinition-type-must-support'),
    ),
  )
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
      const stray = typesOf(slice).find((type) => !typesOf(element).some((known) => mayBeOfType(run, type, known)))
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

/** Whether a type is another one or derives from it; true for a type that is not known. */
function mayBeOfType({ model }: Run, type: string, base: string): boolean {
  const definition = model.type(type)
  return type === base || definition === undefined || isSubtype(model, definition, base)
}

/** Checks each element of a snapshot by itself: values of the wrong type or of repeating elements, and members that are wrong at the root. */
export function checkSnapshot(run: Run, definition: FhirNode): void {
  const isConstraint = textOf(definition, 'derivation') === 'constraint'
  const keys = new Map<string, string>()
  for (const element of childrenOf(run, definition, 'snapshot').flatMap((snapshot) => childrenOf(run, snapshot, 'element'))) {
    run.scheduler.step()
    if (!isObject(element.value)) continue
    checkMembers(run, element, isConstraint)
    if ((textOf(element, 'path') ?? '').includes('.')) checkValues(run, element, element.value)
    checkSupport(run, element, element.value)
    const placed = placedElement(run, element)
    if (isConstraint) checkProfiled(placed)
    checkBoundTo(definition, placed)
    checkKeys(run, element, keys)
  }
}

function placedElement(run: Run, node: FhirNode): ElementCheck {
  const path = textOf(node, 'path') ?? ''
  return { run, node, path, place: elementAtPath(run.model, path) }
}

/** Checks that apply to elements of profiles, but not to FHIR's own definitions. */
function checkProfiled(element: ElementCheck): void {
  const { run, node } = element
  for (const text of characteristicProblems(run, node)) run.findings.report(DEFINITION_BINDING, node, { text })
  checkSliced(element)
  checkDefaultValue(element)
  checkTypes(element)
}

function checkSliced({ run, node, path, place }: ElementCheck): void {
  if (!isSingle({ path, place })) return
  for (const slicing of childrenOf(run, node, 'slicing'))
    run.findings.report(DEFINITION_SNAPSHOT, slicing, { text: `${quoted(path)} does not repeat and has one type, so it cannot be sliced.` })
}

function checkDefaultValue({ run, node }: ElementCheck): void {
  const types = childrenOf(run, node, 'type')
  for (const { type } of childrenOf(run, node, 'defaultValue'))
    if (!types.some((one) => textOf(one, 'code') === type.name))
      run.findings.report(DEFINITION_SNAPSHOT, node, { text: `The default value is of type ${type.name}, which the element cannot have.` })
}

/** Checks that a profile gives an element only types that it has. */
function checkTypes({ run, node, path, place }: ElementCheck): void {
  const allowed = place?.slots.map(({ type }) => type) ?? []
  for (const type of childrenOf(run, node, 'type')) {
    checkNamedProfiles(run, type)
    const code = textOf(type, 'code')
    if (code === undefined || allowed.length === 0 || allowed.some((one) => isOfType(run, code, one))) continue
    run.findings.report(DEFINITION_SNAPSHOT, type, { text: `${quoted(path)} cannot be of type ${quoted(code)}.` })
  }
}

/** Checks that a key always identifies the same constraint. */
function checkKeys(run: Run, element: FhirNode, keys: Map<string, string>): void {
  for (const constraint of childrenOf(run, element, 'constraint')) {
    const [key, expression] = [textOf(constraint, 'key'), textOf(constraint, 'expression')]
    if (key === undefined || expression === undefined) continue
    const known = keys.get(key) ?? expression
    keys.set(key, known)
    if (known === expression) continue
    run.findings.report(DEFINITION_EXPRESSION, constraint, { text: `The key ${quoted(key)} is already used for another constraint.` })
  }
}

const AT_ROOT = ['sliceName', 'slicing', 'requirements', 'defaultValue', 'fixed', 'pattern', 'example', 'minValue', 'maxValue']

/** Members that apply only to values. Published definitions of types state them for elements, as a profile would. */
const OF_VALUES: ReadonlySet<string> = new Set(['fixed', 'pattern', 'minValue', 'maxValue'])

/** Reports members that ElementDefinitions must not have at the root, or in the definition of a type. */
function checkMembers(run: Run, element: FhirNode, isConstraint: boolean): void {
  const path = textOf(element, 'path') ?? ''
  const isRoot = !path.includes('.')
  if (isConstraint && !isRoot) return
  const prohibited = isRoot ? prohibitedAtRoot(run, path, isConstraint) : ['sliceName', ...OF_VALUES]
  const has = (name: string): boolean => childrenOf(run, element, name).length > 0
  const say = (text: string, severity?: 'warning'): void =>
    run.findings.report(DEFINITION_SNAPSHOT, element, { text, ...(severity !== undefined && { severity }) })
  for (const name of prohibited.filter(has))
    say(`${quoted(path)} must not have ${name}.`, !isRoot && OF_VALUES.has(name) ? 'warning' : undefined)
  if (!isRoot) for (const name of ['min', 'max'].filter((one) => !has(one))) say(`${quoted(path)} must have ${name}.`)
}

/** The members that are not allowed at the root. A profile on a data type may restrict its values. */
function prohibitedAtRoot({ model }: Run, type: string, isConstraint: boolean): readonly string[] {
  if (!isConstraint) return AT_ROOT
  const always = model.type(type)?.kind === 'resource' ? AT_ROOT : AT_ROOT.filter((name) => !OF_VALUES.has(name))
  return [...always, 'meaningWhenMissing', 'maxLength']
}

function checkValues(run: Run, element: FhirNode, value: JsonObject): void {
  const types = typesOf(value)
  if (types.length === 0 && value['contentReference'] === undefined)
    run.findings.report(DEFINITION_SNAPSHOT, element, { text: `${quoted(textOf(element, 'path') ?? '')} has no type.` })
  const repeats = value['max'] !== '0' && value['max'] !== '1'
  for (const stem of ['fixed', 'pattern'] as const)
    for (const node of childrenOf(run, element, stem)) {
      const name = node.type.name
      const say = (text: string, severity?: 'warning' | 'information'): void =>
        run.findings.report(DEFINITION_SNAPSHOT, node, { text, ...(severity !== undefined && { severity }) })
      const isSystem = types.some((type) => type.startsWith('http://hl7.org/fhirpath/'))
      if (types.length > 0 && !types.includes(name) && !isSystem)
        say(`The value is of type ${name}, but the element is of type ${types.join(' or ')}.`)
      if (repeats) say('The element repeats; the value applies to every repetition.', 'information')
      if (repeats && node.type.kind === 'primitive') say('Some implementations do not apply the value to every repetition.', 'warning')
      if (stem === 'fixed' && node.type.kind !== 'primitive')
        say(`A fixed ${name} allows exactly this value and nothing else; a pattern may be intended.`, 'warning')
    }
}

function checkSupport(run: Run, element: FhirNode, value: JsonObject): void {
  if (hasSupportedType(value) && value['mustSupport'] !== true)
    run.findings.report(DEFINITION_SNAPSHOT, element, {
      text: 'Types or profiles of the element are marked as mustSupport, but the element is not.',
      severity: 'warning',
    })
}
