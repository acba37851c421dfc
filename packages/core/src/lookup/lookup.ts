import type { Parameters, ParametersParameter } from 'fhir/r4.js'
import { formatCanonical } from '../content/index.js'
import { checkpoint, explained, type Explained, type ExplainOption, type OperationContext, type Pace } from '../context/index.js'
import { checkResult, OperationError } from '../errors/index.js'
import { explanationParameter, type Explain } from '../explain/index.js'
import {
  checkInput,
  CODE_OR_CODING,
  codeSource,
  FLAG,
  inputShape,
  listOf,
  resourceOf,
  TEXT,
  type CodeOrCoding,
  type SystemAndCode,
} from '../input/index.js'
import { objectsAt, stringAt, ownCopy } from '../json/index.js'
import {
  agreedSystem,
  conceptTexts,
  languageFit,
  languageStep,
  languagesFor,
  neededConcept,
  neededSystem,
  propertyValue,
  shownText,
  shownTextStep,
  statedTexts,
  systemScope,
  VERSION_RULES,
  type AskedLanguages,
  type CodeSystemProvider,
  type ConceptText,
  type LanguageList,
  type VersionRules,
  PREFERRED_FOR_LANGUAGE,
} from '../terminology/index.js'
import { parameterOf } from '../parameters/index.js'

/** Input of `lookup`: a concept, by `system` and `code` or by `coding`, and options. */
export type LookupInput = CodeOrCoding & LookupOptions

/** Options of a lookup. */
export interface LookupOptions extends AskedLanguages, ExplainOption {
  /**
   * Properties to return, `*` for all. Default: only those that every concept has. `lang.X` restricts the designations to the language X, unless `*` or
   * `designation` is among them.
   */
  readonly properties?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  /** Rules that choose versions of code systems. */
  readonly rules?: VersionRules | undefined
  /** The CodeSystem resource itself, used instead of all others with its url. */
  readonly codeSystem?: object | undefined
}

const LOOKUP_INPUT = inputShape<LookupInput>({
  ...CODE_OR_CODING,
  properties: listOf(TEXT),
  useSupplement: listOf(TEXT),
  rules: VERSION_RULES,
  codeSystem: resourceOf('CodeSystem'),
  displayLanguage: TEXT,
  acceptLanguage: TEXT,
  explain: FLAG,
})

/**
 * Looks up the details of a code in a code system and its supplements.
 *
 * @throws {OperationError} `parameter-required` without a code or its system; `source-ambiguous` for `code` together with `coding`;
 *   `parameter-invalid` for a system or version other than that of `codeSystem`; `not-found` for an unknown code, code system or version;
 *   `content-not-found` for an unknown supplement; `not-supported` for a property that cannot be returned.
 * @see https://hl7.org/fhir/R4/codesystem-operation-lookup.html
 */
export function lookup(ctx: OperationContext, input: LookupInput): Promise<LookupResult> {
  return explained(ctx, input, (own) => lookedUp(own, input))
}

async function lookedUp(ctx: OperationContext, input: LookupInput): Promise<LookupResult> {
  checkInput(ctx, input, LOOKUP_INPUT)
  checkpoint(ctx)
  const named = namedConcept(input)
  const scope = await systemScope(ctx, input)
  const at = input.coding === undefined ? '' : 'coding.'
  const provider = await neededSystem(scope, {
    ...named,
    reason: 'request',
    consequence: 'the code cannot be looked up',
    place: (member) => [`${at}${member}`],
  })
  scope.demandUse([provider.header])
  // In the terminology ecosystem, the outcome for an unknown code has no place.
  const concept = await neededConcept(ctx, provider, named.code, { expression: [`${at}code`], omitsPlace: true })
  const { header } = provider
  const texts = conceptTexts(provider, concept)
  const languages = languagesFor(input)
  const shown = shownText(texts, languages) ?? texts.find(({ main }) => main)
  if (ctx.explain !== undefined) explainText(ctx.explain, input, { languages, shown })
  const [definition] = statedTexts(provider, concept, 'definition')
  return {
    system: header.url,
    ...(header.version !== undefined && { version: header.version }),
    name: header.name ?? formatCanonical(header.url, header.version),
    code: provider.code(concept),
    ...(shown !== undefined && { display: shown.value }),
    ...(definition !== undefined && { definition }),
    abstract: provider.status(concept).abstract,
    designations: inOrder(texts.filter((text) => isDesignation(text, shown)).filter(inAskedLanguages(input.properties ?? [])), shown),
    properties: await conceptProperties(scope.pace, { provider, concept, asked: input.properties ?? [] }),
    supplements: provider.supplements,
  }
}

