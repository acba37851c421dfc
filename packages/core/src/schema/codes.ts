import { isAboutContent } from '../errors/index.js'
import { expand, type ExpansionEntry } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'
import type { BindingRule } from '../validate/run/element-rule.js'
import { definitionRef, type Code, type Making } from './making.js'

/** Maximum number of codes that are listed inline; longer lists become a definition of their own. */
const MOST_INLINE = 12

/** The schema that a required binding implies for values of the type; `undefined` if a schema cannot express it. */
export async function bindingSchema(making: Making, { valueSet, takesText }: BindingRule, type: string): Promise<JsonObject | undefined> {
  const codes = await codesOf(making, valueSet)
  if (codes === undefined || codes.length === 0) return undefined
  const isPrimitive = making.model.type(type)?.kind === 'primitive'
  if (isPrimitive) return shared(making, `${valueSet} code`, valueSet, { enum: [...new Set(codes.map(({ code }) => code))] })
  const coding = codingSchema(codes)
  if (type === 'Coding') return shared(making, `${valueSet} Coding`, `${valueSet}-Coding`, coding)
  if (type !== 'CodeableConcept') return undefined
  const one = shared(making, `${valueSet} Coding`, `${valueSet}-Coding`, coding)
  const withCode: JsonObject = { required: ['coding'], properties: { coding: { contains: one } } }
  return takesText === true ? { anyOf: [withCode, { not: { required: ['coding'] } }] } : withCode
}

/** Schema of a Coding with one of the codes, grouped by system. */
function codingSchema(codes: readonly Code[]): JsonObject {
  const bySystem = Map.groupBy(codes, ({ system }) => system)
  const alternatives = [...bySystem].map(([system, ofSystem]) => ({
    required: ['code', ...(system === undefined ? [] : ['system'])],
    properties: { ...(system !== undefined && { system: { const: system } }), code: { enum: ofSystem.map(({ code }) => code) } },
  }))
  return alternatives.length === 1 && alternatives[0] !== undefined ? alternatives[0] : { anyOf: alternatives }
}

function shared(making: Making, about: string, name: string, schema: JsonObject): JsonObject {
  const { enum: listed } = schema
  if (Array.isArray(listed) && listed.length <= MOST_INLINE) return schema
  return definitionRef(making, about, `ValueSet-${lastOf(name)}`, async () => schema)
}

function lastOf(url: string): string {
  const [last = ''] = url.slice(url.lastIndexOf('/') + 1).split('|')
  return last
}

/** All codes of a value set, including inactive ones; `undefined` if they cannot be listed, or exceed `maxCodes`. */
export function codesOf(making: Making, valueSet: string): Promise<readonly Code[] | undefined> {
  const known = making.codes.get(valueSet)
  if (known !== undefined) return known
  const found = listCodes(making, valueSet)
  making.codes.set(valueSet, found)
  return found
}

async function listCodes({ ctx, form }: Making, canonical: string): Promise<readonly Code[] | undefined> {
  const [url = '', version] = canonical.split('|')
  try {
    const { contains, total } = await expand(ctx, {
      url,
      ...(version !== undefined && { valueSetVersion: version }),
      count: form.maxCodes,
      excludeNested: true,
    })
    if (total === undefined || total > form.maxCodes) return undefined
    return contains.flatMap(codeIn)
  } catch (error) {
    // A missing value set or code system does not prevent the schema; the result lists it as unexpressed.
    if (isAboutContent(error)) return undefined
    throw error
  }
}

function codeIn({ system, code, abstract }: ExpansionEntry): readonly Code[] {
  return code === undefined || abstract === true ? [] : [{ system, code }]
}
