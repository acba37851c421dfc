import { canonicalOf } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'

/**
 * The canonical of the value set that an element is bound to.
 *
 * @param context `<canonical of a StructureDefinition>#<id or path of the element>`.
 * @throws {OperationError} `not-found` for an unknown StructureDefinition; `parameter-value` for another form, and for an element that it does not have
 *   or that is bound to no value set.
 * @see https://hl7.org/fhir/R4/valueset-operation-expand.html
 */
export async function boundValueSet(ctx: OperationContext, context: string): Promise<string> {
  const mark = context.indexOf('#')
  const { url, version } = canonicalOf(context.slice(0, Math.max(mark, 0)))
  if (url === '') throw unusable(`must be the url of a StructureDefinition, # and an element, not ${quoted(context)}`)
  const definition = await ctx.content.resolve('StructureDefinition', url, version)
  if (definition === undefined)
    throw new OperationError('not-found', `StructureDefinition ${quoted(url)} does not exist.`, { expression: ['context'] })
  const valueSet = stringAt(objectAt(elementOf(definition.resource, context.slice(mark + 1)), 'binding'), 'valueSet')
  if (valueSet === undefined) throw unusable(`names no element that is bound to a value set: ${quoted(context)}`)
  return valueSet
}

function elementOf(structure: JsonObject, name: string): JsonObject | undefined {
  const elements = ['snapshot', 'differential'].flatMap((view) => objectsAt(objectAt(structure, view), 'element'))
  return elements.find(({ id }) => id === name) ?? elements.find(({ path }) => path === name)
}

function unusable(problem: string): OperationError {
  return new OperationError('parameter-value', `Parameter 'context' ${problem}.`, { expression: ['context'] })
}