/** @throws {OperationError} `parameter-required` without a code or its system; as `agreedSystem`. */
function namedConcept(input: LookupInput): Pick<SystemAndCode, 'system' | 'code' | 'version'> {
  codeSource(input)
  const { code, ...named } = input.coding ?? input
  const { system, version } = agreedSystem(input.codeSystem, named)
  if (system !== undefined && code !== undefined) return { system, code, version }
  throw new OperationError('parameter-required', 'The concept must be named by code and system, or by coding.', { expression: ['code'] })
}

interface ShownText {
  readonly languages: LanguageList | undefined
  readonly shown: ConceptText | undefined
}

function explainText(explain: Explain, input: LookupInput, { languages, shown }: ShownText): void {
  if (languages !== undefined) explain.step(languageStep(languages, input))
  if (shown !== undefined) explain.step(shownTextStep(shown, languages))
}

/** The display itself is also a designation when its language is known or another text is shown. Names that are no longer in use are excluded. */
function isDesignation(text: ConceptText, shown: ConceptText | undefined): boolean {
  if (text.minor === true && text.outdated !== undefined) return false
  return !text.main || text.language !== undefined || text !== shown
}

const OF_LANGUAGE = 'lang.'

/** Tests designations by the properties `lang.X`, each of which asks for those in a language and its regions; without any, all are returned. */
function inAskedLanguages(properties: readonly string[]): (text: ConceptText) => boolean {
  const asked = properties.flatMap((name) => (name.startsWith(OF_LANGUAGE) ? [name.slice(OF_LANGUAGE.length).toLowerCase()] : []))
  if (asked.length === 0 || properties.some((name) => name === '*' || name === 'designation')) return () => true
  return ({ language, dialects = [] }) => [language ?? '', ...dialects].some((own) => asked.some((one) => (languageFit(one, own) ?? 2) < 2))
}

