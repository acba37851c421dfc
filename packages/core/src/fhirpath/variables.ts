import { quoted } from '../errors/index.js'
import { codeOfConstant, codeOfItems, type Code, type Scope } from './code.js'
import { NOTHING, type Items } from './item.js'
import { evaluationProblem } from './problem.js'

const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ['ucum', 'http://unitsofmeasure.org'],
  ['sct', 'http://snomed.info/sct'],
  ['loinc', 'http://loinc.org'],
])

/** Compiles a variable, by its name without `%`: FHIR's fixed variables, those of the context, and those of `defineVariable()`. */
export function compileVariable(name: string): Code {
  const constant = constantOf(name)
  return constant === undefined ? codeOfItems((scope) => valueOf(name, scope)) : codeOfConstant([constant])
}

/** Returns the text of one of FHIR's fixed variables; `undefined` for any other name. */
export function constantOf(name: string): string | undefined {
  return CONSTANTS.get(name) ?? canonicalOf(name)
}

/** `%vs-name` and `%ext-name` are canonicals of HL7. */
function canonicalOf(name: string): string | undefined {
  if (name.startsWith('vs-')) return `http://hl7.org/fhir/ValueSet/${name.slice(3)}`
  return name.startsWith('ext-') ? `http://hl7.org/fhir/StructureDefinition/${name.slice(4)}` : undefined
}

function valueOf(name: string, scope: Scope): Items {
  const { context, focus } = scope.run
  const defined = scope.variables?.get(name) ?? context.variables?.get(name)
  if (defined !== undefined) return defined
  if (name === 'context') return focus
  const resource = context.resource === undefined ? focus : [context.resource]
  if (name === 'resource') return resource
  if (name === 'rootResource') return context.rootResource === undefined ? resource : [context.rootResource]
  throw evaluationProblem(`there is no variable ${quoted(`%${name}`)}`)
}

/** Defines a variable for the rest of the scope. */
export function define(scope: Scope, name: string, value: Items): void {
  scope.variables = new Map([...(scope.variables ?? []), [name, value.length === 0 ? NOTHING : value]])
}
