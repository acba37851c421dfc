import { sha1 } from '@noble/hashes/legacy.js'
import { quoted } from '../../errors/index.js'
import { type FhirNode, PENDING } from '../../fhirpath/index.js'
import { isObject, type JsonObject, stringAt } from '../../json/index.js'
import { elementAtPath } from '../profile/element-at-path.js'
import { defineFinding, type FindingDefinition } from '../run/finding.js'
import { childrenOf, textOf } from '../run/nodes.js'
import type { NodeRule, Run } from '../run/run.js'
import { base64Length, isInvalidBase64 } from './primitive/number-and-bytes.js'
import { ID_FORM, isAbsoluteUri } from './primitive/text.js'

const ELEMENT_ID: FindingDefinition = defineFinding(
  'element-id',
  'error',
  'business-rule',
  'Give each element a unique id, or leave the id out.',
)

/** Ids of elements. */
export const elementIdRule: NodeRule = {
  on: ['Element'],
  finds: [ELEMENT_ID, ID_FORM],
  needs: 'id',
  check: checkElementId,
}

/** Checks that the id of an element has no white space, and that no other element of the resource has it. */
function checkElementId(run: Run, node: FhirNode): void {
  const members = node.extra ?? node.value
  const id = isObject(members) && node.type.kind !== 'resource' ? stringAt(members, 'id') : undefined
  if (id === undefined || id === '') return
  if (/\s/.test(id))
    run.findings.report(ID_FORM, node, { text: `The id of an element must not contain white space: ${quoted(id)}.`, at: 'id' })
  const ids = idsAround(run, node)
  if (ids.has(id)) run.findings.report(ELEMENT_ID, node, { text: `Duplicate id value ${quoted(id)}.` })
  ids.add(id)
}

/** The ids seen so far around a node. A snapshot has ids of its own, because the differential has the same. */
function idsAround({ seen }: Run, node: FhirNode): Set<string> {
  let scope = node
  while (scope.parent !== undefined && scope.type.kind !== 'resource' && scope.slot?.name !== 'snapshot') scope = scope.parent
  if (!isObject(scope.value)) return new Set()
  const ids = (seen.ids ??= new Map<object, Set<string>>())
  const known = ids.get(scope.value) ?? new Set<string>()
  ids.set(scope.value, known)
  return known
}

const IDENTIFIER: FindingDefinition = defineFinding(
  'identifier',
  'error',
  'code-invalid',
  'Write systems, and values that are URIs, as absolute URIs.',
)
/** An attachment whose content is missing, or contradicts the stated size or hash. */
export const ATTACHMENT: FindingDefinition = defineFinding(
  'attachment',
  'error',
  'structure',
  'Give the attachment data or a url, with the stated size, within the limit.',
)

const URIS = 'urn:ietf:rfc:3986'
/** A URN without its scheme, `urn:`. */
const BARE_URN = /^(?:oid|uuid):/
/** The document that defines UUIDs, which is not a system of identifiers. */
const UUIDS = 'https://tools.ietf.org/html/rfc4122'

const UUID = /^(?:urn:uuid:|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$)/i

/** Identifiers. */
export const identifierRule: NodeRule = {
  on: ['Identifier'],
  finds: [IDENTIFIER],
  when: () => (value) => isObject(value) && !isUsual(value),
  check: checkIdentifier,
}

function isUsual(identifier: JsonObject): boolean {
  const [system, value = ''] = [stringAt(identifier, 'system'), stringAt(identifier, 'value')]
  if (system === undefined) return true
  return isAbsoluteUri(system) && !BARE_URN.test(system) && system !== UUIDS && (system !== URIS || isAbsoluteUri(value))
}

/**
 * Checks that the system of an Identifier is absolute, and that a value whose system is that of URIs is an absolute URI.
 *
 * @see https://hl7.org/fhir/R4/datatypes.html#Identifier
 */
function checkIdentifier(run: Run, node: FhirNode): void {
  const [system, value] = [textOf(node, 'system'), textOf(node, 'value')]
  if (system === undefined) return
  if (!isAbsoluteUri(system) || BARE_URN.test(system))
    run.findings.report(IDENTIFIER, node, { text: `Identifier.system must be an absolute reference, not ${quoted(system)}.` })
  if (value === undefined) return
  if (system === URIS && !isAbsoluteUri(value))
    run.findings.report(IDENTIFIER, node, { text: `If the system is ${URIS}, the value must be an absolute URI, not ${quoted(value)}.` })
  if (system === UUIDS)
    run.findings.report(IDENTIFIER, node, {
      text: `A UUID is written as a URI: with the system ${URIS}, and urn:uuid: before ${quoted(value)}.`,
      ...(UUID.test(value) && { severity: 'warning' }),
    })
}

