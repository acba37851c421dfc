import { objectsAt, stringAt } from '../../json/index.js'
import type { Bitmap } from '../../bits/index.js'
import type { Work } from '../../work/index.js'
import { propertyTexts } from '../code-system/concept-index.js'
import { statedTexts } from '../concept-texts.js'
import { refusal } from '../messages.js'
import { CONCEPT_PROPERTIES } from '../code-system/concept-properties.js'
import type { CodeSystemProvider, ConceptIndex } from '../../code-system/index.js'

/** What the property of a filter means: texts of each concept, and where they are known, the concepts of each text. */
export interface FilterProperty {
  texts(concept: number): readonly string[]
  /**
   * A value as texts have it, where it may be written otherwise: a code in other case, a number with more digits. @throws {OperationError}
   * `definition-invalid` for anything else.
   */
  readonly written?: (value: string) => string
  /** Absent when the texts are not kept by value. */
  readonly column?: () => Work<ReadonlyMap<string, Bitmap>>
}

/** True for the names by which a filter means the concept itself. */
export function isConceptProperty(name: string): boolean {
  return name === 'concept' || name === 'code'
}

/**
 * The property that a filter names: the concept itself, one of its standard texts, or a property that is defined for all systems, declared or used.
 *
 * @returns `undefined` when no concept can have it.
 */
export function filterProperty(provider: CodeSystemProvider, name: string): FilterProperty | undefined {
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
    ...(index !== undefined && { column: () => columnOf(index, name) }),
  }
}

/** Reads what `filterProperty` needs to decide whether a concept has a property that the code system does not declare. */
export function* preparedProperty({ header, index }: CodeSystemProvider, name: string): Work<void> {
  const isKnown = [RELATIVES, STANDARD, DEFINED, header.properties].some((names) => names.has(name))
  if (!isKnown && !isConceptProperty(name)) yield* index?.buildValues?.(name) ?? []
}

function* columnOf(index: ConceptIndex, name: string): Work<ReadonlyMap<string, Bitmap>> {
  yield* index.buildValues?.(name) ?? []
  return index.values(name)
}

/** A type of properties of which not every text is a value. */
interface ValueType {
  readonly words: string
  readonly form: RegExp
  /** The value as the text of a property has it. */
  readonly text: (value: string) => string
}

const numberText = (value: string): string => String(Number(value))

/** Of the other types every text is a value, or, of booleans, what the terminology ecosystem takes for a value that no concept has. */
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

/** What concepts have without stating it as a property. */
const STANDARD: ReadonlyMap<string, (provider: CodeSystemProvider, concept: number) => readonly string[]> = new Map([
  ['display', (provider, concept) => statedTexts(provider, concept, 'display')],
  ['definition', (provider, concept) => statedTexts(provider, concept, 'definition')],
  ['designation', designationTexts],
  // It has a default, so every concept has a value.
  ['inactive', (provider, concept) => [String(provider.status(concept).inactive)]],
])

type Relatives = (provider: CodeSystemProvider, concept: number) => readonly number[]

/** Nesting states them too, so what concepts state as their property is not all. */
const RELATIVES: ReadonlyMap<string, Relatives> = new Map<string, Relatives>([
  ['parent', ({ hierarchy }, concept) => hierarchy.parents(concept)],
  ['child', ({ hierarchy }, concept) => hierarchy.children(concept)],
])

function relativesBy({ header }: CodeSystemProvider, name: string): Relatives | undefined {
  const [base, standard = ''] = header.properties.get(name)?.split('#') ?? []
  return RELATIVES.get(name) ?? (base === CONCEPT_PROPERTIES ? RELATIVES.get(standard) : undefined)
}

/** A code as the code system writes it, where it has it in another case. */
export function writtenCode(provider: CodeSystemProvider, code: string): string {
  const concept = provider.find(code)
  return concept === undefined ? code : provider.code(concept)
}

function designationTexts(provider: CodeSystemProvider, concept: number): readonly string[] {
  return provider
    .sources(concept)
    .flatMap((source) => objectsAt(source.concept, 'designation').flatMap((designation) => stringAt(designation, 'value') ?? []))
}
