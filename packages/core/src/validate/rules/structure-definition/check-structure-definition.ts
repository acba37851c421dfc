import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { TYPE_URL } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { elementAtPath, type ElementAtPath } from '../../profile/element-at-path.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { profileContext } from '../extension/extension-context.js'
import { DEFINITION_SNAPSHOT } from '../profile/applied-profiles.js'
import { isAbsoluteUri } from '../primitive/text.js'
import { checkElements, checkSnapshot, checkSnapshotExpressions, DEFINITION_MUST_SUPPORT, DEFINITION_PATH } from './check-elements.js'
import { checkObligations, DEFINITION_OBLIGATION, checkInheritance } from './check-obligations.js'
import { DEFINITION_VALUE, DEFINITION_RESTRICTION, DEFINITION_EXPRESSION } from './check-changes.js'
import { DEFINITION_BINDING, DEFINITION_TYPE_PROFILE } from './check-types.js'
import { builtSnapshot, DEFINITION_SLICING } from './base-element.js'

const DEFINITION_BASE: FindingDefinition = defineFinding(
  'definition-base',
  'warning',
  'not-found',
  'Load the base definition; until then the differential is not checked against it.',
)
const DEFINITION_EXTENSION_URL: FindingDefinition = defineFinding(
  'definition-extension-url',
  'error',
  'business-rule',
  'Fix `Extension.url` to the url of the definition.',
)
const DEFINITION_CONTEXT: FindingDefinition = defineFinding(
  'definition-context',
  'warning',
  'business-rule',
  'List the elements that the extension can be used on.',
)

/** StructureDefinitions. */
export const structureDefinitionRule: ResourceRule = {
  on: ['StructureDefinition'],
  finds: [
    DEFINITION_BASE,
    DEFINITION_PATH,
    DEFINITION_SNAPSHOT,
    DEFINITION_SLICING,
    DEFINITION_BINDING,
    DEFINITION_RESTRICTION,
    DEFINITION_EXPRESSION,
    DEFINITION_EXTENSION_URL,
    DEFINITION_TYPE_PROFILE,
    DEFINITION_CONTEXT,
    DEFINITION_OBLIGATION,
    DEFINITION_VALUE,
    DEFINITION_MUST_SUPPORT,
  ],
  check: checkStructureDefinition,
}

/** Checks that a StructureDefinition can be used: its base is known, its differential fits the type, its context is not too wide. */
async function checkStructureDefinition(run: Run, node: FhirNode): Promise<void> {
  checkBase(run, node)
  await checkContexts(run, node)
  checkExtensionUrl(run, node)
  await checkSnapshotExpressions(run, node)
  checkSnapshot(run, node)
  checkAbstract(run, node)
  const [differential] = childrenOf(run, node, 'differential')
  const isConstraint = textOf(node, 'derivation') === 'constraint'
  const built = isConstraint && isObject(node.value) ? await builtSnapshot(run, node.value) : undefined
  await checkInheritance(run, node, built?.elements ?? elementsIn(node, 'snapshot'))
  if (differential !== undefined)
    await checkElements({ run, definition: node, differential, isConstraint, built }, childrenOf(run, differential, 'element'))
  await checkObligations(run, node, differential)
}

function elementsIn({ value }: FhirNode, part: string): readonly JsonObject[] | undefined {
  return isObject(value) && isObject(value[part]) ? objectsAt(value[part], 'element') : undefined
}

/** The base of logical models that are neither resources nor types. It has no elements, and no definition in R4. */
const ANYTHING = `${TYPE_URL}Base`

function checkBase(run: Run, node: FhirNode): void {
  const base = textOf(node, 'baseDefinition')
  const found = base === undefined || base === ANYTHING ? PENDING : run.definitions.definition('StructureDefinition', base)
  if (found === undefined) {
    run.findings.report(DEFINITION_BASE, node, {
      text: `The base ${quoted(base ?? '')} could not be found, so the differential is not checked against it.`,
    })
  } else if (found !== PENDING) checkDerivation(run, node, found)
}

