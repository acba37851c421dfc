import { isSubtype, type TypeDefinition, type TypeModel } from '../../../fhirpath/index.js'
import { FUNCTION_TYPES, type Accepted } from './function-types.js'
import { ANYTHING, namesOf, only, system, union, UNKNOWN, type TypeCheck, type Types } from './types.js'

/** A call whose input and arguments have known types. */
export interface TypedCall {
  readonly name: string
  /** The types of its input. */
  readonly on: Types
  /** The types of its arguments. */
  readonly results: readonly Types[]
}

/** Reports a function that cannot be called on its input, and arguments that it cannot take. */
export function checkCall(check: TypeCheck, { name, on, results }: TypedCall): void {
  const types = FUNCTION_TYPES.get(name)
  const { model, problems } = check
  const { on: accepted } = types ?? {}
  if (accepted !== undefined && on?.some((type) => isAccepted(type, accepted, model)) === false)
    problems.push({ text: `The function ${name}() can only be used on ${accepted.name}, but found ${namesOf(on)}.`, isError: true })
  for (const [i, parameter] of (types?.parameters ?? []).entries())
    checkParameter(check, results[i], { name, number: i + 1, accepted: parameter })
  if (
    (name === 'subsetOf' || name === 'supersetOf') &&
    on !== undefined &&
    results[0]?.some((type) => isLikeSome(type, on, model)) === false
  )
    problems.push({
      text: `The parameter type ${namesOf(results[0])} is not legal for ${name}(), because it is called on ${namesOf(on)}.`,
      isError: true,
    })
}

interface Parameter {
  /** Of the function. */
  readonly name: string
  /** From 1. */
  readonly number: number
  readonly accepted: Accepted
}

/** Reports an argument that a function cannot take. */
export function checkParameter({ model, problems }: TypeCheck, types: Types, { name, number, accepted }: Parameter): void {
  const wrong = types?.filter((type) => !isAccepted(type, accepted, model)) ?? []
  if (wrong.length > 0)
    problems.push({
      text: `The parameter type ${namesOf(wrong)} is not legal for ${name}() parameter ${number}, which is ${accepted.name}.`,
      isError: true,
    })
}

function isAccepted(type: TypeDefinition, { accepts }: Accepted, model: TypeModel): boolean {
  return UNKNOWN.has(type.name) || accepts(type, model)
}

function isLikeSome(type: TypeDefinition, others: readonly TypeDefinition[], model: TypeModel): boolean {
  return others.some(
    (other) =>
      ANYTHING.has(type.name) ||
      ANYTHING.has(other.name) ||
      (type.system !== undefined && type.system === other.system) ||
      isSubtype(model, type, other.name) ||
      isSubtype(model, other, type.name),
  )
}

/** The types of the result. */
export function resultTypes({ model }: TypeCheck, { name, on, results }: TypedCall): Types {
  switch (name) {
    case 'select':
      return results[0]
    case 'iif':
      return results.length === 2 ? results[1] : union(results[1], results[2])
    case 'union':
    case 'combine':
      return union(on, results[0])
    case 'extension':
      return only(model.type('Extension'))
    case 'resolve':
      return only(model.type('Resource'))
    default: {
      const result = FUNCTION_TYPES.get(name)?.result
      return result === 'same' ? on : result && system(result)
    }
  }
}
