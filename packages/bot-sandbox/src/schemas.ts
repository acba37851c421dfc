import addFormats, { type FormatName } from 'ajv-formats'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { BotSchemas, SchemaCheck, SchemaProblem } from 'fhir-ops/internal/execute'
import { compileRegex } from 'fhir-ops/internal/regex'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** Formats whose test takes time in proportion to the text. */
const FORMATS: readonly FormatName[] = [
  ...(['date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'uuid', 'email', 'hostname', 'ipv4'] as const),
  ...(['json-pointer', 'relative-json-pointer', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary'] as const),
]

const MAX_TEXT = 65_536
const MAX_UNFOLDED = 1_000

/**
 * Checks inputs and outputs of bots with JSON Schema, draft 2020-12, using ajv and ajv-formats. A schema is compiled once. Patterns run in linear time;
 * those that cannot, such as look-around and back references, are refused.
 */
export function botSchemas(): BotSchemas {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, code: { regExp: linearRegex } })
  addFormats.default(ajv, [...FORMATS])
  const compiled = new WeakMap<JsonObject, SchemaCheck>()
  const stored = new Map<string, SchemaCheck>()
  return {
    compile(schema, isTrusted) {
      const known = compiled.get(schema)
      if (known !== undefined) return known
      const text = JSON.stringify(schema)
      const check = stored.get(text) ?? checkBy(compiledBy(ajv, isTrusted ? schema : bounded(schema, text)))
      compiled.set(schema, check)
      keep(stored, text, check)
      return check
    },
  }
}

const MAX_KEPT = 500

/** Keeps a check by the text of its schema: a stored bot is read for each call, so its schema is another object each time. */
function keep(stored: Map<string, SchemaCheck>, text: string, check: SchemaCheck): void {
  const [oldest] = stored.keys()
  if (stored.size >= MAX_KEPT && oldest !== undefined) stored.delete(oldest)
  stored.set(text, check)
}

/** The regular expression engine of ajv. ajv uses its member `code` only when it writes modules. */
const linearRegex = Object.assign(
  (pattern: string) => {
    const regex = compileRegex(pattern)
    // ajv caches expressions by their text.
    return { test: (text: string) => regex.test(text), toString: () => pattern }
  },
  { code: 'linearRegex' },
)

/** @throws {TypeError} if it is not a schema, with the reason. */
function compiledBy(ajv: Ajv2020, schema: JsonObject): ValidateFunction {
  try {
    return ajv.compile(schema)
  } catch (cause) {
    throw new TypeError(`${cause instanceof Error ? cause.message : String(cause)}.`.replace(/\.\.$/, '.'), { cause })
  } finally {
    ajv.removeSchema(schema)
  }
}

function checkBy(validate: ValidateFunction): SchemaCheck {
  return (value) => {
    if (validate(value)) return undefined
    const [error] = validate.errors ?? []
    return error === undefined ? { place: '', text: 'is not valid' } : problemOf(error)
  }
}

function problemOf({ instancePath, keyword, message = 'is not valid', params }: ErrorObject): SchemaProblem {
  const named = { required: 'missingProperty', additionalProperties: 'additionalProperty', unevaluatedProperties: 'unevaluatedProperty' }
  const member: unknown = Object.entries(named).find(([name]) => name === keyword)?.[1]
  const extra: unknown = typeof member === 'string' && isObject(params) ? params[member] : undefined
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const place = [...steps, ...(typeof extra === 'string' ? [extra] : [])].reduce(stepped, '')
  if (keyword === 'required') return { place, text: 'is required' }
  if (typeof extra === 'string') return { place, text: 'is not allowed' }
  const allowed: unknown = isObject(params) ? params['allowedValues'] : undefined
  return { place, text: keyword === 'enum' && Array.isArray(allowed) ? `must be one of ${allowed.join(', ').slice(0, 200)}` : message }
}

function stepped(place: string, step: string): string {
  if (/^\d+$/.test(step)) return `${place}[${step}]`
  const shown = /^[A-Za-z_$][\w$]*$/.test(step) ? step : `[${JSON.stringify(step.slice(0, 100))}]`
  return place === '' || shown.startsWith('[') ? place + shown : `${place}.${shown}`
}

/**
 * Checks the size of a schema that a bot's author has stored. Validation with a schema whose references are recursive, or multiply, can take exponential
 * time, so its references are expanded, and it is refused if the result is large.
 *
 * @throws {TypeError} with the reason.
 */
function bounded(schema: JsonObject, text: string): JsonObject {
  if (text.length > MAX_TEXT) throw new TypeError(`A schema of a stored bot must not be longer than ${MAX_TEXT} characters.`)
  count({ root: schema, left: MAX_UNFOLDED }, schema, new Set())
  return schema
}

interface Counting {
  readonly root: JsonObject
  left: number
}

const REFUSED: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef', '$id', '$anchor', '$dynamicAnchor', 'uniqueItems'])

/** @param within The objects that contain this one in the expanded schema. */
function count(counting: Counting, value: unknown, within: ReadonlySet<object>): void {
  if (typeof value !== 'object' || value === null) return
  counting.left -= 1
  if (counting.left < 0) throw new TypeError(`A schema of a stored bot must not have more than ${MAX_UNFOLDED} parts, with its references.`)
  if (within.has(value)) throw new TypeError('A schema of a stored bot must not refer to what is around the reference.')
  const inner = new Set([...within, value])
  for (const [name, member] of Object.entries(value)) {
    if (REFUSED.has(name) && !Array.isArray(value)) throw new TypeError(`A schema of a stored bot must not use ${name}.`)
    if (name === '$ref') count(counting, referredTo(counting.root, member), inner)
    else if (name !== '$defs' && name !== 'definitions') count(counting, member, inner)
  }
}

function referredTo(root: JsonObject, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) throw new TypeError('A schema of a stored bot must refer only to its own parts.')
  const steps = decodeURIComponent(ref.slice(1)).split('/').slice(1)
  return steps.reduce<unknown>((at, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(at) || Array.isArray(at) ? Object.entries(at).find(([key]) => key === name)?.[1] : undefined
  }, root)
}
