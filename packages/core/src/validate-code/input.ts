import { canonicalOf } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { storedInstance, type OperationRequest } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { readLanguages, readValueSetName, readVersionRules } from '../terminology/index.js'
import type { GivenCoding, GivenValue, ValidateInCodeSystemInput, ValidateInValueSetInput, ValidateOptions } from './validate-input.js'

/**
 * Reads the inputs of `ValueSet/$validate-code`.
 *
 * @throws {OperationError} as `readOptions` and `readValueSetName`; `parameter-required` for a code without system that is not to be inferred.
 */
export async function readValueSetInput(
  ctx: OperationContext,
  request: OperationRequest,
  reader: ParameterReader,
): Promise<ValidateInValueSetInput> {
  const input = {
    ...readOptions(request, reader),
    ...(await readValueSetName(ctx, request, reader)),
    inferSystem: reader.boolean('inferSystem', 'implySystem'),
    membershipOnly: reader.boolean('valueset-membership-only'),
  }
  if (input.inferSystem !== true) refuseBareCode(input.value)
  return input
}

/**
 * Reads the inputs of `CodeSystem/$validate-code`.
 *
 * @throws {OperationError} as `readOptions`; `not-found` for an unknown id; `parameter-invalid` for another code system beside an id.
 */
export async function readCodeSystemInput(
  ctx: OperationContext,
  request: OperationRequest,
  reader: ParameterReader,
): Promise<ValidateInCodeSystemInput> {
  const [url, codeSystem] = [reader.text('url', 'system'), reader.resource('codeSystem')]
  const stored = (await storedInstance(ctx, request))?.resource
  if (stored !== undefined) refuseOther(stored, { url, codeSystem })
  return {
    ...readOptions(request, reader),
    url,
    version: reader.text('version', 'systemVersion'),
    codeSystem: codeSystem ?? stored,
  }
}

function refuseOther(stored: JsonObject, { url, codeSystem }: Pick<ValidateInCodeSystemInput, 'url' | 'codeSystem'>): void {
  if (codeSystem === undefined && (url === undefined || canonicalOf(url).url === stored['url'])) return
  throw new OperationError('parameter-invalid', 'Another code system cannot be given where the path names one.', {
    expression: [codeSystem === undefined ? 'url' : 'codeSystem'],
  })
}

/**
 * Reads what both kinds of validation share.
 *
 * @throws {OperationError} `parameter-required` without a code; `source-ambiguous` for more than one of code, coding and codeableConcept;
 *   `parameter-unsupported` for `date`; `parameter-value` and `parameter-invalid` for malformed inputs.
 */
function readOptions(request: OperationRequest, reader: ParameterReader): ValidateOptions {
  reader.refuse('date')
  return {
    value: readValue(reader),
    lenientDisplay: reader.boolean('lenient-display-validation'),
    abstract: reader.boolean('abstract'),
    activeOnly: reader.boolean('activeOnly'),
    useSupplement: reader.texts('useSupplement'),
    ...readLanguages(reader, request),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
}

function readValue(reader: ParameterReader): GivenValue {
  const given = [readConcept(reader), readCoding(reader), readCode(reader)].filter((value) => value !== undefined)
  const [value, other] = given
  if (other !== undefined) throw new OperationError('source-ambiguous', 'Only one of code, coding and codeableConcept may be given.')
  if (value !== undefined && value.codings.length > 0) return value
  throw nothingToValidate()
}

/** A code alone has no meaning. A Coding without system has none either, but it is a Coding, of which that can be told. */
function refuseBareCode({ kind, codings }: GivenValue): void {
  if (kind === 'code' && codings.some(({ system }) => system === undefined)) throw nothingToValidate()
}

function nothingToValidate(): OperationError {
  const message = 'Unable to find code to validate (looked for coding | codeableConcept | code+system | code+inferSystem in parameters)'
  return new OperationError('parameter-required', message, { issue: 'invalid' })
}

function readConcept(reader: ParameterReader): GivenValue | undefined {
  const concept = reader.object('CodeableConcept', 'codeableConcept')
  if (concept === undefined) return undefined
  const codings = objectsAt(concept, 'coding').flatMap((coding, i) => givenCoding(coding, `CodeableConcept.coding[${i}]`))
  return { kind: 'codeableConcept', codings, concept }
}

function readCoding(reader: ParameterReader): GivenValue | undefined {
  const coding = reader.object('Coding', 'coding')
  return coding === undefined ? undefined : { kind: 'coding', codings: givenCoding(coding, 'Coding') }
}

function readCode(reader: ParameterReader): GivenValue | undefined {
  const [system, version, display] = [reader.text('system'), reader.text('systemVersion'), reader.freeText('display')]
  const code = reader.text('code')
  return code === undefined ? undefined : { kind: 'code', codings: [{ code, system, version, display, path: '' }] }
}

function givenCoding(coding: JsonObject, path: string): readonly GivenCoding[] {
  const [system, version, code, display] = ['system', 'version', 'code', 'display'].map((member) => stringAt(coding, member))
  return code === undefined ? [] : [{ code, system, version, display, path }]
}
