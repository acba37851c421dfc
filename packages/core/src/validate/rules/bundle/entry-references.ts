import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt } from '../../../json/index.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { nodeAlong } from '../../run/nodes.js'
import type { JsonPath } from '../../run/patch.js'
import type { BundleEntry } from '../../run/indexes.js'
import { anchorsOf } from '../narrative/check-narrative.js'
import { entriesFor } from '../reference/resolve-locally.js'
import { MAY_LACK_FULL_URL, addressOf, targetsOf, type EntryLink, type BundleCheck } from './entry-links.js'

/** A reference within a Bundle, often a URN, that leads to no entry and may be meant for a resource elsewhere. */
export const BUNDLE_REFERENCE_OPEN: FindingDefinition = defineFinding(
  'bundle-reference-open',
  'warning',
  'required',
  'Check whether the resource should be in the Bundle.',
)
/** A reference to a missing entry that the Bundle must have, or to a missing element of an entry. */
export const BUNDLE_REFERENCE_MISSING: FindingDefinition = defineFinding(
  'bundle-reference-missing',
  'error',
  'invalid',
  'Add the resource to the Bundle, or correct the reference or its fullUrl.',
)
/** A reference that several entries of the Bundle match, or several elements of an entry. */
export const BUNDLE_REFERENCE_AMBIGUOUS: FindingDefinition = defineFinding(
  'bundle-reference-ambiguous',
  'error',
  'forbidden',
  'Give the version in the reference, or keep one of the entries.',
)

/** Elements whose references must lead to entries, by type of the first resource: the parts of a document, and the focus of a message. */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Composition', ['subject', 'author', 'custodian', 'encounter', 'attester', 'section', 'event']],
  ['MessageHeader', ['focus']],
])

/**
 * Checks that references in the entries lead to entries: those of a document's or message's header must, URNs should, and none may be ambiguous. A link
 * into an entry's resource should lead to one place there.
 */
export function checkEntryReferences(check: BundleCheck): void {
  const { index } = check
  for (const [position, entry] of index.entries.entries()) {
    const needed = position === 0 ? neededIn(check, entry) : []
    for (const link of check.linksOf(entry)) {
      if (link.isReference) checkLink(check, entry, { link, isNeeded: isIn(needed, link.path) })
      else if (link.target.includes('#')) checkAnchor(check, entry, link)
    }
  }
}

function checkAnchor({ run, index }: BundleCheck, entry: BundleEntry, { target, path }: EntryLink): void {
  const [found, ...others] = targetsOf(entry, target, index)
  if (found === undefined || others.length > 0) return
  const id = target.slice(target.indexOf('#') + 1)
  const places = anchorsOf(run, found.resource).get(id) ?? 0
  if (places === 1) return
  const { node } = nodeAlong(run, entry.resource, path)
  if (places === 0) {
    run.findings.report(BUNDLE_REFERENCE_MISSING, node, {
      text: `The referenced entry has no element with the id ${quoted(id)}.`,
      code: 'not-found',
      // A URN has a meaning in the Bundle only; a URL may lead to a resource elsewhere that has the element.
      ...(!target.startsWith('urn:') && { severity: 'information' }),
    })
  } else {
    run.findings.report(BUNDLE_REFERENCE_AMBIGUOUS, node, {
      text: `The referenced entry has ${places} elements with the id ${quoted(id)}.`,
      code: 'invalid',
    })
  }
}

function neededIn({ type }: BundleCheck, { resource }: BundleEntry): readonly string[] {
  return type === 'document' || type === 'message' ? (NEEDED.get(resource.type.name) ?? []) : []
}

function isIn(names: readonly string[], [first]: JsonPath): boolean {
  return typeof first === 'string' && names.includes(first)
}

interface LinkInQuestion {
  readonly link: EntryLink
  readonly isNeeded: boolean
}

function checkLink(check: BundleCheck, entry: BundleEntry, { link, isNeeded }: LinkInQuestion): void {
  const { run, index } = check
  const { target } = link
  if (target.startsWith('#')) return
  const found = targetsOf(entry, target, index)
  if (found.length === 1) return
  const { node } = nodeAlong(run, entry.resource, link.path)
  const fault = formFault(check, entry, target)
  if (fault !== undefined) return run.findings.report(BUNDLE_REFERENCE_MISSING, node, fault)
  if (target.includes('?')) return
  if (found.length > 1) return reportSeveral(check, node, { target, count: found.length, isNeeded })
  if (isNeeded) reportNeeded(check, node, target)
  else noteElsewhere(check, target)
  const other = otherTypeOf(check, entry, target)
  if (other !== undefined) run.findings.report(BUNDLE_REFERENCE_MISSING, node, { text: other, code: 'required' })
  const [elsewhere] = entriesFor(run, node, target)
  if (elsewhere !== undefined) return checkVersion(check, entry, { link, found: elsewhere })
  reportOpen(check, node, target)
}

/**
 * Reports a reference that several entries match. A search may find several versions of what others refer to; documents and messages, which should be
 * complete, thus lack the one that is meant.
 */
function reportSeveral(
  { type, run, bundle }: BundleCheck,
  node: FhirNode,
  { target, count, isNeeded }: { target: string; count: number; isNeeded: boolean },
): void {
  if (type === 'searchset') return
  const text = `Found ${count} matches for ${quoted(target)} in the bundle; give the version in the reference.`
  run.findings.report(BUNDLE_REFERENCE_AMBIGUOUS, node, { text })
  if (type !== 'document' && type !== 'message') return
  const lack = `Can't find the one entry that ${quoted(target)} means in the bundle, as ${count} match.`
  run.findings.report(BUNDLE_REFERENCE_MISSING, isNeeded ? node : bundle, { text: lack })
}

