import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { DEFINITION_SNAPSHOT } from '../profile/applied-profiles.js'
import { elementAtPath } from '../../profile/element-at-path.js'
import { isMarked, DEFINITION_EXPRESSION } from './check-changes.js'
import { checkBoundTo, characteristicProblems, checkNamedProfiles, DEFINITION_BINDING } from './check-types.js'
import { isSingle, type ElementCheck } from './element-place.js'
import { isOfType } from './snapshot-problem.js'

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
  const types = objectsAt(value, 'type').map((type) => stringAt(type, 'code') ?? '')
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
  const marked = objectsAt(value, 'type').some((type) =>
    [type, ...['_profile', '_targetProfile'].flatMap((name) => objectsAt(type, name))].some((one) =>
      isMarked(one, 'elementdefinition-type-must-support'),
    ),
  )
  if (marked && value['mustSupport'] !== true)
    run.findings.report(DEFINITION_SNAPSHOT, element, {
      text: 'Types or profiles of the element are marked as mustSupport, but the element is not.',
      severity: 'warning',
    })
}
