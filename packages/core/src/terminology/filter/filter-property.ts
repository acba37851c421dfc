import { objectsAt, stringAt } from '../../json/index.js'
import { andNot, type Bitmap } from '../../bits/index.js'
import type { Work } from '../../work/index.js'
import { propertyTexts, CONCEPT_PROPERTIES } from '../code-system/concept-index.js'
import { statedTexts } from '../concept-texts.js'
import { refusal } from '../messages.js'
import type { CodeSystemProvider, ConceptIndex } from '../../code-system/index.js'

/** The property of a filter: the texts of each concept and, where available, the concepts of each text. */
export interface FilterProperty {
  texts(concept: number): readonly string[]
  /**
   * Normalises a filter value that may be written differently: a code in another case, a number with more digits. @throws {OperationError}
   * `definition-invalid` for an invalid value.
   */
  readonly written?: (value: string) => string
  /** Returns the concepts by text; absent when there is no index by text. */
  readonly column?: () => Work<ReadonlyMap<string, Bitmap>>
}

/** True for the property names that mean the concept itself. */
export function isConceptProperty(name: string): boolean {
  return name === 'concept' || name === 'code'
}

/**
 * Finds the property of a filter by its values, including the default of `inactive`, which every concept has.
 *
 * @returns `undefined` when no concept can have it.
 */
export function filterProperty(provider: CodeSystemProvider, name: string): FilterProperty | undefined {
  return isInactivity(provider, name) ? inactivity(provider) : statedProperty(provider, name)
}

/** True for the standard property `inactive`, under whatever code. A property of this code and of another type is the code system's own. */
function isInactivity({ header }: CodeSystemProvider, name: string): boolean {
  if (header.properties.get(name) === `${CONCEPT_PROPERTIES}#inactive`) return true
  return name === 'inactive' && (!header.properties.has(name) || header.propertyTypes?.get(name) === 'boolean')
}

/** @see https://hl7.org/fhir/R4/codesystem-concept-properties.html#concept-properties-inactive: "default value is false" */
function inactivity(provider: CodeSystemProvider): FilterProperty {
  const { index } = provider
  return {
    texts: (concept) => [String(provider.status(concept).inactive)],
    ...(index !== undefined && { column: () => columnOfInactive(index) }),
  }
}

/** Returns the inactive concepts; an index that is built in steps is built first. */
export function* inactiveConcepts(index: ConceptIndex): Work<Bitmap> {
  yield* index.buildInactive?.() ?? []
  return index.inactive()
}

function* columnOfInactive(index: ConceptIndex): Work<ReadonlyMap<string, Bitmap>> {
  const inactive = yield* inactiveConcepts(index)
  return new Map([
    ['true', inactive],
    ['false', andNot(index.all(), inactive)],
  ])
}

/**
 * Finds the property of a filter by what concepts state: the concept itself, one of its standard texts, or a property that is defined for all systems,
 * declared or used.
 *
 * @returns `undefined` when no concept can have it.
 */
export function statedProperty(provider: CodeSystemProvider, asked: string): FilterProperty | undefined {
  const name = ownName(provider, asked)
  if (isConceptProperty(name)) return { texts: (concept) => [provider.code(concept)] }
  const relatives = relativesBy(provider, name)
  if (relatives !== undefined) {
    return {
      texts: (concept) => relatives(provider, concept).map((other) => provider.code(other)),
      written: (value) => writtenCode(provider, value),
    }
  }
  const standard = STANDARD.get(name)
  if (standard !== undefined && !provider.header.properties.has(name)) return { texts: (concept) => standard(provider, concept) }
  const { index } = provider
  const isKnown = provider.header.properties.has(name) || DEFINED.has(name)
  if (!isKnown && (index === undefined || index.values(name).size === 0)) return undefined
  const type = VALUE_TYPES.get(provider.header.propertyTypes?.get(name))
  return {
    texts: (concept) => propertyTexts(provider.sources(concept), name),
    ...(type !== undefined && { written: (value: string) => writtenValue(name, type, value) }),
    ...(index !== undefined && { column: () => conceptsByValue(index, name) }),
  }
}

