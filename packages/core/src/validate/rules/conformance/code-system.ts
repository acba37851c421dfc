import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { CONCEPT_PROPERTIES, type CodeSystemProvider } from '../../../terminology/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { INVARIANT } from '../constraint/invariant.js'

const CODE_SYSTEM_CONTENT: FindingDefinition = defineFinding(
  'code-system-content',
  'error',
  'business-rule',
  'Make content and supplements agree.',
)
const CODE_SYSTEM_EMPTY: FindingDefinition = defineFinding(
  'code-system-empty',
  'warning',
  'invalid',
  'Add the concepts, or state another content than complete.',
)
const CODE_SYSTEM_COUNT: FindingDefinition = defineFinding('code-system-count', 'error', 'invalid', 'Correct the count.')
const CODE_SYSTEM_PROPERTY: FindingDefinition = defineFinding(
  'code-system-property',
  'error',
  'business-rule',
  'Declare the property once, with a type that fits its values.',
)
const CODE_SYSTEM_SUPPLEMENT: FindingDefinition = defineFinding(
  'code-system-supplement',
  'error',
  'business-rule',
  'Supplement only codes that are defined in the code system.',
)
const CODE_SYSTEM_INCOMPLETE: FindingDefinition = defineFinding(
  'code-system-incomplete',
  'warning',
  'business-rule',
  'Add the elements that a code system of its kind should have.',
)

/** CodeSystems. */
export const codeSystemRule: ResourceRule = {
  on: ['CodeSystem'],
  finds: [
    CODE_SYSTEM_CONTENT,
    CODE_SYSTEM_EMPTY,
    CODE_SYSTEM_COUNT,
    CODE_SYSTEM_PROPERTY,
    CODE_SYSTEM_SUPPLEMENT,
    CODE_SYSTEM_INCOMPLETE,
    INVARIANT,
  ],
  check: checkCodeSystem,
}

/** Checks a CodeSystem in itself: that its count is right, supplements are marked, and that it says what users of its codes need. */
async function checkCodeSystem(run: Run, node: FhirNode): Promise<void> {
  if (!isObject(node.value)) return
  checkContent(run, node, node.value)
  const concepts: JsonObject[] = []
  await collectConcepts(run, node.value, concepts)
  checkCount(run, node, { system: node.value, found: concepts.length })
  checkUnique(run, node, concepts)
  checkProperties(run, node)
  await checkConcepts(run, node)
  if (node.value['supplements'] === undefined) checkMeaning(run, node, node.value)
  else checkSupplement(run, node, node.value)
  if (isOfHl7(node.value)) checkDefinitions(run, node)
}

/** HL7 holds its own code systems to a stricter rule. */
function isOfHl7(system: JsonObject): boolean {
  return /(?:hl7|fhir)\.org/.test(stringAt(system, 'url') ?? '')
}

function checkContent(run: Run, node: FhirNode, system: JsonObject): void {
  const content = stringAt(system, 'content')
  const isSupplement = system['supplements'] !== undefined
  const [concept] = content === 'not-present' ? childrenOf(run, node, 'concept') : []
  if (concept !== undefined)
    run.findings.report(CODE_SYSTEM_CONTENT, concept, {
      text: 'The content is not-present, but there are concepts.',
      code: 'invalid',
    })
  if (content === undefined || isSupplement === (content === 'supplement')) return
  const text = isSupplement
    ? `A CodeSystem that supplements another must have the content 'supplement', not ${quoted(content)}.`
    : 'A CodeSystem with the content supplement must state what it supplements.'
  run.findings.report(CODE_SYSTEM_CONTENT, node, { text, at: 'content' })
}

/** Those in other concepts too. */
async function collectConcepts(run: Run, holder: JsonObject, into: JsonObject[]): Promise<void> {
  for (const concept of objectsAt(holder, 'concept')) {
    into.push(concept)
    await run.scheduler.turn()
    await collectConcepts(run, concept, into)
  }
}

