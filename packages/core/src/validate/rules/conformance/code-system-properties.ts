import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { CONCEPT_PROPERTIES } from '../../../terminology/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

/** Properties that FHIR gives a meaning by their code, with their types where these are certain. */
export const STANDARD: ReadonlyMap<string, string | undefined> = new Map([
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
export function checkProperties(run: Run, node: FhirNode): void {
  const codes = new Set<string>()
  const uris = new Set<string>()
  for (const property of childrenOf(run, node, 'property')) {
    const code = textOf(property, 'code')
    const uri = textOf(property, 'uri')
    const say = (text: string): void => run.sink.report('code-system-property', property, { text })
    if (code !== undefined && codes.has(code)) say(`The property ${quoted(code)} is declared twice.`)
    if (uri !== undefined && uris.has(uri)) say(`The property ${quoted(uri)} is declared twice.`)
    if (code !== undefined) codes.add(code)
    if (uri !== undefined) uris.add(uri)
    checkMeaning(run, property, { code, uri })
  }
}

interface PropertyName {
  readonly code: string | undefined
  readonly uri: string | undefined
}

function checkMeaning(run: Run, property: FhirNode, { code, uri }: PropertyName): void {
  if (uri !== undefined) {
    const text = uri.startsWith(HL7) ? standardProblem(run, uri, textOf(property, 'type')) : undefined
    if (text !== undefined) run.sink.report('code-system-property', property, { text })
  } else if (code !== undefined && !STANDARD.has(code)) {
    run.sink.report('code-system-property', property, {
      text: `The property ${quoted(code)} has no uri, so nothing tells what it means.`,
      severity: 'information',
    })
  }
}

const HL7 = `${CONCEPT_PROPERTIES}#`

function standardProblem(run: Run, uri: string, stated: string | undefined): string | undefined {
  const name = uri.slice(HL7.length)
  const type = STANDARD.get(name)
  if (!isDefined(run, name)) return `FHIR defines no property ${quoted(uri)}; give your own properties a uri of your own.`
  if (type === undefined || stated === undefined || stated === type) return undefined
  return `The property ${quoted(uri)} has the type ${type}, not ${quoted(stated)}.`
}

function isDefined(run: Run, name: string): boolean {
  if (STANDARD.has(name)) return true
  const family = run.facts.codeSystem(CONCEPT_PROPERTIES)
  if (family === PENDING || family.unknown) return true
  return family.provider()?.find(name) !== undefined
}