function checkDerivation(run: Run, node: FhirNode, base: JsonObject): void {
  if (base['experimental'] === true && isObject(node.value) && node.value['experimental'] !== true)
    run.findings.report(DEFINITION_BASE, node, { text: 'The base is experimental, but the definition is not.', code: 'business-rule' })
  if (isCircular(run, node)) run.findings.report(DEFINITION_SNAPSHOT, node, { text: 'The definition is derived from itself.' })
  const isSameType = base['type'] === textOf(node, 'type')
  const say = (text: string): void => run.findings.report(DEFINITION_BASE, node, { text, severity: 'error' })
  if (textOf(node, 'derivation') === undefined && isSameType && run.model.type(shownJson(base['type'])) !== undefined) {
    run.findings.report(DEFINITION_BASE, node, {
      text: `Without a derivation the definition would be that of the type ${quoted(shownJson(base['type']))} itself.`,
      at: 'type',
      severity: 'error',
      code: 'invalid',
    })
    say('A definition with a base must have a derivation.')
    return
  }
  const isOtherKind = base['kind'] !== textOf(node, 'kind')
  if (textOf(node, 'derivation') !== 'constraint') {
    if (isOtherKind && base['abstract'] !== true)
      say(`The base is a ${quoted(shownJson(base['kind']))}, so the type must be of the same kind.`)
    if (isSameType) say(`A type that is derived from ${quoted(shownJson(base['type']))} must have another name.`)
    return
  }
  if (isOtherKind) say(`The base is a ${quoted(shownJson(base['kind']))}, so the profile must be of the same kind.`)
  if (!isSameType) {
    run.findings.report(DEFINITION_SNAPSHOT, node, {
      text: `The differential cannot be applied: the base ${quoted(textOf(node, 'baseDefinition') ?? '')} is of type ${quoted(shownJson(base['type']))}.`,
    })
  }
}

/** Reports an abstract definition that no other one is derived from. */
function checkAbstract(run: Run, node: FhirNode): void {
  const url = textOf(node, 'url')
  if (!isObject(node.value) || node.value['abstract'] !== true || url === undefined || run.definitions.isBase(url) !== false) return
  run.findings.report(DEFINITION_BASE, node, {
    text: `${quoted(textOf(node, 'name') ?? url)} is abstract, but no definition is derived from it.`,
  })
}

function isCircular(run: Run, node: FhirNode): boolean {
  const url = textOf(node, 'url')
  const seen = new Set<string>()
  for (let next = textOf(node, 'baseDefinition'); next !== undefined && !seen.has(next);) {
    seen.add(next)
    if (next.split('|', 1)[0] === url) return true
    const found = run.definitions.definition('StructureDefinition', next)
    next = found === undefined || found === PENDING ? undefined : stringAt(found, 'baseDefinition')
  }
  return false
}

const EXTENSION = 'http://hl7.org/fhir/StructureDefinition/Extension'

/** Checks that the definition of an extension fixes the url to its own. A profile on an extension inherits it. */
function checkExtensionUrl(run: Run, node: FhirNode): void {
  if (textOf(node, 'baseDefinition') !== EXTENSION) return
  const url = textOf(node, 'url') ?? ''
  const elements = ['differential', 'snapshot']
    .flatMap((name) => childrenOf(run, node, name))
    .flatMap((part) => childrenOf(run, part, 'element'))
  if (elements.some((element) => textOf(element, 'path') === 'Extension.url' && textOf(element, 'fixedUri') === url)) return
  run.findings.report(DEFINITION_EXTENSION_URL, node, { text: `The definition must fix the url of the extension to ${quoted(url)}.` })
}

/** R5's names for resources with a url and a status, which definitions for R4 use. */
const LATER: ReadonlySet<string> = new Set(['CanonicalResource', 'MetadataResource'])

/** Checks that the contexts of an extension are existing elements and not every element, and that only extensions have contexts. */
async function checkContexts(run: Run, node: FhirNode): Promise<void> {
  const contexts = childrenOf(run, node, 'context')
  if (textOf(node, 'type') === 'Extension') {
    for (const context of contexts) checkContext(run, context)
    return checkContextInvariants(run, node, contexts)
  }
  for (const context of [...contexts, ...childrenOf(run, node, 'contextInvariant')])
    reportWrong(run, context, 'Only extensions have a context.')
}

function checkContext(run: Run, context: FhirNode): void {
  const [type, expression = ''] = [textOf(context, 'type'), textOf(context, 'expression')]
  const place = elementAtPath(run.model, expression)
  const isKnown =
    LATER.has(expression) ||
    isInDefinition(run, expression) ||
    (place !== undefined && (type !== 'element' || !isOneType(place, expression)))
  const warn = (text: string): void => run.findings.report(DEFINITION_CONTEXT, context, { text })
  if (type === 'fhirpath' && isKnown) warn(`${quoted(expression)} is an element, so the context should be of the type element.`)
  if (type !== 'element') return
  if (expression === 'Element') warn('The context Element allows the extension everywhere; name the elements that it is for.')
  // An extension on the context may state that it is an element of another release.
  else if (!isKnown && childrenOf(run, context, 'extension').length === 0)
    reportWrong(run, context, `Unknown element ${quoted(expression)}.`)
}

