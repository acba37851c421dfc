import { OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import { checkValueShape } from './value-shape.js'

/** One input of an operation, whether it came in a Parameters resource or in a query. */
export interface Parameter {
  readonly name: string
  /** The primitive or complex value; `undefined` when there is none. */
  readonly value: unknown
  /** The `x` of `value[x]`, for example `Uri`; absent for a query, where all is text. */
  readonly type?: string
  readonly resource?: JsonObject
  readonly parts: readonly Parameter[]
  /** FHIRPath of the parameter in the request, or its name for a query. */
  readonly expression: string
}

/**
 * The inputs of a Parameters resource in their order.
 *
 * @throws {OperationError} `body-structure` for anything that does not have the shape of Parameters; `parameter-invalid` for a parameter
 *   with more than one of value, resource and part.
 * @see https://hl7.org/fhir/R4/parameters.html
 */
export function parametersOf(body: JsonObject): readonly Parameter[] {
  if (body['resourceType'] !== 'Parameters') {
    throw new OperationError('body-structure', 'The body must be a Parameters resource.', { expression: ['resourceType'] })
  }
  return parameterList(body['parameter'], 'Parameters.parameter')
}

function parameterList(list: unknown, path: string): readonly Parameter[] {
  if (list === undefined) return []
  if (!Array.isArray(list)) throw new OperationError('body-structure', `${path} must be an array.`, { expression: [path] })
  return list.map((item, index) => parameterAt(item, `${path}[${index}]`))
}

function parameterAt(item: unknown, expression: string): Parameter {
  if (!isObject(item)) throw new OperationError('body-structure', `${expression} must be an object.`, { expression: [expression] })
  const name = item['name']
  if (typeof name !== 'string' || name === '') {
    throw new OperationError('body-structure', `${expression} has no name.`, { expression: [`${expression}.name`] })
  }
  const values = Object.keys(item).filter((key) => /^value[A-Z]/.test(key))
  const kinds = values.length + Number(Object.hasOwn(item, 'resource')) + Number(Object.hasOwn(item, 'part'))
  if (kinds > 1) {
    throw new OperationError('parameter-invalid', `Parameter ${quoted(name)} has more than one value.`, { expression: [expression] })
  }
  return {
    name,
    ...valueOf(item, values[0], expression),
    ...resourceOf(item, expression),
    parts: parameterList(item['part'], `${expression}.part`),
    expression,
  }
}

function valueOf(item: JsonObject, key: string | undefined, expression: string): Pick<Parameter, 'value' | 'type'> {
  if (key === undefined) return { value: undefined }
  const type = key.slice('value'.length)
  checkValueShape(type, item[key], `${expression}.${key}`)
  return { value: item[key], type }
}

function resourceOf(item: JsonObject, expression: string): { resource?: JsonObject } {
  if (!Object.hasOwn(item, 'resource')) return {}
  const resource = item['resource']
  if (!isObject(resource) || typeof resource['resourceType'] !== 'string') {
    throw new OperationError('body-structure', `${expression}.resource is not a resource.`, { expression: [`${expression}.resource`] })
  }
  return { resource }
}
