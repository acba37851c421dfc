import { definitionsIn, isFunction, libraryIn, publicDefinitions, type ElmSection } from '../elm/library.js'
import { flagAt, nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { namedType, readTypeSpecifier, SYSTEM, type TypeSpecifier } from '../elm/type-specifier.js'

/** A library whose public definitions expressions see. */
export interface VisibleLibrary {
  readonly elm: ElmNode
  /** The name by which the text of the expressions includes it. */
  readonly id: string
}

/** What lets expressions name definitions without their library. */
export interface ExpressionScope {
  /** Declarations of value sets and code systems, a line each; they come before parameters. */
  readonly vocabularies: readonly string[]
  /** Definitions and functions that stand for those of libraries, a line each. */
  readonly definitions: readonly string[]
}

/**
 * Makes what the primary library defines, and what one other library alone defines, visible to expressions by its name alone (Using CQL with FHIR,
 * expression language: an expression is evaluated in the scope of the primary library). Only names that occur in the texts are declared.
 *
 * @param reserved Names that mean something else.
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

/** Lines by the name that they declare, which are several for a function that is overloaded. */
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
  // Fluent functions are seen in every library that is included.
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

/** Declared a second time, since the translator does not retrieve by a definition that is a value set. */
function vocabularies(library: ElmNode, section: ElmSection, keyword: string): readonly (readonly [string, readonly string[]])[] {
  return definitionsIn(library, section).flatMap((def) => {
    const [name, id, version] = [textAt(def, 'name'), textAt(def, 'id'), textAt(def, 'version')]
    if (name === undefined || id === undefined || textAt(def, 'accessLevel') === 'Private') return []
    const stated = version === undefined ? '' : ` version '${escaped(version)}'`
    return [[name, [`${keyword} ${quotedName(name)}: '${escaped(id)}'${stated}`]] as const]
  })
}

/** A function that calls that of the library; none where it takes types of other models than the expressions use. */
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

/** A type as CQL writes it; `undefined` for one of another model. */
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

/** A name as it is written in quotes, whatever characters it has. */
export function quotedName(name: string): string {
  return `"${escaped(name)}"`
}

function escaped(text: string): string {
  return text
    .replaceAll(/["'\\]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
}
