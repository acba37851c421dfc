import { definitionsIn, isFunction, libraryIn, publicDefinitions, type ElmSection } from '../elm/library.js'
import { flagAt, nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { namedType, readTypeSpecifier, SYSTEM, type TypeSpecifier } from '../elm/type-specifier.js'

/** A library whose public definitions are visible to expressions. */
interface VisibleLibrary {
  readonly elm: ElmNode
  /** The name under which the text of the expressions includes it. */
  readonly id: string
}

/** Declarations that let expressions use definitions without the name of their library. */
export interface ExpressionScope {
  /** Declarations of value sets and code systems, one per line; they precede parameters. */
  readonly vocabularies: readonly string[]
  /** Definitions and functions that refer to those of libraries, one per line. */
  readonly definitions: readonly string[]
}

/**
 * Makes definitions visible to expressions by their name alone: those of the primary library, and those that only one other library has (Using CQL with
 * FHIR, expression language: an expression is evaluated in the scope of the primary library). Only names that occur in the texts are declared.
 *
 * @param reserved Names with another meaning.
 */
export function expressionScope(
  libraries: readonly VisibleLibrary[],
  texts: readonly string[],
  reserved: ReadonlySet<string>,
): ExpressionScope {
  const isUsed = (name: string): boolean => !reserved.has(name) && texts.some((text) => text.includes(escaped(name)))
  const declared = libraries.map((library) => declarationsOf(library, isUsed))
  const seen = (kind: keyof Declared): readonly string[] =>
    declared.flatMap((own, at) =>
      [...own[kind]].flatMap(([name, lines]) => {
        const others = declared.filter((other, place) => place !== at && namesIn(other).has(name))
        return at === 0 || others.length === 0 ? lines : []
      }),
    )
  return { vocabularies: seen('vocabularies'), definitions: seen('definitions') }
}

/** Lines by the name that they declare; several for an overloaded function. */
interface Declared {
  readonly vocabularies: ReadonlyMap<string, readonly string[]>
  readonly definitions: ReadonlyMap<string, readonly string[]>
}

function namesIn({ vocabularies, definitions }: Declared): ReadonlySet<string> {
  return new Set([...vocabularies.keys(), ...definitions.keys()])
}

function declarationsOf({ elm, id }: VisibleLibrary, isUsed: (name: string) => boolean): Declared {
  const library = libraryIn(elm)
  const named = (section: ElmSection): readonly string[] =>
    definitionsIn(library, section).flatMap((def) => (textAt(def, 'accessLevel') === 'Private' ? [] : (textAt(def, 'name') ?? [])))
  const plain = [...named('codes'), ...named('concepts'), ...named('parameters'), ...publicDefinitions(library)].filter(isUsed)
  // Fluent functions are visible from every included library.
  const functions = definitionsIn(library, 'statements').filter(
    (def) =>
      isFunction(def) && flagAt(def, 'fluent') !== true && textAt(def, 'accessLevel') !== 'Private' && isUsed(textAt(def, 'name') ?? ''),
  )
  return {
    vocabularies: new Map(
      [...vocabularies(library, 'codeSystems', 'codesystem'), ...vocabularies(library, 'valueSets', 'valueset')].filter(([name]) =>
        isUsed(name),
      ),
    ),
    definitions: new Map<string, readonly string[]>([
      ...plain.map((name) => [name, [`define ${quotedName(name)}: ${id}.${quotedName(name)}`]] as const),
      ...Map.groupBy(functions, (def) => textAt(def, 'name') ?? '')
        .entries()
        .map(([name, overloads]) => [name, overloads.flatMap((def) => functionLine(def, id))] as const),
    ]),
  }
}

/** Declares value sets and code systems again, because the translator does not accept a definition as the value set of a retrieve. */
function vocabularies(library: ElmNode, section: ElmSection, keyword: string): readonly (readonly [string, readonly string[]])[] {
  return definitionsIn(library, section).flatMap((def) => {
    const [name, id, version] = [textAt(def, 'name'), textAt(def, 'id'), textAt(def, 'version')]
    if (name === undefined || id === undefined || textAt(def, 'accessLevel') === 'Private') return []
    const stated = version === undefined ? '' : ` version '${escaped(version)}'`
    return [[name, [`${keyword} ${quotedName(name)}: '${escaped(id)}'${stated}`]] as const]
  })
}

/** A function that calls the one of the library; none if its operands have types of models that the expressions do not use. */
function functionLine(def: ElmNode, id: string): readonly string[] {
  const operands = nodesAt(def, 'operand')
  const types = operands.flatMap((operand) => {
    const specifier = nodeAt(operand, 'operandTypeSpecifier')
    const name = textAt(operand, 'operandType')
    return (
      (specifier === undefined ? (name === undefined ? undefined : typeText(namedType(name))) : typeText(readTypeSpecifier(specifier))) ??
      []
    )
  })
  if (types.length < operands.length) return []
  const name = quotedName(textAt(def, 'name') ?? '')
  const stated = types.map((type, at) => `operand${at} ${type}`).join(', ')
  const given = types.map((_, at) => `operand${at}`).join(', ')
  return [`define function ${name}(${stated}): ${id}.${name}(${given})`]
}

const NAMESPACES: ReadonlyMap<string, string> = new Map([
  [SYSTEM, 'System'],
  ['http://hl7.org/fhir', 'FHIR'],
])

/** A type in CQL syntax; `undefined` for a type of another model. */
function typeText(type: TypeSpecifier): string | undefined {
  switch (type.kind) {
    case 'list':
      return within('List', type.element)
    case 'interval':
      return within('Interval', type.point)
    case 'choice':
      return joined('Choice<', type.choices.map(typeText), '>')
    case 'tuple':
      return joined(
        'Tuple{',
        type.elements.map(([name, element]) => {
          const text = typeText(element)
          return text === undefined ? undefined : `${quotedName(name)} ${text}`
        }),
        '}',
      )
    default: {
      const model = NAMESPACES.get(type.namespace)
      return model === undefined ? undefined : `${model}.${quotedName(type.name)}`
    }
  }
}

function within(generic: string, inner: TypeSpecifier): string | undefined {
  return joined(`${generic}<`, [typeText(inner)], '>')
}

function joined(before: string, parts: readonly (string | undefined)[], after: string): string | undefined {
  return parts.includes(undefined) ? undefined : `${before}${parts.join(', ')}${after}`
}

/** A name in quotes, with special characters escaped. */
export function quotedName(name: string): string {
  return `"${escaped(name)}"`
}

function escaped(text: string): string {
  return text
    .replaceAll(/["'\\]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
}