/** Attachments. */
export const attachmentRule: NodeRule = {
  on: ['Attachment'],
  finds: [ATTACHMENT],
  check: checkAttachment,
}

/** Checks that an attachment has content, or describes it, and that the stated size is that of its data. */
function checkAttachment(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  const { value } = node
  const { size } = value
  const data = stringAt(value, 'data')
  if (!CONTENT.some((name) => Object.hasOwn(value, name) || Object.hasOwn(value, `_${name}`)))
    run.findings.report(ATTACHMENT, node, {
      text: 'An attachment should have data or a url, or at least a contentType or language.',
      severity: 'warning',
    })
  if (data === undefined || isInvalidBase64(data)) return
  const stated = stringAt(value, 'hash')
  if (stated !== undefined && !isInvalidBase64(stated)) run.scheduler.later(() => checkHash(run, node, { data, stated }))
  if (typeof size !== 'number') return
  const length = base64Length(data)
  if (length !== size)
    run.findings.report(ATTACHMENT, node, { text: `The stated size ${size} does not match the actual size of ${length} bytes.` })
}

/** Number of characters that are hashed in one go: a multiple of four. */
const PIECE = 100_000

/** A SHA-1 in hexadecimal digits, as other programs write it, and an example of R4, whose data is abridged. */
const HEXADECIMAL = /^[0-9a-f]{40}$/i

/** Checks that the hash is the SHA-1 of the data. */
async function checkHash(run: Run, node: FhirNode, { data, stated }: { data: string; stated: string }): Promise<void> {
  const hash = sha1.create()
  const text = data.replace(/\s/g, '')
  for (let start = 0; start < text.length; start += PIECE) {
    hash.update(Uint8Array.from(atob(text.slice(start, start + PIECE)), (character) => character.charCodeAt(0)))
    await run.scheduler.turn()
  }
  if (HEXADECIMAL.test(stated)) {
    run.findings.report(ATTACHMENT, node, { text: 'The hash is in hexadecimal digits, but must be base64.', severity: 'warning' })
    return
  }
  const actual = btoa(String.fromCharCode(...hash.digest()))
  if (actual !== stated.replace(/\s/g, ''))
    run.findings.report(ATTACHMENT, node, { text: `The hash does not match the data: stated ${quoted(stated)}, actual ${quoted(actual)}.` })
}

const CONTENT = ['data', 'url', 'contentType', 'language']

const DATA_REQUIREMENT: FindingDefinition = defineFinding(
  'data-requirement',
  'warning',
  'business-rule',
  'Use paths of elements that the type has, and profiles on the type.',
)

/** The data requirements of Libraries, plans and modules. */
export const dataRequirementRule: NodeRule = { on: ['DataRequirement'], finds: [DATA_REQUIREMENT], check: checkDataRequirement }

/** The members that have a path, with the name of the path in each. */
const PATHS = [
  ['codeFilter', 'path'],
  ['dateFilter', 'path'],
  ['sort', 'path'],
] as const

/**
 * Checks that the paths of a DataRequirement lead to elements of its type, and that its profiles are for the type. Paths with functions or indexes are
 * not followed.
 *
 * @see https://hl7.org/fhir/R4/metadatatypes.html#DataRequirement
 */
function checkDataRequirement(run: Run, node: FhirNode): void {
  const type = textOf(node, 'type')
  if (type === undefined || run.model.type(type) === undefined) return
  const paths = PATHS.flatMap(([holder, name]) => childrenOf(run, node, holder).flatMap((one) => childrenOf(run, one, name)))
  for (const one of [...paths, ...childrenOf(run, node, 'mustSupport')]) checkPath(run, one, type)
  for (const one of childrenOf(run, node, 'profile')) checkProfile(run, one, type)
}

function checkPath(run: Run, node: FhirNode, type: string): void {
  const { value } = node
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9.]*(?:\[x\])?$/.test(value)) return
  const path = value.startsWith(`${type}.`) ? value : `${type}.${value}`
  if (elementAtPath(run.model, path) === undefined)
    run.findings.report(DATA_REQUIREMENT, node, { text: `The path ${quoted(value)} does not lead to an element of ${type}.` })
}

function checkProfile(run: Run, node: FhirNode, type: string): void {
  const profile = typeof node.value === 'string' ? run.definitions.profile(node.value) : undefined
  if (profile === undefined || profile === PENDING || profile.type === type) return
  run.findings.report(DATA_REQUIREMENT, node, {
    text: `The profile ${quoted(profile.url)} is a profile on ${profile.type}, not on ${type}.`,
  })
}