/** csd-1 */
function checkUnique(run: Run, node: FhirNode, concepts: readonly JsonObject[]): void {
  const codes = concepts.flatMap((concept) => stringAt(concept, 'code') ?? [])
  if (new Set(codes).size < codes.length)
    run.findings.report(INVARIANT, node, { text: 'csd-1: Within a code system definition, all the codes SHALL be unique' })
}

function checkCount(run: Run, node: FhirNode, { system, found }: { system: JsonObject; found: number }): void {
  const stated = system['count']
  const content = stringAt(system, 'content')
  if (content === 'complete' && found === 0) {
    run.findings.report(CODE_SYSTEM_EMPTY, node, { text: 'The content is complete, but there are no concepts.' })
    return
  }
  if (typeof stated !== 'number') return
  if (content === 'complete' && stated !== found) {
    run.findings.report(CODE_SYSTEM_COUNT, node, {
      text: `The count is ${stated}, but the complete code system has ${found} concepts.`,
      at: 'count',
    })
  }
  if ((content === 'fragment' || content === 'example') && found >= stated) {
    run.findings.report(CODE_SYSTEM_COUNT, node, {
      text: `The count is ${stated}, but there are ${found} concepts, although the content is not complete.`,
      at: 'count',
      severity: 'warning',
    })
  }
}

/** Whoever uses the codes must know whether case matters, and what it means that one is below another. */
function checkMeaning(run: Run, node: FhirNode, system: JsonObject): void {
  const say = (name: string, why: string): void =>
    run.findings.report(CODE_SYSTEM_INCOMPLETE, node, {
      text: `The code system should have ${name}, which states ${why}.`,
      severity: isOfHl7(system) ? 'warning' : 'information',
    })
  if (system['caseSensitive'] === undefined) say('caseSensitive', 'whether codes are case-sensitive')
  const isNested = objectsAt(system, 'concept').some((concept) => objectsAt(concept, 'concept').length > 0)
  if (isNested && system['hierarchyMeaning'] === undefined) say('hierarchyMeaning', 'what the hierarchy of concepts means')
}

/** These come from the code system that is supplemented. */
function checkSupplement(run: Run, node: FhirNode, system: JsonObject): void {
  for (const name of ['caseSensitive', 'hierarchyMeaning']) {
    if (system[name] !== undefined)
      run.findings.report(CODE_SYSTEM_CONTENT, node, { text: `A supplement must not have ${name}.`, at: name })
  }
}

function checkDefinitions(run: Run, node: FhirNode): void {
  const bare = childrenOf(run, node, 'concept').find(({ value }) => isObject(value) && value['definition'] === undefined)
  if (bare !== undefined)
    run.findings.report(CODE_SYSTEM_INCOMPLETE, bare, { text: 'Every concept of an HL7 code system should have a definition.' })
}

/** Checks the concepts of a CodeSystem: that their properties are declared and of the declared type, and that those of a supplement are known. */
async function checkConcepts(run: Run, node: FhirNode): Promise<void> {
  const types = new Map(childrenOf(run, node, 'property').map((one) => [textOf(one, 'code'), textOf(one, 'type')]))
  await checkLevel(run, node, { types, supplemented: supplementedBy(run, node) })
}

interface Known {
  /** Of the declared properties, by code. */
  readonly types: ReadonlyMap<string | undefined, string | undefined>
  /** The code system that is supplemented, where it is here in full. */
  readonly supplemented: CodeSystemProvider | undefined
}

function supplementedBy(run: Run, node: FhirNode): CodeSystemProvider | undefined {
  const canonical = textOf(node, 'content') === 'supplement' ? textOf(node, 'supplements') : undefined
  const family = canonical === undefined ? PENDING : run.definitions.codeSystem(canonical)
  const provider = family === PENDING ? undefined : family.provider(canonical?.split('|', 2)[1])
  return provider?.header.complete === true ? provider : undefined
}