/** Returns the code under which the code system declares a property that FHIR defines; any other name is returned unchanged. */
function ownName({ header: { properties } }: CodeSystemProvider, asked: string): string {
  if (properties.has(asked) || !(DEFINED.has(asked) || asked === 'inactive')) return asked
  return [...properties].find(([, uri]) => uri === `${CONCEPT_PROPERTIES}#${asked}`)?.[0] ?? asked
}

/**
 * Returns the work that builds the index which `filterProperty` needs to find out whether any concept has a property that the code system does not
 * declare; `undefined` where it needs none.
 */
export function propertyIndexWork({ header, index }: CodeSystemProvider, name: string): Work<unknown> | undefined {
  const isKnown = [RELATIVES, STANDARD, DEFINED, header.properties].some((names) => names.has(name))
  return isKnown || isConceptProperty(name) ? undefined : index?.buildValues?.(name)
}

/** Returns the concepts by each value of a property; an index that is built in steps is built first. */
export function* conceptsByValue(index: ConceptIndex, name: string): Work<ReadonlyMap<string, Bitmap>> {
  yield* index.buildValues?.(name) ?? []
  return index.values(name)
}

/** A property type for which not every text is a valid value. */
interface ValueType {
  readonly words: string
  readonly form: RegExp
  /** Normalises a value to the text of a property. */
  readonly text: (value: string) => string
}

const numberText = (value: string): string => String(Number(value))

/** For other types every text is valid; for booleans, the terminology ecosystem treats any other text as a value that no concept has. */
const VALUE_TYPES: ReadonlyMap<string | undefined, ValueType> = new Map([
  ['integer', { words: 'an integer', form: /^[+-]?\d+$/, text: numberText }],
  ['decimal', { words: 'a decimal', form: /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/, text: numberText }],
  ['dateTime', { words: 'a date or dateTime', form: /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d.*)?)?)?$/, text: (value: string) => value }],
])

function writtenValue(property: string, { words, form, text }: ValueType, value: string): string {
  if (form.test(value)) return text(value)
  throw refusal('VALUESET_BAD_FILTER_VALUE', { property, wanted: words, value })
}

/** Properties that every code system may have without declaring them. @see https://hl7.org/fhir/R4/codesystem.html#defined-props */
const DEFINED: ReadonlySet<string> = new Set([
  'status',
  'notSelectable',
  'deprecated',
  'deprecationDate',
  'retirementDate',
  'effectiveDate',
  'partOf',
  'synonym',
  'comment',
  'itemWeight',
])

/** Values that concepts have without stating them as properties. */
const STANDARD: ReadonlyMap<string, (provider: CodeSystemProvider, concept: number) => readonly string[]> = new Map([
  ['display', (provider, concept) => statedTexts(provider, concept, 'display')],
  ['definition', (provider, concept) => statedTexts(provider, concept, 'definition')],
  ['designation', designationTexts],
  // The property has a default, so every concept has a value.
  ['inactive', (provider, concept) => [String(provider.status(concept).inactive)]],
])

type Relatives = (provider: CodeSystemProvider, concept: number) => readonly number[]

/** Parents and children come from the hierarchy, because properties of concepts do not include nesting. */
const RELATIVES: ReadonlyMap<string, Relatives> = new Map<string, Relatives>([
  ['parent', ({ hierarchy }, concept) => hierarchy.parents(concept)],
  ['child', ({ hierarchy }, concept) => hierarchy.children(concept)],
])

function relativesBy({ header }: CodeSystemProvider, name: string): Relatives | undefined {
  const [base, standard = ''] = header.properties.get(name)?.split('#') ?? []
  return RELATIVES.get(name) ?? (base === CONCEPT_PROPERTIES ? RELATIVES.get(standard) : undefined)
}

/** Returns a code in the spelling of the code system; an unknown code is returned unchanged. */
export function writtenCode(provider: CodeSystemProvider, code: string): string {
  const concept = provider.find(code)
  return concept === undefined ? code : provider.code(concept)
}

function designationTexts(provider: CodeSystemProvider, concept: number): readonly string[] {
  const own = provider.designations?.(concept).filter(({ outdated }) => outdated === undefined) ?? []
  const stated = provider.sources(concept).flatMap((source) => objectsAt(source.concept, 'designation'))
  return [...own.map(({ value }) => value), ...stated.flatMap((designation) => stringAt(designation, 'value') ?? [])]
}