function reportNeeded(check: BundleCheck, node: FhirNode, target: string): void {
  const other = hint(check, target)
  const text = `Can't find ${quoted(target)} in the bundle${other}.`
  check.run.findings.report(BUNDLE_REFERENCE_MISSING, node, { text, ...(other === '' && { code: 'not-found' }) })
}

/**
 * Reports other references that lead to no entry, each once, because documents and messages should be complete. It is an error if an entry has the type and id
 * of the reference.
 */
function noteElsewhere(check: BundleCheck, target: string): void {
  const { run, bundle, type } = check
  if (type !== 'document' && type !== 'message') return
  const other = hint(check, target)
  const text = `Can't find ${quoted(target)} in the bundle${other}.`
  run.findings.report(BUNDLE_REFERENCE_MISSING, bundle, { text, ...(other === '' && { severity: 'information', code: 'not-found' }) })
}

/** Reports a reference to a version if the entry does not state its version. */
function checkVersion({ run }: BundleCheck, entry: BundleEntry, { link, found }: { link: EntryLink; found: BundleEntry }): void {
  const { value } = found.resource
  const version = isObject(value) ? objectAt(value, 'meta')?.['versionId'] : undefined
  if (!link.target.includes('/_history/') || version !== undefined) return
  const { node } = nodeAlong(run, entry.resource, link.path)
  run.findings.report(BUNDLE_REFERENCE_OPEN, node, {
    text: `The entry that ${quoted(link.target)} leads to has no meta.versionId, so it may be another version.`,
  })
}

/** A relative reference is resolved against the entry's fullUrl, so that must exist, and the reference must consist of type and id. */
function formFault({ run, type }: BundleCheck, { fullUrl }: BundleEntry, target: string): Pick<Finding, 'text' | 'code'> | undefined {
  if (ABSOLUTE.test(target) || target.startsWith('#')) return undefined
  const isSearch = target.includes('?')
  if (fullUrl === undefined && !MAY_LACK_FULL_URL.has(type) && type !== 'history' && !isSearch)
    return { text: `${quoted(target)} is a relative reference, but its entry has no fullUrl to resolve it against.`, code: 'required' }
  const searched = IS_EXECUTED.has(type) ? SEARCH.exec(target)?.[1] : undefined
  if (fullUrl === undefined || RELATIVE.test(target) || run.model.type(searched ?? '')?.kind === 'resource') return undefined
  const orSearch = IS_EXECUTED.has(type) ? ', or of a type and search parameters' : ''
  return {
    text: `${quoted(target)} must consist of a type and an id${orSearch}, as it is relative to the fullUrl of its entry.`,
    code: 'invalid',
  }
}

const RELATIVE = /^[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?(?:#|$)/
const SEARCH = /^([A-Z][A-Za-z]{1,63})\?/
/** Begins with a scheme. A colon elsewhere may be in the query of a search. */
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]{0,63}:/
/** In these Bundles, which are executed, a reference may be conditional: the server searches for its target. */
const IS_EXECUTED: ReadonlySet<string> = new Set(['transaction', 'batch'])

/** Checks the form of relative references and reports those that may be meant for an entry. For Bundles in which references need not lead to entries. */
export function checkReferenceForms(check: BundleCheck): void {
  for (const entry of check.index.entries) {
    for (const { target, path, isReference } of check.linksOf(entry)) {
      if (!isReference || target.startsWith('#')) continue
      const { node } = nodeAlong(check.run, entry.resource, path)
      const fault = entry.fullUrl === undefined ? undefined : formFault(check, entry, target)
      if (fault !== undefined) check.run.findings.report(BUNDLE_REFERENCE_MISSING, node, fault)
      else if (targetsOf(entry, target, check.index).length === 0) reportOpen(check, node, target)
    }
  }
}

/** Reports a reference that leads to no entry, if it cannot lead elsewhere or an entry has its type and id. */
function reportOpen(check: BundleCheck, node: FhirNode, target: string): void {
  if (entriesFor(check.run, node, target).length > 0) return
  const text = warningOn(check, target)
  if (text !== undefined) check.run.findings.report(BUNDLE_REFERENCE_OPEN, node, { text })
}

/** If the entry's fullUrl is a UUID, a relative reference means the entry whose URN has the same id; this must be of the same type. */
function otherTypeOf({ index }: BundleCheck, { fullUrl }: BundleEntry, target: string): string | undefined {
  const address = addressOf(target)
  if (address === undefined || target.includes(':') || fullUrl?.startsWith('urn:uuid:') !== true) return undefined
  const [type = '', id = ''] = address.split('/')
  const [entry] = index.byFullUrl.get(`urn:uuid:${id}`) ?? []
  if (entry === undefined || entry.resource.type.name === type) return undefined
  return `${quoted(target)} means the entry 'urn:uuid:${id}', which is a ${entry.resource.type.name}.`
}

function warningOn(check: BundleCheck, target: string): string | undefined {
  if (target.startsWith('urn:')) return `Can't find ${quoted(target)} in the bundle, and URNs cannot be resolved elsewhere.`
  const address = mistaken(check, target)
  return address && `There is an entry with ${address}, but ${quoted(target)} does not resolve to it, because its fullUrl is different.`
}

function hint(check: BundleCheck, target: string): string {
  return mistaken(check, target) === undefined ? '' : `; an entry has this type and id, but another fullUrl`
}

/** The type and id of an entry that a relative reference may be meant for, although it leads elsewhere. An absolute one says where it leads. */
function mistaken({ index }: BundleCheck, target: string): string | undefined {
  const address = ABSOLUTE.test(target) ? undefined : addressOf(target)
  return address !== undefined && index.byAddress.has(address) ? address : undefined
}
