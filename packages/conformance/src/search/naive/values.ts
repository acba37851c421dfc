// The search values of resources, written by hand from R4: nothing here comes from the library under test.

/** A token as R4 compares it. */
export interface Token {
  readonly system?: string | undefined
  readonly code?: string | undefined
  readonly text?: string | undefined
}

/** A number or a time in milliseconds, as the span of its possible values; a quantity also has the names of its unit. */
export interface Span {
  readonly low: number
  readonly high: number
  readonly units?: readonly { readonly system?: string | undefined; readonly code?: string | undefined }[]
}

/** The values of a search parameter in a resource. */
export type Values =
  | { readonly kind: 'token'; readonly values: readonly Token[] }
  | { readonly kind: 'string' | 'uri'; readonly values: readonly string[] }
  /** Texts that are searched by words. */
  | { readonly kind: 'words'; readonly values: readonly string[] }
  /** `Type/id`, or another address; empty for a reference without one. */
  | { readonly kind: 'reference'; readonly values: readonly string[] }
  | { readonly kind: 'date' | 'number' | 'quantity'; readonly values: readonly Span[] }

/** A resource of the same form as the random ones. */
export interface Resource {
  readonly resourceType: string
  readonly id: string
  readonly [member: string]: unknown
}

/** The values of `a.b.c`, arrays flattened. JSON without content, as `{}`, does not count. */
export function at(value: unknown, path: string): readonly unknown[] {
  let found: readonly unknown[] = [value]
  for (const name of path.split('.')) {
    found = found.flatMap((each) => {
      const member: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, name) : undefined
      return member === undefined ? [] : member
    })
  }
  return found.filter(hasContent)
}

function hasContent(value: unknown): boolean {
  return typeof value !== 'object' || (value !== null && Object.values(value).some(hasContent))
}

function textsAt(value: unknown, path: string): readonly string[] {
  return at(value, path).filter((each) => typeof each === 'string')
}

function textAt(value: unknown, path: string): string | undefined {
  return textsAt(value, path)[0]
}

function coding(value: unknown): Token {
  return { system: textAt(value, 'system'), code: textAt(value, 'code'), text: textAt(value, 'display') }
}

const DAY = 86_400_000

/** `2020`, `2020-02`, `2020-02-03`, or an instant with its zone to the minute, the second, or the thousandth of it. */
export function dateSpan(text: string): Span {
  if (text.includes('T')) {
    const low = Date.parse(text)
    return { low, high: low + (text.includes('.') ? 0 : /T\d\d:\d\d:/.test(text) ? 999 : 59_999) }
  }
  const [year = 0, month, day] = text.split('-').map(Number)
  const low = Date.UTC(year, (month ?? 1) - 1, day ?? 1)
  const end = month === undefined ? Date.UTC(year + 1, 0, 1) : day === undefined ? Date.UTC(year, month, 1) : low + DAY
  return { low, high: end - 1 }
}

const NEVER = 8_640_000_000_000_000

function periodSpan(value: unknown): Span {
  const [start, end] = ['start', 'end'].map((name) => textAt(value, name)).map((text) => (text === undefined ? undefined : dateSpan(text)))
  const isReversed = start !== undefined && end !== undefined && start.low > end.high
  return isReversed ? { low: end.low, high: start.high } : { low: start?.low ?? -NEVER, high: end?.high ?? NEVER }
}

function quantitySpan(value: unknown): Span {
  const number = Number(at(value, 'value')[0])
  const [system, code, unit] = [textAt(value, 'system'), textAt(value, 'code'), textAt(value, 'unit')]
  const named = unit === undefined || unit === code ? [] : [{ code: unit }]
  return { low: number, high: number, units: [{ system, code }, ...named] }
}

type Reader = (resource: Resource) => Values

const tokens =
  (...readers: readonly ((resource: Resource) => readonly Token[])[]): Reader =>
  (resource) => ({
    kind: 'token',
    values: readers.flatMap((reader) => reader(resource)),
  })