async function checkLevel(run: Run, holder: FhirNode, known: Known): Promise<void> {
  for (const concept of childrenOf(run, holder, 'concept')) {
    await run.scheduler.turn()
    const code = textOf(concept, 'code')
    if (code !== undefined && known.supplemented !== undefined && known.supplemented.find(code) === undefined) {
      run.findings.report(CODE_SYSTEM_SUPPLEMENT, concept, {
        text: `The code system ${quoted(known.supplemented.header.url)}, which is supplemented, does not define the code ${quoted(code)}.`,
      })
    }
    for (const property of childrenOf(run, concept, 'property')) checkProperty(run, property, known)
    await checkLevel(run, concept, known)
  }
}

function checkProperty(run: Run, property: FhirNode, { types }: Known): void {
  const code = textOf(property, 'code')
  const [value] = childrenOf(run, property, 'value')
  if (code === undefined || (!types.has(code) && STANDARD.has(code))) return
  const type = types.get(code)
  if (!types.has(code)) run.findings.report(CODE_SYSTEM_PROPERTY, property, { text: `The property ${quoted(code)} is not declared.` })
  else if (type !== undefined && value !== undefined && value.type.name !== type)
    run.findings.report(CODE_SYSTEM_PROPERTY, property, {
      text: `The property ${quoted(code)} has the type ${type}, but its value here is a ${value.type.name}.`,
    })
}

/** Properties that FHIR gives a meaning by their code, with their types where these are certain. */
const STANDARD: ReadonlyMap<string, string | undefined> = new Map([
  ['status', undefined],
  ['inactive', 'boolean'],
  ['notSelectable', 'boolean'],
  ['effectiveDate', 'dateTime'],
  ['deprecationDate', 'dateTime'],
  ['deprecated', undefined],
  ['retirementDate', 'dateTime'],
  ['parent', 'code'],
  ['child', 'code'],
  ['partOf', 'code'],
  ['synonym', 'code'],
  ['comment', 'string'],
  ['itemWeight', 'decimal'],
])

/** Checks the properties that a CodeSystem declares: that each is declared once, has a meaning, and the right type. */
function checkProperties(run: Run, node: FhirNode): void {
  const codes = new Set<string>()
  const uris = new Set<string>()
  for (const property of childrenOf(run, node, 'property')) {
    const code = textOf(property, 'code')
    const uri = textOf(property, 'uri')
    const say = (text: string): void => run.findings.report(CODE_SYSTEM_PROPERTY, property, { text })
    if (code !== undefined && codes.has(code)) say(`The property ${quoted(code)} is declared twice.`)
    if (uri !== undefined && uris.has(uri)) say(`The property ${quoted(uri)} is declared twice.`)
    if (code !== undefined) codes.add(code)
    if (uri !== undefined) uris.add(uri)
    checkPropertyMeaning(run, property, { code, uri })
  }
}

interface PropertyName {
  readonly code: string | undefined
  readonly uri: string | undefined
}

function checkPropertyMeaning(run: Run, property: FhirNode, { code, uri }: PropertyName): void {
  if (uri !== undefined) {
    const text = uri.startsWith(HL7) ? standardProblem(run, uri, textOf(property, 'type')) : undefined
    if (text !== undefined) run.findings.report(CODE_SYSTEM_PROPERTY, property, { text })
  } else if (code !== undefined && !STANDARD.has(code)) {
    run.findings.report(CODE_SYSTEM_PROPERTY, property, {
      text: `The property ${quoted(code)} has no uri, so its meaning is unknown.`,
      severity: 'information',
    })
  }
}

const HL7 = `${CONCEPT_PROPERTIES}#`

function standardProblem(run: Run, uri: string, stated: string | undefined): string | undefined {
  const name = uri.slice(HL7.length)
  const type = STANDARD.get(name)
  if (!isDefined(run, name)) return `FHIR defines no property ${quoted(uri)}; use another uri for your own properties.`
  if (type === undefined || stated === undefined || stated === type) return undefined
  return `The property ${quoted(uri)} has the type ${type}, not ${quoted(stated)}.`
}

function isDefined(run: Run, name: string): boolean {
  if (STANDARD.has(name)) return true
  const family = run.definitions.codeSystem(CONCEPT_PROPERTIES)
  if (family === PENDING || family.unknown) return true
  return family.provider()?.find(name) !== undefined
}
