import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, COUNT, inputShape, needed, oneOf, TEXT } from '../input/index.js'
import { ownCopy, type JsonObject } from '../json/index.js'
import { TYPE_URL } from '../validate/run/element-rule.js'
import { profileRef, startMaking, type Making, type Unexpressed } from './making.js'
import { profileSchema, typeSchema } from './type-schema.js'
import { withNearest } from '../text/nearest.js'

/** The input of `jsonSchema`. */
export interface JsonSchemaInput {
  /** Canonical URL of a StructureDefinition, with or without version, or the name of a type: `Patient`, `HumanName`. */
  readonly url: string
  /**
   * How resources inside a resource (`contained`, entries of a Bundle) are described: `named` requires an existing `resourceType`; `whole` adds the
   * schemas of all resource types, which makes the schema as large as all of R4. Default `named`.
   */
  readonly resources?: 'named' | 'whole' | undefined
  /** Maximum number of codes of a value set; required bindings to larger value sets are not in the schema. Default 500. */
  readonly maxCodes?: number | undefined
}

/** The result of `jsonSchema`. */
export interface JsonSchemaResult {
  /** A self-contained JSON Schema, draft 2020-12. */
  readonly schema: JsonObject
  /** Requirements of the definitions that the schema does not express, in the order in which they were found. */
  readonly unexpressed: readonly Unexpressed[]
}

const INPUT = inputShape<JsonSchemaInput>({ url: needed(TEXT), resources: oneOf('named', 'whole'), maxCodes: COUNT })

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
const MAX_CODES = 500

/**
 * Generates the JSON Schema of a type or a profile, for forms, program inputs and answers of language models. Whatever the schema rejects, `validate`
 * rejects too; whatever it accepts may still violate the requirements in `unexpressed`.
 *
 * @throws {OperationError} `profile-not-found` if there is no such StructureDefinition; `definition-required` if the context has no types;
 *   `parameter-required`, `aborted`, `computation-timeout`.
 * @see https://json-schema.org/draft/2020-12
 */
export async function jsonSchema(ctx: OperationContext, input: JsonSchemaInput): Promise<JsonSchemaResult> {
  checkInput(ctx, input, INPUT)
  const { url, resources = 'named', maxCodes = MAX_CODES } = input
  const making = startMaking(ctx, { resources, maxCodes }, { type: typeSchema, profile: profileSchema })
  const canonical = making.model.type(url) === undefined ? url : TYPE_URL + url
  const ref = await profileRef(making, canonical)
  if (ref === undefined) throw notFound(url, making)
  const $defs = await definitions(making)
  return { schema: { $schema: DRAFT, $id: canonical.replace('|', '?version='), ...ref, $defs }, unexpressed: onceEach(making.unexpressed) }
}

function notFound(url: string, { model }: Making): OperationError {
  const types = Array.from(model.names()).filter((name) => !name.includes('.'))
  const problem = withNearest(`There is no StructureDefinition or type ${quoted(url)}.`, url, types)
  return new OperationError('profile-not-found', problem, {
    expression: ['url'],
    missing: { kind: 'StructureDefinition', name: url },
  })
}

/** Generates all referenced definitions. Each may refer to further definitions, which are appended. */
async function definitions({ waiting, pace }: Making): Promise<JsonObject> {
  const made: [string, JsonObject][] = []
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    await pace.step()
    // Schemas share constants, such as those of primitive types; each result gets its own copy.
    made.push([next.name, ownCopy(await next.make())])
  }
  return Object.fromEntries(made)
}

function onceEach(unexpressed: readonly Unexpressed[]): readonly Unexpressed[] {
  return [...new Map(unexpressed.map((one) => [JSON.stringify(one), one])).values()]
}