const concept =
  (path: string) =>
  (resource: Resource): readonly Token[] => [
    ...at(resource, `${path}.coding`).map(coding),
    ...textsAt(resource, `${path}.text`).map((text) => ({ text })),
  ]
const code =
  (path: string, system: string) =>
  (resource: Resource): readonly Token[] =>
    textsAt(resource, path).map((value) => ({ system, code: value }))
const flag =
  (path: string) =>
  (resource: Resource): readonly Token[] =>
    at(resource, path).map((value) => ({ code: String(value) }))
const identifiers = (resource: Resource): readonly Token[] => at(resource, 'identifier').map(tokenOf)
const tokenOf = (identifier: unknown): Token => ({
  system: textAt(identifier, 'system'),
  code: textAt(identifier, 'value'),
  text: textAt(identifier, 'type.text'),
})
/** `system|code|value`, by each code of the type. */
const typed: Reader = (resource) => ({
  kind: 'uri',
  values: at(resource, 'identifier').flatMap((each) =>
    at(each, 'type.coding')
      .map(coding)
      .map(({ system, code: value }) => [system, value, textAt(each, 'value')].join('|')),
  ),
})
const strings =
  (...paths: readonly string[]): Reader =>
  (resource) => ({ kind: 'string', values: paths.flatMap((path) => textsAt(resource, path)) })
const uris =
  (path: string): Reader =>
  (resource) => ({ kind: 'uri', values: textsAt(resource, path) })
const references =
  (path: string, type?: string): Reader =>
  (resource) => ({
    kind: 'reference',
    values: referencesAt(resource, path, type).map((each) => textAt(each, 'reference') ?? ''),
  })
const byIdentifier =
  (path: string, type?: string): Reader =>
  (resource) => ({
    kind: 'token',
    values: referencesAt(resource, path, type)
      .flatMap((each) => at(each, 'identifier'))
      .map(tokenOf),
  })

/** References to a type, according to their address, on any server, or to their member `type`. */
function referencesAt(resource: Resource, path: string, type: string | undefined): readonly unknown[] {
  const typeOf = (each: unknown): string | undefined =>
    /(?:^|\/)([A-Za-z]+)\/[^/]+$/.exec(textAt(each, 'reference') ?? '')?.[1] ?? textAt(each, 'type')
  return at(resource, path).filter((each) => type === undefined || typeOf(each) === type)
}
const dates =
  (paths: readonly string[], periods: readonly string[] = []): Reader =>
  (resource) => ({
    kind: 'date',
    values: [
      ...paths.flatMap((path) => textsAt(resource, path)).map(dateSpan),
      ...periods.flatMap((path) => at(resource, path)).map(periodSpan),
    ],
  })
const quantities =
  (...paths: readonly string[]): Reader =>
  (resource) => ({ kind: 'quantity', values: paths.flatMap((path) => at(resource, path)).map(quantitySpan) })
const numbers =
  (path: string): Reader =>
  (resource) => ({
    kind: 'number',
    values: at(resource, path).map((value) => ({ low: Number(value), high: Number(value) })),
  })

/** All texts of a value, without markup. */
function everyText(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value.replaceAll(/<[^<>]*>/g, ' ')]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(everyText) : []
}

const words =
  (select: (resource: Resource) => readonly unknown[]): Reader =>
  (resource) => ({ kind: 'words', values: select(resource).map((value) => everyText(value).join(' ')) })

const EVERYWHERE: readonly (readonly [string, Reader])[] = [
  ['_tag', tokens((resource) => at(resource, 'meta.tag').map(coding))],
  ['_source', uris('meta.source')],
  ['_text', words((resource) => at(resource, 'text.div'))],
  ['_content', words((resource) => [resource])],
]