/** Sorts designations where one is unambiguous: the display shown, then unambiguous names, then the others. Otherwise keeps their order. */
function inOrder(designations: readonly ConceptText[], shown: ConceptText | undefined): readonly ConceptText[] {
  if (!designations.some(({ unambiguous }) => unambiguous)) return designations
  const rankOf = ({ value, main, unambiguous }: ConceptText): number => (main || value === shown?.value ? 0 : unambiguous === true ? 1 : 2)
  return designations.toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Properties that are derived from the status and the hierarchy. */
const MADE: ReadonlySet<string> = new Set(['inactive', 'parent', 'child'])

interface PropertyQuestion {
  readonly provider: CodeSystemProvider
  readonly concept: number
  /** Codes of properties, or `*`. */
  readonly asked: readonly string[]
}

/**
 * Returns the properties of a concept: `inactive` always, others when requested by name or `*`; all by default where properties are concepts.
 *
 * @throws {OperationError} `not-supported` for a property that the code system defines but that cannot be returned.
 */
async function conceptProperties(pace: Pace, { provider, concept, asked }: PropertyQuestion): Promise<readonly LookupProperty[]> {
  const all = asked.includes('*') || (asked.length === 0 && provider.header.propertiesAreConcepts === true)
  const { hierarchy, header } = provider
  const missing = asked.findIndex((code) => header.missingProperties?.has(code))
  if (missing >= 0)
    throw new OperationError('not-supported', `Property ${asked[missing]} of ${header.url} cannot be returned.`, {
      expression: [`property[${missing}]`],
    })
  const wants = (code: string): boolean => asked.includes(code) || (all && header.namedProperties?.has(code) !== true)
  return [
    { code: 'inactive', value: ['valueBoolean', provider.status(concept).inactive] },
    ...(wants('parent') ? hierarchy.parents(concept).map((other) => relative(provider, 'parent', other)) : []),
    ...(wants('child') ? await childProperties(pace, provider, hierarchy.children(concept)) : []),
    ...statedProperties(provider, concept, (code) => !MADE.has(code) && wants(code)),
  ]
}

/** There may be many, each with texts of a hundred supplements. */
async function childProperties(pace: Pace, provider: CodeSystemProvider, children: readonly number[]): Promise<readonly LookupProperty[]> {
  const properties: LookupProperty[] = []
  for (const child of children) {
    const turn = pace.step()
    if (turn !== undefined) await turn
    properties.push(relative(provider, 'child', child))
  }
  return properties
}

function relative(provider: CodeSystemProvider, code: string, other: number): LookupProperty {
  return { code, value: ['valueCode', provider.code(other)], ...described('description', displayOf(provider, other)) }
}

/** Values of others are not read: a code system may make them only then. */
function statedProperties(provider: CodeSystemProvider, concept: number, wants: (code: string) => boolean): readonly LookupProperty[] {
  return provider
    .sources(concept)
    .flatMap((source) => objectsAt(source.concept, 'property'))
    .flatMap((property) => {
      const code = stringAt(property, 'code')
      const value = code !== undefined && wants(code) ? propertyValue(property) : undefined
      return code === undefined || value === undefined ? [] : [{ code, value, ...displays(provider, code, value) }]
    })
}

/** Returns the displays of a property and its value, where both are concepts of the system. */
function displays(provider: CodeSystemProvider, code: string, [name, value]: LookupProperty['value']): Partial<LookupProperty> {
  if (provider.header.propertiesAreConcepts !== true) return {}
  const shown = (one: unknown): string | undefined => displayOf(provider, typeof one === 'string' ? provider.find(one) : undefined)
  return { ...described('codeDisplay', shown(code)), ...described('description', name === 'valueCode' ? shown(value) : undefined) }
}

function displayOf(provider: CodeSystemProvider, concept: number | undefined): string | undefined {
  return concept === undefined ? undefined : statedTexts(provider, concept, 'display')[0]
}

function described(member: 'description' | 'codeDisplay', text: string | undefined): Partial<LookupProperty> {
  return text === undefined ? {} : { [member]: text }
}

/** A property of a concept. */
export interface LookupProperty {
  readonly code: string
  /** Name of the `value[x]` element and its value: `['valueCode', 'animal']`. */
  readonly value: readonly [string, unknown]
  /** Display of the value, where it is a concept, such as a `parent` or `child`. */
  readonly description?: string
  /** Display of the property, where the property is itself a concept. */
  readonly codeDisplay?: string
}

/** Details of a concept. */
export interface LookupResult extends Explained {
  readonly system: string
  /** Version of the code system that was used. */
  readonly version?: string
  /** Name of the code system. */
  readonly name: string
  /** The code in the code system's spelling. */
  readonly code: string
  /** Display in the requested language; absent when the concept has no text. */
  readonly display?: string
  readonly definition?: string
  /** True for a concept that only groups others. */
  readonly abstract: boolean
  /** Designations; the code system's display is among them when it has a language, or when another text is the `display`. */
  readonly designations: readonly ConceptText[]
  /** `inactive` first, then `parent`, `child` and the others as the code system lists them. */
  readonly properties: readonly LookupProperty[]
  /** Canonicals of the supplements that were used. */
  readonly supplements: readonly string[]
}

/** Creates the Parameters that `$lookup` returns. */
export function toParameters(result: LookupResult): Parameters {
  checkResult('lookup', result, 'designations')
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'name', valueString: result.name },
      ...parameterOf('version', 'valueString', result.version),
      ...parameterOf('display', 'valueString', result.display),
      ...parameterOf('definition', 'valueString', result.definition),
      { name: 'system', valueUri: result.system },
      { name: 'code', valueCode: result.code },
      { name: 'abstract', valueBoolean: result.abstract },
      ...result.designations.map(designationParameter),
      ...result.properties.map(propertyParameter),
      ...result.supplements.map((canonical) => ({ name: 'used-supplement', valueCanonical: canonical })),
      ...explanationParameter(result.explanation),
    ],
  }
}

function designationParameter({ value, language, ofResource, dialects, use, main, supplement }: ConceptText): ParametersParameter {
  const stated = ofResource === true ? undefined : language
  return {
    name: 'designation',
    part: [
      ...parameterOf('language', 'valueCode', main ? (dialects?.[0] ?? language) : stated),
      ...parameterOf('use', 'valueCoding', ownCopy(main ? PREFERRED_FOR_LANGUAGE : use)),
      { name: 'value', valueString: value },
      ...parameterOf('source', 'valueCanonical', supplement),
    ],
  }
}

function propertyParameter({ code, value: [name, value], description, codeDisplay }: LookupProperty): ParametersParameter {
  return {
    name: 'property',
    part: [
      { name: 'code', valueCode: code },
      { name: 'value', [name]: ownCopy(value) },
      ...parameterOf('code-display', 'valueString', codeDisplay),
      ...parameterOf('description', 'valueString', description),
    ],
  }
}
