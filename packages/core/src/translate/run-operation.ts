import type { CodeableConcept, Coding } from 'fhir/r4.js'
import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { ambiguousCode, type CodeInput } from '../input/index.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import type { OperationRequest, OperationResponse } from '../operation/index.js'
import { parameterReader, type Parameter, type ParameterReader } from '../parameters/index.js'
import { toParameters } from './result.js'
import { codeRequired, type TranslateDependency, type TranslateInput, type TranslateOptions } from './input.js'
import { translate } from './translate.js'

/** Runs `$translate`. @throws {OperationError} as `readTranslate` and `translate`. */
export async function runTranslate(ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { input, names } = readTranslate(request)
  return { status: 200, resource: { ...toParameters(await translate(ctx, input), { names, reverse: input.reverse }) } }
}

/** Names of FHIR R5 for inputs of R4. A request that uses them is answered with the output names of R5. */
const R5_NAMES = ['sourceCode', 'sourceSystem', 'sourceCoding', 'sourceCodeableConcept', 'targetSystem', 'sourceScope', 'targetScope']
/** Names of FHIR R5 for a translation in reverse. */
const TARGETS = ['targetCode', 'targetCoding', 'targetCodeableConcept']
const SOURCES = [
  ['code', 'sourceCode'],
  ['coding', 'sourceCoding'],
  ['codeableConcept', 'sourceCodeableConcept'],
  ...TARGETS.map((name) => [name]),
]

interface TranslateCall {
  readonly input: TranslateInput
  /** The FHIR release whose names the answer uses. */
  readonly names: 'R4' | 'R5'
}

/**
 * Reads the inputs of `$translate`. Unknown names are ignored unless the request is strict.
 *
 * @throws {OperationError} `source-ambiguous`, `parameter-required`, `parameter-invalid`, `parameter-value`.
 */
function readTranslate(request: OperationRequest): TranslateCall {
  const reader = parameterReader(request.parameters)
  const input: TranslateInput = {
    mapId: request.id,
    url: reader.text('url'),
    mapVersion: reader.text('conceptMapVersion'),
    source: reader.text('source', 'sourceScope'),
    target: reader.text('target', 'targetScope'),
    conceptMap: reader.resource('conceptMap'),
    resources: reader.resources('tx-resource'),
    dependencies: reader.all('dependency').map(dependencyOf),
    ...conceptOf(reader),
    explain: reader.boolean('_explain'),
  }
  if (request.strict) reader.refuseUnknown()
  return { input, names: reader.all(...R5_NAMES, ...TARGETS).length > 0 ? 'R5' : 'R4' }
}

type ConceptInput = CodeInput & Pick<TranslateOptions, 'targetSystem' | 'reverse'>

function conceptOf(reader: ParameterReader): ConceptInput {
  const sources = SOURCES.filter((names) => reader.all(...names).length > 0)
  if (sources.length > 1) throw ambiguousCode(reader.all(...sources.flat()).map(({ name }) => name))
  const reverse = reader.boolean('reverse')
  if (reader.all(...TARGETS).length > 0) return fromTarget(reader)
  const targetSystem = reader.text('targetsystem', 'targetSystem')
  const code = reader.text('code', 'sourceCode')
  const system = reader.text('system', 'sourceSystem')
  const version = reader.text('version')
  if (code !== undefined) return { coding: codeOf(code, system, version), targetSystem, reverse }
  refuseWithoutCode({ system, version })
  const coding = reader.object('Coding', 'coding', 'sourceCoding')
  const codeableConcept = reader.object('CodeableConcept', 'codeableConcept', 'sourceCodeableConcept')
  return { ...codeInput(coding, codeableConcept), targetSystem, reverse }
}

/**
 * Reads a translation in reverse with the names of R5: a concept of the target, and optionally a `sourceSystem` to translate into. The system of a
 * `targetCode` is `targetSystem`; where that is absent, it is `system`, as in R5 itself.
 */
function fromTarget(reader: ParameterReader): ConceptInput {
  const code = reader.text('targetCode')
  const target = reader.text('targetsystem', 'targetSystem')
  const ofCode = code !== undefined && target === undefined ? reader.text('system') : undefined
  const system = target ?? ofCode
  if (code !== undefined && system === undefined) throw required("A 'targetCode' needs its 'targetSystem'.", 'targetSystem')
  const coding = code === undefined ? reader.object('Coding', 'targetCoding') : { system, code }
  const codeableConcept = reader.object('CodeableConcept', 'targetCodeableConcept')
  return {
    ...codeInput(coding, codeableConcept),
    targetSystem: ofCode === undefined ? reader.text('system', 'sourceSystem') : reader.text('sourceSystem'),
    reverse: true,
  }
}

/** @throws {OperationError} `parameter-required` when neither is given. */
function codeInput(coding: JsonObject | undefined, codeableConcept: JsonObject | undefined): CodeInput {
  if (coding !== undefined) return { coding: readCoding(coding) }
  if (codeableConcept !== undefined) return { codeableConcept: readConcept(codeableConcept) }
  throw codeRequired()
}

function codeOf(code: string, system: string | undefined, version: string | undefined): Coding {
  if (system === undefined) throw required("A 'code' needs its 'system'.", 'system')
  return { system, code, ...(version !== undefined && { version }) }
}

function refuseWithoutCode(companions: Readonly<Record<string, string | undefined>>): void {
  const [alone] = Object.entries(companions).find(([, value]) => value !== undefined) ?? []
  if (alone === undefined) return
  throw required(`Parameter ${quoted(alone)} is given without 'code'.`, 'code')
}

function readConcept(value: JsonObject): CodeableConcept {
  const text = stringAt(value, 'text')
  return { coding: objectsAt(value, 'coding').map(readCoding), ...(text !== undefined && { text }) }
}

function readCoding(value: JsonObject): Coding {
  const [system, version, code] = ['system', 'version', 'code'].map((member) => stringAt(value, member))
  return {
    ...(system !== undefined && { system }),
    ...(version !== undefined && { version }),
    ...(code !== undefined && { code }),
  }
}

function dependencyOf(parameter: Parameter): TranslateDependency {
  const reader = parameterReader(parameter.parts)
  const element = reader.text('element', 'attribute')
  const concept = optional(reader.object('CodeableConcept', 'concept'), readConcept) ?? dependencyValue(reader)
  if (element === undefined || concept === undefined) {
    throw required(
      "A 'dependency' needs its parts 'element' and 'concept', or in the names of R5 'attribute' and 'value'.",
      parameter.expression,
    )
  }
  reader.refuseUnknown()
  return { element, concept }
}

/** Reads the value of a dependency by its name in R5: a Coding, a code, a text or a boolean. */
function dependencyValue(reader: ParameterReader): CodeableConcept | undefined {
  const [value] = reader.all('value')
  if (value?.type === 'Coding') return optional(reader.object('Coding', 'value'), (coding) => ({ coding: [readCoding(coding)] }))
  if (value?.type === 'Boolean') return { text: String(reader.boolean('value')) }
  return optional(reader.text('value'), (text) => ({ text }))
}

function optional<A, B>(value: A | undefined, convert: (value: A) => B): B | undefined {
  return value === undefined ? undefined : convert(value)
}

function required(message: string, name: string): OperationError {
  return new OperationError('parameter-required', message, { expression: [name] })
}