/** The parameters of each type by their codes. */
export const PARAMETERS: Readonly<Record<string, ReadonlyMap<string, Reader>>> = {
  Organization: new Map([
    ...EVERYWHERE,
    ['name', strings('name', 'alias')],
    ['active', tokens(flag('active'))],
    ['partof', references('partOf')],
    ['identifier', tokens(identifiers)],
    ['identifier:of-type', typed],
  ]),
  Patient: new Map([
    ...EVERYWHERE,
    ['name', strings('name.text', 'name.family', 'name.given')],
    ['family', strings('name.family')],
    ['gender', tokens(code('gender', 'http://hl7.org/fhir/administrative-gender'))],
    ['active', tokens(flag('active'))],
    ['birthdate', dates(['birthDate'])],
    ['identifier', tokens(identifiers)],
    ['identifier:of-type', typed],
    ['organization', references('managingOrganization')],
    ['general-practitioner', references('generalPractitioner')],
  ]),
  Encounter: new Map([
    ...EVERYWHERE,
    ['status', tokens(code('status', 'http://hl7.org/fhir/encounter-status'))],
    ['date', dates([], ['period'])],
    ['subject', references('subject')],
    ['subject:identifier', byIdentifier('subject')],
    ['patient', references('subject', 'Patient')],
    ['patient:identifier', byIdentifier('subject', 'Patient')],
    ['part-of', references('partOf')],
  ]),
  Observation: new Map([
    ...EVERYWHERE,
    ['code', tokens(concept('code'))],
    ['status', tokens(code('status', 'http://hl7.org/fhir/observation-status'))],
    ['date', dates(['effectiveDateTime', 'effectiveInstant'], ['effectivePeriod'])],
    ['value-quantity', quantities('valueQuantity')],
    ['component-code', tokens(concept('component.code'))],
    ['combo-code', tokens(concept('code'), concept('component.code'))],
    ['combo-value-quantity', quantities('valueQuantity', 'component.valueQuantity')],
    ['value-string', strings('valueString')],
    ['subject', references('subject')],
    ['subject:identifier', byIdentifier('subject')],
    ['patient', references('subject', 'Patient')],
    ['patient:identifier', byIdentifier('subject', 'Patient')],
    ['encounter', references('encounter')],
    ['derived-from', references('derivedFrom')],
  ]),
  RiskAssessment: new Map([
    ...EVERYWHERE,
    ['probability', numbers('prediction.probabilityDecimal')],
    ['subject', references('subject')],
    ['subject:identifier', byIdentifier('subject')],
  ]),
  List: new Map([...EVERYWHERE, ['title', strings('title')], ['item', references('entry.item')]]),
  ValueSet: new Map([...EVERYWHERE, ['url', uris('url')], ['date', dates(['date'])], ['title', strings('title')]]),
}

/** A composite parameter: its parameters, and the elements in one of which all of them must hold. */
interface Tuple {
  readonly codes: readonly string[]
  readonly places: (resource: Resource) => readonly Resource[]
}

const components = (resource: Resource): readonly Resource[] =>
  at(resource, 'component').map((component) => ({
    ...resource,
    code: at(component, 'code')[0],
    valueQuantity: at(component, 'valueQuantity')[0],
  }))

export const TUPLES: Readonly<Record<string, Tuple>> = {
  'code-value-quantity': { codes: ['code', 'value-quantity'], places: (resource) => [resource] },
  'code-value-string': { codes: ['code', 'value-string'], places: (resource) => [resource] },
  'component-code-value-quantity': { codes: ['code', 'value-quantity'], places: components },
  'combo-code-value-quantity': { codes: ['code', 'value-quantity'], places: (resource) => [resource, ...components(resource)] },
}

/** Target types of reference parameters, as far as they are used here. */
export const TARGETS: Readonly<Record<string, readonly string[]>> = {
  partof: ['Organization'],
  organization: ['Organization'],
  'general-practitioner': ['Organization'],
  patient: ['Patient'],
  subject: ['Patient'],
  'part-of': ['Encounter'],
  encounter: ['Encounter'],
  'derived-from': ['Observation'],
}
