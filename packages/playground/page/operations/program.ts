import { resourcesIn } from '../fhir/resources.js'
import { DEFINITIONS } from './terminology-call.js'
import { fieldOf, textOf, type Input } from './operation-page.js'

/** A program in TypeScript. */
export interface ProgramParts {
  /** What is imported beside context, storage and R4: names by entry. */
  readonly imports: Readonly<Record<string, string>>
  /** Resources in the storage, as JSON. */
  readonly content?: string
  /** What follows the context. */
  readonly lines: readonly string[]
}

/** A program with a context over R4 and the resources given, and then its own lines. */
export function program({ imports, content = '', lines }: ProgramParts): string {
  const all = { 'fhir-ops/context': 'createContext', ...imports, 'fhir-ops/memory': 'memoryStorage', '@fhir-ops/r4': 'r4' }
  const resources = contentOf(content)
  return [
    ...Object.entries(all).map(([entry, names]) => `import { ${names} } from '${entry}'`),
    '',
    ...(resources.length === 0
      ? ['const ctx = createContext({ storage: memoryStorage(), ...r4() })']
      : [
          `const content = ${JSON.stringify(resources, null, 2)}`,
          'const { indexer, ...release } = r4()',
          'const ctx = createContext({ storage: memoryStorage(content, { indexer }), ...release })',
        ]),
    ...lines,
    '',
  ].join('\n')
}

/** The resources of a text; none while it cannot be read. */
export function contentOf(text: string): readonly object[] {
  try {
    return resourcesIn(text)
  } catch {
    return []
  }
}

/** A program that calls one terminology operation with the fields that are filled. */
export function terminologyProgram(input: Input, { name, entry, fields }: OperationCall): string {
  const content = textOf(input, DEFINITIONS.name)
  const lines = [`const result = await ${name}(ctx, ${literal(given(input, fields))})`, 'console.log(result)']
  return program({ imports: { [entry]: name }, content, lines })
}

/** How a function of the library takes what the form asks for. */
export interface OperationCall {
  readonly name: string
  readonly entry: string
  /** Field of the form to member of the input, with how its text is read. */
  readonly fields: Readonly<Record<string, readonly [member: string, read?: (text: string) => unknown]>>
}

function given(input: Input, fields: OperationCall['fields']): object {
  const filled = Object.entries(fields).filter(([field]) => fieldOf(input, field) !== '')
  return Object.fromEntries(filled.map(([field, [member, read = String]]) => [member, read(fieldOf(input, field))]))
}

/** A value as people write it in TypeScript: names without quotes, texts in single ones. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)}: ${literal(member, `${indent}  `)}`,
  )
  const line = `{ ${members.join(', ')} }`
  return line.length + indent.length <= 100 ? line : `{\n${members.map((member) => `${indent}  ${member},\n`).join('')}${indent}}`
}

function quoted(text: string): string {
  const inside = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", String.raw`\'`)
  return `'${inside}'`
}

/** Reads a checked box. */
export function flag(text: string): boolean {
  return text === 'true'
}
