import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { extensionAt, isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { CONCEPT_PROPERTIES } from '../../../terminology/index.js'
import { valueIn } from '../../profile/value-rule.js'
import type { CodeList } from '../../run/definitions.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/text.js'

/** A property that is declared without a clear meaning, twice, or with a type other than that of its values. */
export const CODE_SYSTEM_PROPERTY: FindingDefinition = defineFinding(
  'code-system-property',
  'error',
  'business-rule',
  'Declare the property once, with a type that fits its values.',
)

/** What `CodeSystem.property` states about the values of a property. */
export interface DeclaredProperty {
  readonly type: string | undefined
  /** The codes that it may have; `undefined` when they are not known. */
  readonly codes: PropertyCodes | undefined
}

/** The codes of a property: those of the code system itself, or of a value set. */
interface PropertyCodes {
  readonly valueSet?: CodeList
  /** The severity of a code that is not among these. */
  readonly severity: 'error' | 'warning'
}

/** Properties that FHIR defines, with their types. */
const STANDARD: ReadonlyMap<string, string> = new Map([
  ['status', 'code'],
  ['inactive', 'boolean'],
  ['notSelectable', 'boolean'],
  ['effectiveDate', 'dateTime'],
  ['deprecationDate', 'dateTime'],
  ['retirementDate', 'dateTime'],
  ['parent', 'code'],
  ['child', 'code'],
  ['partOf', 'code'],
  ['synonym', 'code'],
  ['comment', 'string'],
  ['itemWeight', 'decimal'],
])

/** Properties whose values are codes of the code system itself. */
const INTERNAL: ReadonlySet<string> = new Set(['parent', 'child', 'partOf', 'synonym'])

/** Names of properties in FHIR's namespace that FHIR uses without a type. */
const OTHERS: ReadonlySet<string> = new Set(['alternateCode', 'order', 'definition'])

const HL7 = `${CONCEPT_PROPERTIES}#`
const VALUE_SETS = [
  'http://hl7.org/fhir/StructureDefinition/codesystem-property-valueset',
  'http://hl7.org/fhir/6.0/StructureDefinition/extension-CodeSystem.property.valueSet',
]

/** Checks the properties that a CodeSystem declares. Returns, by code, the requirements on their values; the first declaration counts. */
export function propertiesOf(run: Run, node: FhirNode): ReadonlyMap<string, DeclaredProperty> {
  const declared = new Map<string, DeclaredProperty>()
  const names = new Set<string>()
  for (const property of childrenOf(run, node, 'property')) {
    const [code, uri, type] = ['code', 'uri', 'type'].map((name) => textOf(property, name))
    const check = { run, property, code, uri, type }
    checkNames(check, names)
    const origin = originOf(check, node)
    checkStandard(check, node)
    if (code !== undefined && !declared.has(code)) declared.set(code, { type, codes: codesOf(check, origin) })
  }
  return declared
}

interface PropertyCheck {
  readonly run: Run
  readonly property: FhirNode
  readonly code: string | undefined
  readonly uri: string | undefined
  readonly type: string | undefined
}

type Said = { readonly severity?: 'warning' | 'information'; readonly code?: 'not-found' | 'invalid' }

function say({ run, property }: PropertyCheck, text: string, said: Said = {}): void {
  run.findings.report(CODE_SYSTEM_PROPERTY, property, { text, ...said })
}

function checkNames(check: PropertyCheck, names: Set<string>): void {
  const { code, uri } = check
  for (const name of [uri, code]) {
    if (name === undefined) continue
    if (name === uri && !isAbsoluteUri(uri)) say(check, `The uri of a property must be absolute, not ${quoted(uri)}.`)
    else if (names.has(name)) say(check, `The property ${quoted(name)} is declared twice.`)
    names.add(name)
  }
}

/** The value set of the codes of a property, if the definition of the property names one. */
function originOf(check: PropertyCheck, node: FhirNode): string | undefined {
  const { run, uri, type, code } = check
  if (uri === undefined || !isAbsoluteUri(uri)) return undefined
  const hash = uri.indexOf('#')
  if (hash < 0) {
    say(check, `The property ${quoted(uri)} is not known, so its values are not checked in full.`, {
      severity: type === 'code' ? 'warning' : 'information',
      code: 'not-found',
    })
    return undefined
  }
  const [base, name] = [uri.slice(0, hash), uri.slice(hash + 1)]
  const found = base === textOf(node, 'url') ? node.value : run.definitions.definition('CodeSystem', base)
  if (found === PENDING) return undefined
  if (!isObject(found)) {
    say(check, `The code system ${quoted(base)}, which would define the property ${quoted(code ?? name)}, could not be found.`, {
      severity: 'warning',
      code: 'not-found',
    })
    return undefined
  }
  return valueSetIn(check, found, name)
}

/** The value set that the code system which defines a property names for it, if any. */
function valueSetIn(check: PropertyCheck, found: JsonObject, name: string): string | undefined {
  const { uri = '' } = check
  const declaration = objectsAt(found, 'property').find((one) => one['uri'] === uri)
  if (declaration !== undefined) return valueSetOf(declaration)
  const concept = conceptsOf(found).find((one) => one['code'] === name)
  if (concept === undefined && !(uri.startsWith(HL7) && (STANDARD.has(name) || OTHERS.has(name))))
    say(
      check,
      `The code system ${quoted(stringAt(found, 'url') ?? '')} has neither a property ${quoted(uri)} nor a code ${quoted(name)}.`,
      {
        severity: 'warning',
        code: 'invalid',
      },
    )
  const binding = objectsAt(concept, 'property').find((one) => one['code'] === 'binding')
  const canonical = binding === undefined ? undefined : valueIn(binding)
  return typeof canonical === 'string' ? canonical : undefined
}

/** The concepts of all levels of a CodeSystem. */
export function conceptsOf(system: JsonObject): readonly JsonObject[] {
  const concepts = [...objectsAt(system, 'concept')]
  for (const concept of concepts) for (const inner of objectsAt(concept, 'concept')) concepts.push(inner)
  return concepts
}

function valueSetOf(property: JsonObject): string | undefined {
  const values = VALUE_SETS.map((url) => extensionAt(property, url)).flatMap((extension) =>
    extension === undefined ? [] : [valueIn(extension)],
  )
  return values.find((value) => typeof value === 'string')
}

/** Checks that a property of FHIR has FHIR's code, uri and type. */
function checkStandard(check: PropertyCheck, node: FhirNode): void {
  const { code, uri } = check
  if (uri === undefined) {
    if (code !== undefined) checkBare(check, code)
    return
  }
  const name = uri.startsWith(HL7) ? uri.slice(HL7.length) : undefined
  const known = name === undefined ? undefined : STANDARD.get(name)
  if (name !== undefined && known !== undefined) checkAgreement(check, { name, known })
  else if (uri.includes('://hl7.org/fhir') && !isOwn(textOf(node, 'url') ?? '', uri) && !isDefined(check, name))
    say(check, `FHIR defines no property ${quoted(uri)}; use another uri for your own properties.`)
}

interface StandardProperty {
  readonly name: string
  /** Its type in FHIR. */
  readonly known: string
}

function checkAgreement(check: PropertyCheck, { name, known }: StandardProperty): void {
  const { code, type } = check
  if (code !== undefined && code !== name && STANDARD.has(code))
    say(check, `The uri ${quoted(HL7 + name)} is that of the property ${quoted(name)}, not of ${quoted(code)}.`)
  if (type !== undefined && type !== known) say(check, `The property ${quoted(HL7 + name)} has the type ${known}, not ${quoted(type)}.`)
}

/** FHIR itself may define properties in its namespace, and a code system in its own. */
function isOwn(url: string, uri: string): boolean {
  return uri.startsWith(url) || /^http:\/\/hl7\.org\/fhir\/[^/]*$/.test(url)
}

/** Whether the loaded definitions have the property: a release may define more properties than later ones. */
function isDefined({ run }: PropertyCheck, name: string | undefined): boolean {
  const family = name === undefined ? undefined : run.definitions.codeSystem(CONCEPT_PROPERTIES)
  if (family === undefined) return false
  return family === PENDING || family.provider()?.find(name ?? '') !== undefined
}

function checkBare(check: PropertyCheck, code: string): void {
  const known = STANDARD.get(code)
  if (known === undefined) {
    say(check, `The property ${quoted(code)} has no uri, so its meaning is unknown.`, { severity: 'information' })
    return
  }
  say(check, `The property ${quoted(code)} has a code of FHIR, but not its uri ${quoted(HL7 + code)}, so its meaning is not clear.`, {
    severity: 'warning',
  })
  if (check.type !== undefined && check.type !== known)
    say(check, `The code ${quoted(code)} is that of a property of the type ${known}, not ${quoted(check.type)}.`, { severity: 'warning' })
}

/** The codes that a property may have. */
function codesOf(check: PropertyCheck, origin: string | undefined): PropertyCodes | undefined {
  const { uri, type, property } = check
  const name = uri?.startsWith(HL7) === true ? uri.slice(HL7.length) : ''
  if (STANDARD.has(name)) return INTERNAL.has(name) ? { severity: 'error' } : undefined
  const own = isObject(property.value) ? valueSetOf(property.value) : undefined
  const valueSet = own ?? (type === 'code' ? origin : undefined)
  if ((type === 'code' || type === 'Coding') && valueSet !== undefined) return listed(check, valueSet)
  if (type !== 'code') return undefined
  say(check, 'The type is code, and no value set is named, so the codes are taken for codes of this code system.', {
    severity: 'information',
  })
  return { severity: 'warning' }
}

function listed(check: PropertyCheck, canonical: string): PropertyCodes | undefined {
  const valueSet = check.run.definitions.valueSet(canonical)
  if (valueSet === undefined)
    say(check, `The value set ${quoted(canonical)} could not be found, so the codes of the property are not checked.`, {
      severity: 'warning',
      code: 'not-found',
    })
  return valueSet === undefined || valueSet === PENDING ? undefined : { valueSet, severity: 'error' }
}