/** True for an element of a definition, by canonical and id; also for slices, and elements of definitions that are not available, as these are not known. */
function isInDefinition(run: Run, expression: string): boolean {
  const context = profileContext(expression)
  const profile = context === undefined ? undefined : run.definitions.profile(context.canonical)
  if (context === undefined || profile === undefined || profile === PENDING) return context !== undefined
  return profile.elements.has(context.element) || elementAtPath(run.model, context.element.replaceAll(/:[^.]*/g, '')) !== undefined
}

/** True for the JSON name of one type of a choice. Contexts must name the choice, which has all types. */
function isOneType({ slots }: ElementAtPath, path: string): boolean {
  const name = path.slice(path.lastIndexOf('.') + 1).replace('[x]', '')
  return slots.some((slot) => slot.isChoice && slot.name !== name)
}

function reportWrong(run: Run, context: FhirNode, text: string): void {
  run.findings.report(DEFINITION_CONTEXT, context, { text, severity: 'error', code: 'invalid' })
}

const DEFINITION_TYPE_NAME: FindingDefinition = defineFinding(
  'definition-type-name',
  'error',
  'invalid',
  'Name a type of FHIR that is constrained, or give a logical model the absolute URL of its own type.',
)

/** The types that StructureDefinitions name. */
export const typeNameRule: ResourceRule = { on: ['StructureDefinition'], finds: [DEFINITION_TYPE_NAME], check: checkTypeName }

/**
 * Checks that a StructureDefinition is about a type of FHIR, or defines one of its own by an absolute URL.
 *
 * @see https://hl7.org/fhir/R4/structuredefinition-definitions.html#StructureDefinition.type
 */
function checkTypeName(run: Run, node: FhirNode): void {
  const type = textOf(node, 'type')
  const isBare = type === undefined && childrenOf(run, node, 'type').length > 0
  const text = type === undefined ? undefined : problemOf(run, node, type)
  if (isBare) run.findings.report(DEFINITION_TYPE_NAME, node, { text: 'The definition names no type.', at: 'type' })
  if (text !== undefined) run.findings.report(DEFINITION_TYPE_NAME, node, { text, at: 'type' })
  const url = textOf(node, 'url')
  if (type === undefined || url === undefined || !isAbsoluteUri(type) || namespaceOf(type) === namespaceOf(url)) return
  const other = `The type ${quoted(type)} should be in the same namespace as the definition, whose url is ${quoted(url)}.`
  run.findings.report(DEFINITION_TYPE_NAME, node, { text: other, at: 'type', severity: 'warning' })
}

function namespaceOf(url: string): string {
  return url.slice(0, Math.max(0, url.lastIndexOf('/')))
}

function problemOf(run: Run, node: FhirNode, type: string): string | undefined {
  const kind = textOf(node, 'kind')
  if (isAbsoluteUri(type)) {
    const isOwn = kind === undefined || kind === 'logical'
    return isOwn ? undefined : `The type ${quoted(type)} can only be defined if the kind is 'logical', not ${quoted(kind)}.`
  }
  if (textOf(node, 'url') === TYPE_URL + type) return undefined
  if (run.model.type(type) === undefined || type.includes('.'))
    return `The type ${quoted(type)} is not defined by FHIR; other types must be absolute URLs.`
  return textOf(node, 'derivation') === 'specialization'
    ? `The type ${quoted(type)} can only be used when its own definition is constrained, and this one is a specialization.`
    : undefined
}

/** Checks that the context invariants of an extension can be parsed, and name elements that the contexts have. */
async function checkContextInvariants(run: Run, definition: FhirNode, contexts: readonly FhirNode[]): Promise<void> {
  const elements = contexts.filter((context) => textOf(context, 'type') === 'element').map((context) => textOf(context, 'expression') ?? '')
  const isOpen = contexts.some((context) => textOf(context, 'type') === 'extension') && elements.length === 0
  const types = elements.map((expression) => elementAtPath(run.model, expression)?.types)
  for (const invariant of childrenOf(run, definition, 'contextInvariant')) {
    await run.scheduler.turn()
    if (typeof invariant.value !== 'string') continue
    if (elements.length === 0 && !isOpen)
      run.findings.report(DEFINITION_EXPRESSION, invariant, {
        text: 'The types of the contexts are not known, so the invariant is not checked against them.',
        severity: 'information',
        code: 'informational',
      })
    const isKnown = types.length > 0 && types.every((one) => one !== undefined)
    const problem = expressionProblem(invariant.value, { model: run.model, focus: isKnown ? types.flatMap((one) => one ?? []) : [] })
    if (problem?.isError === true)
      run.findings.report(DEFINITION_EXPRESSION, invariant, {
        text: `The invariant ${quoted(invariant.value)} is invalid: ${problem.text}`,
      })
  }
}
